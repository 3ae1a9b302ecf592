/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TAG_H
#define EBPF_TAG_H

#include "subject_kind.h"
#include "util/message.h"

#include <stdbool.h>
#include <stdint.h>

#define TAG_TEXT_MAX 128 /* collectd's DATA_MAX_NAME_LEN */

/* A parsed METRIC tag; collectd-ebpf-objects(7) has the grammar. */
struct tag {
	char type[TAG_TEXT_MAX];
	char instance[TAG_TEXT_MAX]; /* empty: none */
	char source[TAG_TEXT_MAX];   /* empty: none */
	bool rate;
	bool frequency;
	bool rank;
	bool highest; /* of the rows of a subject the highest value counts, not the sum */
	bool least; /* a bucket of the histogram stands for its least value, else for its middle */
	uint64_t numerator, denominator; /* of scale */
	uint64_t active_growth; /* growth per second from which on a service is active; 0: never */
	char per[TAG_TEXT_MAX]; /* member that this one is divided by; empty: none */
	bool divides_values;    /* the values are divided, else their growth */
	char where[TAG_TEXT_MAX]; /* member; 0: this one is not dispatched; empty: none */
	char tail[TAG_TEXT_MAX];  /* member that a percentile is written into; empty: none */
};

/* Parses the text of a tag without its prefix "metric:". -EINVAL: the error names the wrong
 * word. */
int tag_parse(const char *text, struct tag *ret_tag, struct error *error);

/* A parsed SUBJECT tag. */
struct subject_tag {
	enum subject_kind kind;
	bool sharded;
	/* The map from the rows of subjects to slots, which are the rows of this map; empty: the
	 * rows of this map are those of the subjects. */
	char via[TAG_TEXT_MAX];
	char owners[TAG_TEXT_MAX]; /* map from slots to their owners' rows */
	bool cpu;                  /* with key: each CPU of a per-CPU map has rows of its own */
	char label[TAG_TEXT_MAX]; /* with key: the LABEL of a key that is an integer; empty: none */
	bool is_described;        /* from a Table block, for an object without our tags */
	uint32_t entries; /* from a Table block: the size that the map gets; 0: the object's */
};

/* Parses the text of a tag without its prefix "subject:". -EINVAL: the error names the wrong
 * word. */
int subject_parse(const char *text, struct subject_tag *ret_tag, struct error *error);

#endif
