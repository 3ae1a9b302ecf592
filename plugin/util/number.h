/* SPDX-License-Identifier: MIT */
#ifndef EBPF_NUMBER_H
#define EBPF_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBER_TEXT_MAX 24 /* a sign, 20 digits and a NUL */

/* A whole number of any integer type of up to 8 bytes. */
struct number {
	bool negative; /* never of 0 */
	uint64_t magnitude;
};

/* The number at the begin of text, decimal or with 0x; ret_end is behind it. */
bool number_parse(const char *text, struct number *ret_number, const char **ret_end);

/* The number that a double is; false: it is none, or one that a double may have rounded. */
bool number_of_double(double n, struct number *ret_number);

/* Less than 0, 0 or more, as a is less than, equal to or more than b. */
int number_compare(struct number a, struct number b);

/* The least and the greatest of an integer type of 1, 2, 4 or 8 bytes. */
struct number number_least(size_t size, bool is_signed);
struct number number_greatest(size_t size, bool is_signed);

/* In decimal; returns text. */
const char *number_text(struct number number, char text[NUMBER_TEXT_MAX]);

#endif
