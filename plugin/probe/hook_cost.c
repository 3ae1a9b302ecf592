/* SPDX-License-Identifier: MIT */
/*
 * What each kind of hook costs, for an estimate. The same program costs ten times as much at a
 * function of a user program as at a kernel tracepoint, and run statistics do not include the hook.
 *
 * The figures are of one machine. `make measure PARTS=hooks` measures them again, and says which are
 * off by more than 2 times. Machines differ less than kinds of hooks do. Of two programs at the
 * entry and the exit of system calls, each has half of what both add to a call. A link to many
 * functions (uprobe.multi) costs as much per run as a single one. That machine permits neither
 * kprobes nor fentry: theirs are by the instructions that they cost in an emulator, beside those of
 * a tracepoint.
 */
#include "hook_cost.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *section; /* a prefix; the first match counts */
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
