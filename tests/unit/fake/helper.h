/* SPDX-License-Identifier: MIT */
/*
 * Helper processes that a test plays itself: only this file sets members of struct file_helper.
 */
#ifndef FAKE_HELPER_H
#define FAKE_HELPER_H

#include "plugin/helper/file.h"

#include <sys/types.h>

/* The program that is asked for symbols; the caller owns the path. Returns the one before. */
static inline const char *set_symbol_helper(struct file_helper *files, const char *path)
{
	const char *before = files->symbols;

	files->symbols = path;
	return before;
}

/* The test is the helper at the other end of this socket, which file_helper_done() closes. */
static inline void set_helper_socket(struct file_helper *files, int fd)
{
	files->helper_fd = fd;
}

/* How long requests may wait in total. Returns what was left before. */
static inline uint64_t set_helper_patience(struct file_helper *files, uint64_t patience_ns)
{
	uint64_t before = files->patience_ns;

	files->patience_ns = patience_ns;
	return before;
}

/* Called while requests wait. */
static inline void set_helper_meanwhile(struct file_helper *files, bool (*meanwhile)(void *of),
					void *of)
{
	files->meanwhile = meanwhile;
	files->meanwhile_of = of;
}

/* This process is the one that starts helpers. */
static inline void set_helper_starter(struct file_helper *files, pid_t pid, int fd)
{
	files->starter = pid;
	files->starter_fd = fd;
}

#endif
