/* SPDX-License-Identifier: MIT */
#ifndef EBPF_QUOTA_H
#define EBPF_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUOTA_USERS_MAX 256

/* In which pass of a run the processes of a user are inspected. */
enum quota_pass {
	QUOTA_PASS_ROOT,
	QUOTA_PASS_PROMPT, /* users within their quota */
	QUOTA_PASS_SLOW,   /* users that exceeded it lately */
	QUOTA_PASSES,
};

/* Users whose command lines or containers take long to inspect. */
struct quotas {
	struct slow_user {
		uint32_t uid;
		uint64_t run_ns;   /* start of its last run with a long one, 0: free entry */
		uint64_t spent_ns; /* on long inspections in that run */
		uint64_t slow_ns;  /* start of the last run in which the quota was used up */
	} users[QUOTA_USERS_MAX];
	uint64_t begin_ns;               /* start of this run */
	uint32_t next_pid[QUOTA_PASSES]; /* where each pass continues */
};

/* A run of the resolver starts; now_ns of CLOCK_BOOTTIME. */
void quotas_start(struct quotas *quotas, uint64_t now_ns);

/* The pass of a user's processes; constant from quotas_start() to the first quotas_spend(). */
enum quota_pass quotas_pass_of(const struct quotas *quotas, uint32_t uid);

/* The begin of an inspection by this thread. */
struct inspection_start {
	uint64_t begin_ns, begin_cpu_ns; /* CLOCK_BOOTTIME, CPU time of the thread */
};

struct inspection_start inspection_begin(void);

/* What it has cost until now: CPU time, which busy neighbours do not lengthen; of a long wait its duration. */
uint64_t inspection_cost(const struct inspection_start *inspection);

/* To inspect one process or container of the user has cost so much. */
void quotas_spend(struct quotas *quotas, uint32_t uid, uint64_t cost_ns);

/* Has the user used up its quota of this run? */
bool quotas_are_used_up(const struct quotas *quotas, uint32_t uid);

#endif
