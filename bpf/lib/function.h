/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What the engine passes to the probe functions for each Function block, and how an argument is
 * encoded in a label. Included by both sides.
 */
#ifndef FUNCTION_H
#define FUNCTION_H

#include <linux/types.h>

#define FUNCTIONS_MAX 256
#define FUNCTION_SERVICES_MAX 512   /* Service blocks */
#define FUNCTION_COPIES 16          /* copies of the programs for fentry and fexit */
#define ARGUMENT_LOCATIONS_MAX 1024 /* locations whose argument is not where the function's is */
#define FUNCTION_RUNS_MAX (2 * FUNCTIONS_MAX)

/* A cookie: bits 0 to 31 are the number of the function, bits 32 to 47 the index of its argument's
 * location (0: that of the function), then flags. */
#define ARGUMENT_LOCATION_SHIFT 32
#define ARGUMENT_LOCATION_MASK 0xffff
#define FUNCTION_CALLS_ONLY (1ULL << 63) /* the return is not probed */
#define FUNCTION_OF_GO (1ULL << 62)      /* its stack moves, and it migrates between threads */

enum function_flag {
	FUNCTION_EVERY_SERVICE = 1,
	FUNCTION_LATENCY = 2,
	FUNCTION_ERRORS = 4,
	FUNCTION_SUM = 8, /* use of the argument: one of these three */
	FUNCTION_HISTOGRAM = 16,
	FUNCTION_LABEL = 32,
	FUNCTION_RETURNED = 64, /* the argument is the return value */
	FUNCTION_LIMITED = 128, /* its runs are counted */
	FUNCTION_REPLACED =
		256, /* uretprobe or kretprobe: the kernel replaces the return address */
};

enum function_comparison {
	FUNCTION_LESS,
	FUNCTION_LESS_OR_EQUAL,
	FUNCTION_GREATER,
	FUNCTION_GREATER_OR_EQUAL,
	FUNCTION_EQUAL,
	FUNCTION_NOT_EQUAL,
};

/* An integer type, or, for arguments, the address of a string. */
struct function_type {
	__u8 size; /* 1, 2, 4 or 8 bytes */
	__u8 is_signed;
	__u8 is_string;
	__u8 is_kernel; /* the string is in kernel memory */
};

enum function_source {
	FUNCTION_UNKNOWN, /* the argument is unavailable here */
	FUNCTION_REGISTER,
	FUNCTION_MEMORY, /* at the address in the register plus `value` */
	FUNCTION_CONSTANT,
};

/* Where an argument is. */
struct function_argument {
	__u32 source;
	__u32 offset; /* of the register, in the context of the program */
	__s64 value;  /* the constant, or what is added to the address */
	struct function_type type;
	__u32 pad;
};

#define FUNCTION_ROWS 2048         /* for all functions and services, without values of arguments */
#define FUNCTION_LATENCIES 256     /* likewise */
#define FUNCTION_LATENCY_DIVISOR 4 /* one in so many values gets a histogram */

/* A Function block: an entry of the map `functions`. */
struct function_block {
	__u64 services[FUNCTION_SERVICES_MAX / 64]; /* bit set, by Service block */
	__s64 error_value; /* compared with return values, of type error_type */
	__u64 since_ns; /* its latest attachment, 0: that of the probe; calls begun earlier have no latency */
	__u32 flags;
	__u32 comparison;
	struct function_type error_type;
	__u32 values_max; /* values of a label argument with rows of their own, for all services together */
	struct function_argument argument;
};

/* An argument as a label. Byte 0 says that there is none, that it is a number (64 bits, in bytes 8
 * to 15), or that it found no room or could not be read; any other value is the first byte of a
 * string. */
#define ARGUMENT_SIZE 32
#define ARGUMENT_NUMBER_AT 8

enum argument_form {
	ARGUMENT_NONE,
	ARGUMENT_UNSIGNED,
	ARGUMENT_SIGNED,
	ARGUMENT_OTHER,
	ARGUMENT_STRING, /* this and larger values: the first byte of a string */
};

#endif
