/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TURN_H
#define EBPF_TURN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TURN_USERS_MAX 256

/* When a user's processes are looked at in a reading. */
enum turn {
	TURN_ROOT,
	TURN_PROMPT, /* of users that have kept within their share */
	TURN_SLOW,   /* of those that have not, lately */
	TURN_COUNT,
};

/* Users whose command lines take long to read or to match. */
struct turns {
	struct slow_user {
		uint32_t uid;
		uint64_t reading_ns; /* when the reading of its last long look began, 0: unused */
		uint64_t spent_ns;   /* in long looks of that reading */
		uint64_t slow_ns;    /* when a reading began in which the share was used up */
	} users[TURN_USERS_MAX];
	uint64_t begin_ns;             /* of this reading */
	uint32_t next_pid[TURN_COUNT]; /* where each goes on */
};

/* A reading begins; now_ns of CLOCK_BOOTTIME. */
void turns_begin(struct turns *turns, uint64_t now_ns);

/* When a user's processes are looked at; constant from turns_begin() to the first turns_spend(). */
enum turn turns_of(const struct turns *turns, uint32_t uid);

/* A look at one of a user's processes has cost so much. */
void turns_spend(struct turns *turns, uint32_t uid, uint64_t cost_ns);

/* Has the user used up its share of this reading? */
bool turns_over(const struct turns *turns, uint32_t uid);

#endif
