/* SPDX-License-Identifier: MIT */
#ifndef EBPF_BUCKETS_H
#define EBPF_BUCKETS_H

#include "config/string_list.h"
#include "util/message.h"

#include <stdint.h>

#define BUCKETS_MAX 512
#define BUCKETS_NONE UINT32_MAX

/* The buckets of a histogram that an object without our tags fills. With BUCKETS_FIXED, numbers and
 * bounds are the same. The object counts by the number of a bucket. A bucket has the values above
 * the bound of the previous one, up to and including its own bound; the last one also has
 * everything larger. */
struct buckets {
	enum { BUCKETS_EXP2, BUCKETS_EXP2ZERO, BUCKETS_LINEAR, BUCKETS_FIXED } kind;
	uint64_t first;  /* number of the first bucket */
	uint64_t *bound; /* with BUCKETS_FIXED: the bounds, ascending; else NULL */
	uint32_t count;
};

/* Parses the words of a Histogram line. -EINVAL: the error says what is wrong; -ENOMEM. */
int buckets_parse(const struct strings *words, struct buckets *ret_buckets, struct error *error);

/* The index of the bucket with this number. `count`: it is the number behind the last bucket, which
 * has the sum of all values. BUCKETS_NONE: it is the number of nothing. */
uint32_t buckets_find(const struct buckets *buckets, uint64_t number);

/* The bounds of bucket i; the lower one of the first is 0. */
double buckets_lower(const struct buckets *buckets, uint32_t i);
double buckets_upper(const struct buckets *buckets, uint32_t i);

void buckets_done(struct buckets *buckets);

#endif
