/* SPDX-License-Identifier: MIT */
/*
 * The lines of collectd's own types.db (5.12) of those types that the plugin and its probes use: what a
 * type is where the configuration replaces that file, and what its user has to add.
 */
#include "stock_type.h"

#include "type_line.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const lines[] = {
	"bucket value:GAUGE:0:U",
	"bytes value:GAUGE:0:U",
	"cache_eviction value:DERIVE:0:U",
	"cache_operation value:DERIVE:0:U",
	"cache_ratio value:GAUGE:0:100",
	"cache_result value:DERIVE:0:U",
	"contextswitch value:DERIVE:0:U",
	"count value:GAUGE:0:U",
	"cpufreq value:GAUGE:0:U",
	"current_connections value:GAUGE:0:U",
	"delay_rate value:GAUGE:0:U",
	"derive value:DERIVE:0:U",
	"disk_io_time io_time:DERIVE:0:U, weighted_io_time:DERIVE:0:U",
	"disk_merged read:DERIVE:0:U, write:DERIVE:0:U",
	"disk_octets read:DERIVE:0:U, write:DERIVE:0:U",
	"disk_ops read:DERIVE:0:U, write:DERIVE:0:U",
	"duration seconds:GAUGE:0:U",
	"errors value:DERIVE:0:U",
	"fork_rate value:DERIVE:0:U",
	"gauge value:GAUGE:U:U",
	"if_octets rx:DERIVE:0:U, tx:DERIVE:0:U",
	"io_octets rx:DERIVE:0:U, tx:DERIVE:0:U",
	"io_ops read:DERIVE:0:U, write:DERIVE:0:U",
	"irq value:DERIVE:0:U",
	"latency value:GAUGE:0:U",
	"memory value:GAUGE:0:281474976710656",
	"objects value:GAUGE:0:U",
	"operations_per_second value:GAUGE:0:U",
	"pending_operations value:GAUGE:0:U",
	"percent value:GAUGE:0:100.1",
	"protocol_counter value:DERIVE:0:U",
	"ps_count processes:GAUGE:0:1000000, threads:GAUGE:0:1000000",
	"ps_cputime user:DERIVE:0:U, syst:DERIVE:0:U",
	"ps_pagefaults minflt:DERIVE:0:U, majflt:DERIVE:0:U",
	"ps_rss value:GAUGE:0:9223372036854775807",
	"ps_vm value:GAUGE:0:9223372036854775807",
	"swap value:GAUGE:0:1099511627776",
	"tcp_connections value:GAUGE:0:4294967295",
	"total_bytes value:DERIVE:0:U",
	"total_connections value:DERIVE:0:U",
	"total_events value:DERIVE:0:U",
	"total_operations value:DERIVE:0:U",
	"total_requests value:DERIVE:0:U",
	"total_time_in_ms value:DERIVE:0:U",
	"vmpage_action value:DERIVE:0:U",
};

const char *stock_type_line(const char *type)
{
	size_t length = strlen(type);

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (!strncmp(lines[i], type, length) && lines[i][length] == ' ')
			return lines[i];
	return NULL;
}

int stock_type_lookup(const char *type, struct metric_type *ret_type)
{
	const char *line = stock_type_line(type);
	char copy[256];

	if (!line)
		return -ENOENT;
	snprintf(copy, sizeof(copy), "%s", line);
	return type_line_parse(copy, type, ret_type);
}

/* Where a type has a single data source, its name does not matter. */
static bool has_source(const struct metric_type *type, const struct metric_type *stock, size_t i)
{
	for (size_t j = 0; j < type->source_count; j++)
		if (type->source_count == 1 || !strcmp(type->source[j].name, stock->source[i].name))
			return type->source[j].kind == stock->source[i].kind;
	return false;
}

bool stock_type_fits(const struct metric_type *stock, const struct metric_type *type)
{
	bool fits = type->source_count == stock->source_count;

	for (size_t i = 0; i < stock->source_count && fits; i++)
		fits = has_source(type, stock, i);
	return fits;
}
