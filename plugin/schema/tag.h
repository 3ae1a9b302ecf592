/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TAG_H
#define EBPF_TAG_H

#include "subject_kind.h"
#include "util/message.h"

#include <stdbool.h>
#include <stdint.h>

#define TAG_TEXT_MAX 128 /* collectd's DATA_MAX_NAME_LEN */

/* A METRIC tag, taken apart; see bpf/lib/metric.bpf.h for the grammar. */
struct tag {
	char type[TAG_TEXT_MAX];
	char instance[TAG_TEXT_MAX]; /* empty: none */
	char source[TAG_TEXT_MAX];   /* empty: none */
	bool rate;
	bool frequency;
	bool rank;
	uint64_t numerator, denominator; /* of scale */
	uint64_t notable;                /* growth per second, 0: never */
	char per[TAG_TEXT_MAX];          /* the member that it is divided by; empty: none */
	bool over;                       /* both as they stand; else their growth */
	char where[TAG_TEXT_MAX]; /* the member that is 0 where this one is not told; empty: none */
	char tail[TAG_TEXT_MAX];  /* the member that a percentile is written into; empty: none */
};

/* text without the prefix "metric:". -EINVAL: the error names the word that is wrong. */
int tag_parse(const char *text, struct tag *ret_tag, struct error *error);

/* A SUBJECT tag, taken apart. */
struct subject_tag {
	enum subject_kind kind;
	bool sharded;
	char via[TAG_TEXT_MAX]; /* map of slots by row of the subject, empty: slots are these rows */
	char owners[TAG_TEXT_MAX]; /* map of these rows by slot */
	bool cpu;                  /* with key: each CPU of a per-CPU map has rows of its own */
	char label[TAG_TEXT_MAX]; /* with key: the LABEL of a key that is an integer; empty: none */
	bool is_described; /* by a Table block: the map is an object's that knows nothing of us */
	uint32_t entries;  /* likewise, that the map is to have, 0: as its object says */
};

/* text without the prefix "subject:". -EINVAL: the error names the word that is wrong. */
int subject_parse(const char *text, struct subject_tag *ret_tag, struct error *error);

#endif
