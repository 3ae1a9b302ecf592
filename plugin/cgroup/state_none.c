/* SPDX-License-Identifier: MIT */
/*
 * Replaces state.c in builds without jansson.
 */
#include "state.h"

bool state_is_readable(void)
{
	return false;
}

void state_each(enum state_format format, const char *bytes, size_t size, state_visitor *visit,
		void *of)
{
	(void)format;
	(void)bytes;
	(void)size;
	(void)visit;
	(void)of;
}

void state_parse_sandbox(enum state_format format, const char *bytes, size_t size,
			 struct container *container)
{
	(void)format;
	(void)bytes;
	(void)size;
	(void)container;
}
