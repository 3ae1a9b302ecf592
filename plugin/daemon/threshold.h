/* SPDX-License-Identifier: MIT */
#ifndef EBPF_THRESHOLD_H
#define EBPF_THRESHOLD_H

#include <stdbool.h>

struct notification_s;

/* Does it say that a value of this plugin on this host is beyond a threshold, or is no longer? false: it is about something
 * else, or comes from the network, a socket or a program. */
bool threshold_has_sent(const struct notification_s *notification);

#endif
