/* SPDX-License-Identifier: MIT */
#ifndef EBPF_THRESHOLD_H
#define EBPF_THRESHOLD_H

#include <stdbool.h>

struct cache_event_s;
struct notification_s;
struct user_data_s;

/* Does it say that a value of this plugin on this host is beyond a threshold, or is no longer? false: it is about something
 * else, or comes from the network, a socket or a program. */
bool threshold_has_sent(const struct notification_s *notification);

/* Keeps whether threshold's last notification of a series was an alarm. */
void threshold_remember(const struct notification_s *notification);

/* A plugin_cache_event_cb: a new series of this plugin begins as okay. */
int threshold_begin(struct cache_event_s *event, struct user_data_s *data);

#endif
