/* SPDX-License-Identifier: MIT */
#ifndef EBPF_UPROBE_MULTI_H
#define EBPF_UPROBE_MULTI_H

#include "helper/answer.h"
#include "helper/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UPROBE_MULTI_ATTACH_TYPE 48 /* BPF_TRACE_UPROBE_MULTI, since Linux 6.6 */
#define UPROBE_MULTI_MAX 65536      /* places */

/* Many places of one file, and the program to be attached to them, which is loaded for that. */
struct uprobe_multi {
	int program, file;
	uint64_t whose; /* number of the file, see struct file_request */
	bool at_return;
	const uint64_t *offsets, *semaphores, *cookies; /* `count` of each; semaphores of 0: none */
	size_t count;
};

/* A link of all of them, in all processes, which the caller closes: made by the worker, as the kernel
 * reads the file. 0; what the kernel says; -ETIMEDOUT, -EPIPE or -EBUSY of the worker. */
int uprobe_multi_link(struct file_reader *reader, const struct uprobe_multi *multi, int *ret_fd);

/* What uprobe_multi_link has returned, in words. */
const char *uprobe_multi_strerror(int status);

/* Has the kernel such links for the program, which is loaded for them? */
bool uprobe_multi_is_known(int program);

/* The worker's part, after such a question. false: the daemon has gone. */
bool uprobe_multi_answer(int socket, const struct question *question);

#endif
