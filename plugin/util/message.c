/* SPDX-License-Identifier: MIT */
/*
 * Errors are passed up as one line of text. Only the callers at the top, which know what happens
 * next, log them.
 */
#include "message.h"

#include <stdio.h>

static message_sink *sink_now;

int error_set(struct error *error, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return code;
}

void message_to(message_sink *sink)
{
	sink_now = sink;
}

void message(int severity, const char *format, ...)
{
	char text[2048];
	va_list args;

	if (!sink_now)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	sink_now(severity, text);
}
