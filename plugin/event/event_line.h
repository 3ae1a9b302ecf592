/* SPDX-License-Identifier: MIT */
#ifndef EBPF_EVENT_LINE_H
#define EBPF_EVENT_LINE_H

#include "util/health.h"

#include <stddef.h>
#include <stdint.h>

#define EVENT_LINE_NAME_MAX 128 /* collectd's DATA_MAX_NAME_LEN */
#define EVENT_LINE_TEXT_MAX 256 /* collectd's NOTIF_MAX_MSG_LEN */
#define EVENT_LINE_MAX 2048     /* any struct event_line fits, as a line with its NUL */

/* What happened, as a line of the event file has it. The strings may be of any bytes. */
struct event_line {
	uint64_t time_ms; /* since 1970 */
	char host[EVENT_LINE_NAME_MAX];
	char service[EVENT_LINE_NAME_MAX]; /* the plugin instance that it is about */
	char kind[EVENT_LINE_NAME_MAX];
	char series[2 * EVENT_LINE_NAME_MAX]; /* TYPE[-INSTANCE] that it is about, or empty */
	enum health health;
	char text[EVENT_LINE_TEXT_MAX];
};

/* Writes it as an object of JSON, in UTF-8, on a line of its own. Returns the length without the NUL. */
size_t event_line_write(const struct event_line *line, char to[EVENT_LINE_MAX]);

#endif
