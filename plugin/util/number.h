/* SPDX-License-Identifier: MIT */
#ifndef EBPF_NUMBER_H
#define EBPF_NUMBER_H

/* Whole numbers, signed or not, of up to 8 bytes. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBER_TEXT_MAX 24 /* a sign, 20 digits and a NUL */

/* Covers every integer type of up to 8 bytes. */
struct number {
	bool negative; /* never of 0 */
	uint64_t magnitude;
};

/* Parses the number at the start of text, decimal or with 0x; ret_end is behind it. */
bool number_parse(const char *text, struct number *ret_number, const char **ret_end);

/* false: the double is not a whole number, or so large that it may have been rounded. */
bool number_of_double(double n, struct number *ret_number);

/* Negative, 0 or positive, as a is less than, equal to or greater than b. */
int number_compare(struct number a, struct number b);

/* The least and the greatest number of an integer type of 1, 2, 4 or 8 bytes. */
struct number number_least(size_t size, bool is_signed);
struct number number_greatest(size_t size, bool is_signed);

/* Writes the number in decimal. Returns text. */
const char *number_text(struct number number, char text[NUMBER_TEXT_MAX]);

#endif
