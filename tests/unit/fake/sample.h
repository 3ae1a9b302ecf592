/* SPDX-License-Identifier: MIT */
/*
 * The engine with one probe, "sample", in the real kernel: for tests of a probe, each of which is a
 * program of its own.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "tests/unit/testing.h"

#include "daemon.h"
#include "oconfig.h"
#include "tests/unit/may_load.h"

#include "plugin/daemon/publication.h"
#include "plugin/probe/open.h"
#include "plugin/probe/reading.h"
#include "plugin/util/clock.h"
#include "plugin/util/message.h"

#include <stdio.h>
#include <unistd.h>

static struct config config;
static struct file_helper files;
static struct services services;
static struct probe probe;
static struct publication publication;

static void read_config(const char *options)
{
	oconfig_item_t *block;
	char objects[4096], text[16384];

	snprintf(objects, sizeof(objects), "%s", testing_built("bpf"));
	snprintf(text, sizeof(text),
		 "ObjectDirectory \"%s\"\n"
		 "Buckets true\n"
		 "ServicesFrom \"none\"\n"
		 "<Service \"renamed\">\n"
		 "  Process \"sample_a\"\n"
		 "  Process \"sample_b\"\n"
		 "  PerProcess true\n"
		 "</Service>\n"
		 "<Probe \"sample\">\n"
		 "  Object \"%s\"\n"
		 "%s"
		 "</Probe>\n",
		 objects, testing_built("tests/bpf/sample.bpf.o"), options);
	block = oconfig_read(text);
	daemon_clear();
	config_init(&config);
	CHECK_UINT(config_read(&config, block), 0);
	oconfig_free(block);
}

static int open_probe(const char *path, struct error *error)
{
	daemon_clear();
	publication_init(&publication);
	return probe_open(&probe, "sample", path, 10, config_probe(&config, "sample"), &services,
			  dispatch_type, error);
}

static void read_probe_after(double seconds)
{
	struct error error = { "" };

	daemon_clear();
	daemon_now += DOUBLE_TO_CDTIME_T(seconds);
	services_refresh(&services, clock_ns()); /* a refresh without time in between */
	CHECK_INT(probe_read(&probe, &publication.output, &error), 0);
	CHECK_TEXT(error.text, "");
	CHECK_UINT(daemon_refused(), 0);
}

static void read_probe(void)
{
	read_probe_after(10);
}

/* Opens the services; returns 0, or the status to exit with. */
static int sample_begin(void)
{
	struct error error = { "" };
	int status;

	message_to(daemon_record);
	if (!may_load())
		return TESTING_SKIPPED;
	read_config("  Option \"optional\"\n");
	file_helper_init(&files);
	status = services_open(&services, &config, 10, &files, &files, &error);
	CASE("services");
	CHECK_INT(status, 0);
	CHECK_TEXT(error.text, "");
	return status ? testing_end() : 0;
}

#endif
