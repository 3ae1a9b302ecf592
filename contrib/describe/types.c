/* SPDX-License-Identifier: MIT */
/*
 * Reads collectd's types.db without a collectd.
 */
#include "types.h"

#include "plugin/schema/type_line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *file;

int types_open(const char *path)
{
	file = fopen(path, "re");
	return file ? 0 : -errno;
}

int types_lookup(const char *type, struct metric_type *ret_type)
{
	char *line = NULL;
	size_t size = 0;
	int status = 1;

	rewind(file);
	while (status > 0 && getline(&line, &size, file) >= 0)
		status = type_line_parse(line, type, ret_type);
	free(line);
	return status > 0 ? -ENOENT : status;
}
