/* SPDX-License-Identifier: MIT */
#ifndef SCRATCH_DIRECTORY_H
#define SCRATCH_DIRECTORY_H

#include "testing.h"

#include <fcntl.h>
#include <sys/stat.h>

/* A temporary directory of the test, which scratch_end() removes. */
static char scratch[256];

static inline void scratch_begin(void)
{
	const char *above = getenv("TMPDIR");

	snprintf(scratch, sizeof(scratch), "%.200s/ebpf-test.XXXXXX", above ? above : "/tmp");
	if (!mkdtemp(scratch))
		abort();
}

/* The path of a file in it; valid until four calls later. */
static inline const char *scratch_path(const char *name)
{
	static char paths[4][512];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", scratch, name);
	return path;
}

static inline void scratch_write(const char *name, const char *text)
{
	FILE *file = fopen(scratch_path(name), "w");

	if (!file || fputs(text, file) < 0 || fclose(file))
		abort();
}

/* The content of a file, "(none)" if it does not exist; the caller frees it. */
static inline char *scratch_read(const char *name)
{
	FILE *file = fopen(scratch_path(name), "r");
	char *text = calloc(1, 16 << 20);

	if (!text)
		abort();
	if (!file)
		return strcpy(text, "(none)");
	if (fread(text, 1, (16 << 20) - 1, file) == 0)
		text[0] = '\0';
	fclose(file);
	return text;
}

static inline void scratch_end(void)
{
	char command[512];

	snprintf(command, sizeof(command), "rm -rf '%s'", scratch);
	if (system(command))
		abort();
}

#endif
