/* SPDX-License-Identifier: MIT */
#ifndef EBPF_HOOK_COST_H
#define EBPF_HOOK_COST_H

/* ns of a run: the assumed time of a program of which no statistics are known, and what the
 * kernel's run statistics say of an empty program, which hook_cost_ns() includes. */
#define HOOK_BODY_NS 150
#define HOOK_STATISTICS_NS 46
/* In addition, where the kernel single-steps the instruction under a uprobe. */
#define HOOK_SINGLE_STEP_NS 9700

/* ns of a run of an empty program with this section, trap included. 0: an iterator, which no event
 * runs. */
unsigned hook_cost_ns(const char *section);

#endif
