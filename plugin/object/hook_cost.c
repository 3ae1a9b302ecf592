/* SPDX-License-Identifier: MIT */
/*
 * What each kind of hook costs, for an estimate: the same program costs ten times as much at a function
 * of a program as at one of the kernel's tracepoints. Run statistics leave that out.
 *
 * The figures are those of `make bench`, of one machine; others differ less from them than kinds
 * from each other. Of a pair of programs at the begin and the end of system calls each has half of what
 * the two add to a call. Where the machine permits no kprobe or fentry, those figures are not
 * measured but taken to be those of a tracepoint and half of it.
 */
#include "hook_cost.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *section; /* begins so; the first that fits counts */
	unsigned ns;
} COSTS[] = {
	{ "iter", 0 },
	{ "tp_btf/sys_", 70 },
	{ "raw_tp/sys_", 70 },
	{ "raw_tracepoint/sys_", 70 },
	{ "tracepoint/syscalls/", 115 },
	{ "tracepoint/raw_syscalls/", 115 },
	{ "tp/syscalls/", 115 },
	{ "tp/raw_syscalls/", 115 },
	{ "tp_btf/", 90 },
	{ "raw_tp/", 90 },
	{ "raw_tracepoint/", 90 },
	{ "tp", 165 },
	{ "tracepoint", 165 },
	{ "fentry", 85 },
	{ "fexit", 85 },
	{ "kprobe", 165 },
	{ "kretprobe", 330 },
	{ "uprobe", 450 },
	{ "uretprobe", 760 },
	{ "usdt", 640 },
	{ "perf_event", 1000 },
	{ "", 100 },
};

unsigned hook_cost_ns(const char *section)
{
	size_t i = 0;

	while (strncmp(section, COSTS[i].section, strlen(COSTS[i].section)) != 0)
		i++;
	return COSTS[i].ns;
}
