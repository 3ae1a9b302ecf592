/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CONFIG_RESPONSE_H
#define EBPF_CONFIG_RESPONSE_H

#include "bpf/lib/response.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads the class of a response and what such begin with, as Response of a Service block has them.
 * Otherwise `why` says what is wrong. */
bool response_read(const char *class_name, const char *text, struct response_rule *ret_rule,
		   char *why, size_t size);

/* Does a rule fit all that one fits which comes later? */
bool response_covers(const struct response_rule *rule, const struct response_rule *later);

/* Has collectd perhaps taken away the backslash of \xHH? */
bool response_has_lost_backslash(const char *text);

#endif
