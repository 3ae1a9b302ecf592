/* SPDX-License-Identifier: MIT */
/*
 * What each kind of hook costs, for an estimate: the same program costs ten times as much at a function
 * of a program as at one of the kernel's tracepoints. Run statistics leave that out.
 *
 * The figures are what `make bench` says of kinds of hooks, on one machine; others differ less from them
 * than kinds from each other. Of a pair of programs at the begin and the end of system calls
 * each has half of what the two add to a call. Links of many functions (uprobe.multi) cost what
 * single ones do. That machine permits neither kprobes nor fentry: these are taken to cost what a
 * tracepoint does, and half of it.
 */
#include "hook_cost.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *section; /* begins so; the first that fits counts */
	unsigned ns;
} COSTS[] = {
	{ "iter", 0 },
	{ "syscall", 0 },
	{ "tp_btf/sys_", 70 },
	{ "raw_tp/sys_", 70 },
	{ "raw_tracepoint/sys_", 70 },
	{ "tracepoint/syscalls/", 130 },
	{ "tracepoint/raw_syscalls/", 130 },
	{ "tp/syscalls/", 130 },
	{ "tp/raw_syscalls/", 130 },
	{ "tp_btf/", 90 },
	{ "raw_tp/", 90 },
	{ "raw_tracepoint/", 90 },
	{ "tp", 125 },
	{ "tracepoint", 125 },
	{ "fentry", 60 },
	{ "fexit", 60 },
	{ "kprobe", 125 },
	{ "kretprobe", 250 },
	{ "uprobe", 720 },
	{ "uretprobe", 1150 },
	{ "usdt", 650 },
	{ "perf_event", 13000 },
	{ "", 100 },
};

unsigned hook_cost_ns(const char *section)
{
	size_t i = 0;

	while (strncmp(section, COSTS[i].section, strlen(COSTS[i].section)) != 0)
		i++;
	return COSTS[i].ns;
}
