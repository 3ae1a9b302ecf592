/* SPDX-License-Identifier: MIT */
#ifndef EBPF_BUCKETS_H
#define EBPF_BUCKETS_H

#include "config/string_list.h"
#include "util/message.h"

#include <stdbool.h>
#include <stdint.h>

#define BUCKETS_MAX 512
#define BUCKETS_NONE UINT32_MAX

/* The buckets of a histogram that an object of others fills: each has a number, by which the object counts in
 * it, and holds what is above the bound of the one before it and up to its own. The last one holds
 * what is larger, too. */
struct buckets {
	enum { BUCKETS_EXP2, BUCKETS_EXP2ZERO, BUCKETS_LINEAR, BUCKETS_FIXED } kind;
	uint64_t first;  /* number of the first one */
	uint64_t *bound; /* of BUCKETS_FIXED, which are their numbers, ascending; else NULL */
	uint32_t count;
};

/* Reads the words of a Histogram line. -EINVAL: the error says what is wrong; -ENOMEM. */
int buckets_parse(const struct strings *words, struct buckets *ret_buckets, struct error *error);

/* Which one has this number; `count`: none, it is that behind the last one, which has the sum of all
 * values; BUCKETS_NONE: no other. */
uint32_t buckets_find(const struct buckets *buckets, uint64_t number);

double buckets_lower(const struct buckets *buckets, uint32_t i);
double buckets_upper(const struct buckets *buckets, uint32_t i);

void buckets_done(struct buckets *buckets);

#endif
