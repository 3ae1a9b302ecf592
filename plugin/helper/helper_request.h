/* SPDX-License-Identifier: MIT */
#ifndef EBPF_HELPER_REQUEST_H
#define EBPF_HELPER_REQUEST_H

/* What the daemon has a helper do, one function a request, see helper_message.h. Each returns 0, a
 * negative errno of the file or kernel, or of helper_ask(): -ETIMEDOUT: the file does not answer;
 * -EBUSY: too many files of this budget do not answer; -EPIPE: the helper has ended. */

#include "file_helper.h"
#include "helper_message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct file {
	char *bytes; /* the caller's, for free(); followed by a NUL */
	size_t size;
	uid_t owner;             /* FILE_OWNER_UNKNOWN: on FUSE, whose program names any owner */
	uint32_t mode;           /* as st_mode of stat(2) */
	struct file_stamp stamp; /* as of the open */
};

/* Receives the bytes of a file in their order; NULL: they begin again, as the helper was replaced. */
struct file_stream {
	void (*receive)(void *of, const char *bytes, size_t size);
	void *of;
};

/* Reads the regular file at the path, or the names in a directory; wait_ms: from open to the last
 * byte. With a stream (NULL: none) the bytes go there, and ret_file->bytes is NULL. In addition to
 * errors of open(2) and read(2): -EISDIR or -EINVAL: it is not regular; -ELOOP: it is a symbolic
 * link; -EALREADY: it has the stamp read->unless. */
int helper_read(struct file_helper *helper, const struct file_charge *charge, unsigned wait_ms,
		const char *path, const struct read_request *read, const struct file_stream *stream,
		struct file *ret_file);

/* Opens the path as process pid sees it (0: the daemon); path "": the program that it runs. The
 * caller closes *ret_fd. -EREMOTE: it is on FUSE; -ESRCH: there is no such process. */
int helper_open(struct file_helper *helper, const struct file_charge *charge, const char *path,
		pid_t pid, int *ret_fd, struct open_reply *ret_reply);

struct symbol_buffer {
	char *bytes;
	size_t size;
};

/* A run of ebpf-symbols. */
struct symbol_run {
	const char *program;               /* its path */
	int file;                          /* to examine */
	int debug;                         /* a separate file of symbols, or -1 */
	const struct symbol_buffer *input; /* sent to the program */
};

/* Runs ebpf-symbols, sends it the input, and receives its whole output, for free(), as far as it
 * has come. *ret_ended: how the program has ended. -EBADMSG: the output is too long; -ENOMEM. */
int helper_run_symbols(struct file_helper *helper, const struct file_charge *charge,
		       const struct symbol_run *run, struct symbol_buffer *ret_output,
		       struct run_reply *ret_ended);

/* Opens a perf event of a uprobe in the file; the caller closes *ret_fd. */
int helper_open_event(struct file_helper *helper, const struct file_charge *charge, int file,
		      const struct event_request *event, int *ret_fd);

/* Locations of one file and the loaded program to attach to them. */
struct uprobe_multi {
	int program, file;
	uint64_t owner; /* number of the file, see struct file_request */
	bool at_return;
	const uint64_t *offsets, *semaphores, *cookies; /* arrays of `count`; a semaphore of 0:
							 * none */
	size_t count;                                   /* 1 to UPROBE_MULTI_MAX */
};

/* Links the program to all locations, in all processes; the caller closes *ret_fd. */
int helper_link(struct file_helper *helper, const struct uprobe_multi *links, int *ret_fd);

#endif
