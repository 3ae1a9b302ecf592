/* SPDX-License-Identifier: MIT */
#ifndef EBPF_HOOK_COST_H
#define EBPF_HOOK_COST_H

/* Of what a run costs, in ns: a program that does something, where the kernel does not tell what, and
 * what the kernel's run statistics say of an empty one, which is in hook_cost_ns(). */
#define HOOK_BODY_NS 150
#define HOOK_STATISTICS_NS 46
/* What a place in a file costs beside, whose instruction the kernel has to single-step. */
#define HOOK_STEPPED_NS 9700

/* What it costs to run an empty program, trap included, in ns, by its section; 0: it is an
 * iterator, which no event runs. */
unsigned hook_cost_ns(const char *section);

#endif
