/* SPDX-License-Identifier: MIT */
#ifndef EBPF_THRESHOLD_H
#define EBPF_THRESHOLD_H

struct notification_s;

/* The plugin instance that a notification is about, if it says that a value of this plugin on this
 * host is beyond a threshold. NULL: it is about something else, or comes from the network, a socket
 * or a program. The string is the notification's. */
const char *threshold_subject(const struct notification_s *notification);

#endif
