/* SPDX-License-Identifier: MIT */
#ifndef EBPF_OPTION_H
#define EBPF_OPTION_H

#include <stdbool.h>
#include <stddef.h>

struct oconfig_item_s;

/* All values of an option, as they stand in the file, each string up to a quarter of size. */
void option_text(const struct oconfig_item_s *item, char *text, size_t size);

/* The one value of an option; NULL or false if there is not one, or if it is of
 * another type, empty or outside of low to high. */
const char *option_string(const struct oconfig_item_s *item);
bool option_number(const struct oconfig_item_s *item, double low, double high, double *ret_number);
bool option_whole(const struct oconfig_item_s *item, double low, double high, unsigned *ret_number);
bool option_boolean(const struct oconfig_item_s *item, bool *ret_value);

/* Likewise, the string at i of so many values. */
const char *option_string_at(const struct oconfig_item_s *item, int i, int count);

#endif
