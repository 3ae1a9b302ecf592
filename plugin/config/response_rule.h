/* SPDX-License-Identifier: MIT */
#ifndef EBPF_RESPONSE_RULE_H
#define EBPF_RESPONSE_RULE_H

#include "bpf/lib/requests/response.h"

#include <stdbool.h>
#include <stddef.h>

/* Parses the two values of a Response option: a class, and the prefix of its responses. false: `why` says what is
 * wrong. */
bool response_rule_parse(const char *class_name, const char *text, struct response_rule *ret_rule,
			 char *why, size_t size);

/* Does a rule fit everything that the later one fits? */
bool response_rule_covers(const struct response_rule *rule, const struct response_rule *later);

/* Has collectd probably removed the backslash of \xHH? */
bool response_rule_lost_backslash(const char *text);

#endif
