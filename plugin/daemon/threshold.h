/* SPDX-License-Identifier: MIT */
#ifndef EBPF_THRESHOLD_H
#define EBPF_THRESHOLD_H

struct notification_s;

/* Of a notification that says that a value of the plugin, on this host, is beyond a threshold: the plugin instance that it
 * is about. NULL: it is another one, or comes from the network, a socket or a program. */
const char *threshold_subject(const struct notification_s *notification);

#endif
