/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TURN_H
#define EBPF_TURN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TURN_USERS_MAX 256

/* In which pass of a reading the processes of a user are inspected. */
enum turn {
	TURN_ROOT,
	TURN_PROMPT, /* users within their quota */
	TURN_SLOW,   /* users that exceeded it lately */
	TURN_COUNT,
};

/* Users whose command lines take long to read or to match. */
struct turns {
	struct slow_user {
		uint32_t uid;
		uint64_t reading_ns; /* start of its last reading with a long one, 0: free entry */
		uint64_t spent_ns;   /* on long inspections in that reading */
		uint64_t slow_ns;    /* start of the last reading in which the quota was used up */
	} users[TURN_USERS_MAX];
	uint64_t begin_ns;             /* start of this reading */
	uint32_t next_pid[TURN_COUNT]; /* where each pass continues */
};

/* A reading starts; now_ns of CLOCK_BOOTTIME. */
void turns_begin(struct turns *turns, uint64_t now_ns);

/* The pass of a user's processes; constant from turns_begin() to the first turns_spend(). */
enum turn turns_of(const struct turns *turns, uint32_t uid);

/* To inspect one process of the user has cost so much. */
void turns_spend(struct turns *turns, uint32_t uid, uint64_t cost_ns);

/* Has the user used up its quota of this reading? */
bool turns_over(const struct turns *turns, uint32_t uid);

#endif
