/* SPDX-License-Identifier: MIT */
#ifndef EBPF_MESSAGE_H
#define EBPF_MESSAGE_H

#include <stdarg.h>
#include <syslog.h>

/* Why something failed, in one line that a person can act on. */
struct error {
	char text[1024];
};

/* Fills error and returns code, a negative errno. */
int error_set(struct error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Where messages go; severity as in syslog(3). NULL: nowhere. */
typedef void message_sink(int severity, const char *text);

void message_to(message_sink *sink);
void message(int severity, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
