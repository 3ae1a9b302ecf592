/* SPDX-License-Identifier: MIT */
#ifndef EBPF_OPTION_H
#define EBPF_OPTION_H

#include <stdbool.h>
#include <stddef.h>

struct oconfig_item_s;

/* All values of an option as the file has them, each string cut to a quarter of size. */
void option_text(const struct oconfig_item_s *item, char *text, size_t size);

/* The single value of an option; NULL or false: there is not exactly one, or it has another type, is empty, or is not
 * between low and high. */
const char *option_string(const struct oconfig_item_s *item);
bool option_number(const struct oconfig_item_s *item, double low, double high, double *ret_number);
bool option_whole(const struct oconfig_item_s *item, double low, double high, unsigned *ret_number);
bool option_boolean(const struct oconfig_item_s *item, bool *ret_value);

/* The string at i of exactly `count` values. */
const char *option_string_at(const struct oconfig_item_s *item, int i, int count);

#endif
