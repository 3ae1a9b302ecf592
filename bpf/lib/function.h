/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What the engine tells the probe functions of each Function block, and how an argument is a label.
 * Included by both sides.
 */
#ifndef FUNCTION_H
#define FUNCTION_H

#include <linux/types.h>

#define FUNCTIONS_MAX 256
#define FUNCTION_SERVICES_MAX 512 /* Service blocks */
#define FUNCTION_COPIES 16        /* of the programs for fentry and fexit */
#define FUNCTION_PLACES_MAX 1024  /* whose argument is where it is at no other */
#define FUNCTION_RUNS_MAX (2 * FUNCTIONS_MAX)

/* A cookie: the number of the function, above that the number of a place, 0: all are alike, and flags. */
#define FUNCTION_PLACE_SHIFT 32
#define FUNCTION_PLACE_MASK 0xffff
#define FUNCTION_CALLS_ONLY (1ULL << 63) /* nothing is attached where it returns */
#define FUNCTION_OF_GO (1ULL << 62)      /* its stack moves, and it changes threads */

enum function_flag {
	FUNCTION_EVERY_SERVICE = 1,
	FUNCTION_LATENCY = 2,
	FUNCTION_ERRORS = 4,
	FUNCTION_SUM = 8, /* what its argument is for: one of these three */
	FUNCTION_HISTOGRAM = 16,
	FUNCTION_LABEL = 32,
	FUNCTION_RETURNED = 64,  /* the argument is what it returns */
	FUNCTION_LIMITED = 128,  /* its runs are counted */
	FUNCTION_REPLACED = 256, /* the kernel replaces the address to which it returns */
};

enum function_comparison {
	FUNCTION_LESS,
	FUNCTION_LESS_OR_EQUAL,
	FUNCTION_GREATER,
	FUNCTION_GREATER_OR_EQUAL,
	FUNCTION_EQUAL,
	FUNCTION_NOT_EQUAL,
};

/* An integer type, or of arguments the address of a string. */
struct function_type {
	__u8 size; /* 1, 2, 4 or 8 bytes */
	__u8 is_signed;
	__u8 is_string;
	__u8 is_kernel; /* the string is in the kernel's memory */
};

enum function_source {
	FUNCTION_UNKNOWN, /* the argument is unavailable here */
	FUNCTION_REGISTER,
	FUNCTION_MEMORY, /* at the register's value and so many bytes */
	FUNCTION_CONSTANT,
};

/* Where an argument is. */
struct function_argument {
	__u32 source;
	__u32 offset; /* of a register, in the context of the program */
	__s64 value;  /* of a constant, or what is added to an address */
	struct function_type type;
	__u32 pad;
};

#define FUNCTION_ROWS 2048       /* of all functions and services, without values of arguments */
#define FUNCTION_LATENCIES 256   /* likewise */
#define FUNCTION_LATENCY_SHARE 4 /* one of so many values has room for a histogram */

/* A Function block: an entry of the map `functions`. */
struct function {
	__u64 services[FUNCTION_SERVICES_MAX / 64]; /* bits, by Service block */
	__s64 error_value;                          /* of its type, returns compare with it */
	__u64 since_ns; /* its latest attach, 0: with the probe; earlier calls have no latency */
	__u32 flags;
	__u32 comparison;
	struct function_type error_type;
	__u32 values_max; /* of its argument as a label, of all services, with rows of their own */
	struct function_argument argument;
};

/* An argument as a label. The first octet says that it is none, a number (64 bits, in the second
 * eight octets), or one that found no room or could not be read; else all are a string. */
#define ARGUMENT_SIZE 32
#define ARGUMENT_NUMBER_AT 8

enum argument_form {
	ARGUMENT_NONE,
	ARGUMENT_UNSIGNED,
	ARGUMENT_SIGNED,
	ARGUMENT_OTHER,
	ARGUMENT_STRING, /* and above */
};

#endif
