/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Classes of responses, as Response of a Service block names them. Included by the BPF side and by
 * the engine.
 */
#ifndef RESPONSE_H
#define RESPONSE_H

#include <linux/types.h>

#define RESPONSE_RULES_MAX 8   /* of a service */
#define RESPONSE_BYTES_MAX 16  /* bytes of a prefix */
#define RESPONSE_CLASS_SIZE 16 /* of the name of a class, with the NUL */
#define RESPONSE_WORDS (RESPONSE_BYTES_MAX / sizeof(__u64))

#define RESPONSE_UNKNOWN "unknown" /* class of a response whose first bytes could not be read */

/* A response belongs to the class if its first bytes equal these where bits of the mask are set.
 * The words are in memory order. */
struct response_rule {
	char class_name[RESPONSE_CLASS_SIZE];
	__u64 bytes[RESPONSE_WORDS];
	__u64 mask[RESPONSE_WORDS];
	__u32 length; /* of the prefix in bytes, those that match anything included */
	__u32 pad;
};

/* Of a service: the first rule that matches counts. */
struct response_rules {
	__u32 count; /* 0: its responses are not read */
	__u32 pad;
	struct response_rule rule[RESPONSE_RULES_MAX];
};

#endif
