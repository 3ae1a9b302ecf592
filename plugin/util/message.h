/* SPDX-License-Identifier: MIT */
#ifndef EBPF_MESSAGE_H
#define EBPF_MESSAGE_H

/* Errors and log messages. */

#include <stdarg.h>
#include <syslog.h>

/* Why something failed, in one line by which a person can act. */
struct error {
	char text[1024];
};

/* Fills error and returns code, a negative errno. */
int error_set(struct error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Receives messages; severity as in syslog(3). NULL: messages are dropped. */
typedef void message_sink(int severity, const char *text);

void message_to(message_sink *sink);
void message(int severity, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
