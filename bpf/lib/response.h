/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Classes of responses, as Response of a Service block names them. Included by the engine, too.
 */
#ifndef RESPONSE_H
#define RESPONSE_H

#include <linux/types.h>

#define RESPONSE_RULES_MAX 8   /* of a service */
#define RESPONSE_OCTETS_MAX 16 /* of a prefix */
#define RESPONSE_CLASS_SIZE 16 /* of the name of a class, with the NUL */
#define RESPONSE_WORDS (RESPONSE_OCTETS_MAX / sizeof(__u64))

#define RESPONSE_UNKNOWN "unknown" /* the class of a response whose begin could not be read */

/* What begins with these octets, where the bits of the mask are set, is of the class. Words are the
 * octets as they lie in memory. */
struct response_rule {
	char class_name[RESPONSE_CLASS_SIZE];
	__u64 octets[RESPONSE_WORDS];
	__u64 mask[RESPONSE_WORDS];
	__u32 length; /* octets, those that may be any too */
	__u32 pad;
};

/* Of a service: the first that fits counts. */
struct response_rules {
	__u32 count; /* 0: its responses are not looked at */
	__u32 pad;
	struct response_rule rule[RESPONSE_RULES_MAX];
};

#endif
