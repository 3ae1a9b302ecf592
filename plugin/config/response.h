/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CONFIG_RESPONSE_H
#define EBPF_CONFIG_RESPONSE_H

#include "bpf/lib/response.h"

#include <stdbool.h>
#include <stddef.h>

/* Parses the two values of a Response option: a class, and the prefix of its responses. false: `why` says what is
 * wrong. */
bool response_read(const char *class_name, const char *text, struct response_rule *ret_rule,
		   char *why, size_t size);

/* Does a rule fit everything that the later one fits? */
bool response_covers(const struct response_rule *rule, const struct response_rule *later);

/* Has collectd probably removed the backslash of \xHH? */
bool response_has_lost_backslash(const char *text);

#endif
