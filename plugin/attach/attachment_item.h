/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ATTACHMENT_H
#define EBPF_ATTACHMENT_H

#include "config/point.h"
#include "helper/file.h"
#include "helper/symbol.h"

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Who opens files, and who knows the processes of a service. */
struct file_finder {
	struct file_reader *files;
	/* The processes of a service (at most `size`), in no order; how many it has, or a negative
	 * errno, -ENOENT: there is no such service. */
	ssize_t (*processes)(void *of, const char *service, pid_t *ret_pids, size_t size);
	void *of;
};

enum attachment_state {
	ATTACHMENT_REFUSED,
	ATTACHMENT_FILE_REFUSED, /* until another file is there */
	ATTACHMENT_CALLS_ONLY,   /* the return of a pair cannot be attached */
	ATTACHMENT_DEFERRED,     /* attachments_check() tries it again */
	ATTACHMENT_WAITS,        /* for a process */
	ATTACHMENT_ATTACHED,
};

/* A program that is to be attached to a point. */
struct attachment {
	const struct point *point;
	struct point *own_hook; /* the same, for the attachments to free, or NULL */
	const struct bpf_program *program;
	const struct bpf_program *many; /* of POINT_KPROBE: its like for many at once, or NULL */
	char *what;                     /* for messages */
	bool at_return;
	/* Of a function of a file: the kernel replaces the address to which it returns; otherwise its
	 * instructions that return are what is attached to. */
	bool replaces;
	bool is_paired; /* one is at the entry and another at the return of the same function */
	bool is_needed; /* without it the object is nothing */
	unsigned part;  /* those of a part can be detached alone; 0: of none */
	uint64_t cookie;
	/* NULL, or the cookie of each place in a file. */
	uint64_t (*location_cookie)(const struct attachment *attachment,
				    const struct symbol_place *location);
	const void *with;
	enum attachment_state state;
	char *why;       /* it is in this state; NULL: nothing is to be told */
	uint64_t logged; /* number of the reason that was told why it is not attached, 0: it is */
	uint64_t logged_file;    /* number of what was told of its file */
	bool stepped;            /* at a place in a file, see SYMBOL_STEPPED */
	bool single_step_logged; /* that it is */
	bool replaced;           /* the kernel replaces the address to which it returns */
	bool replaced_logged;
};

/* Is it of a function or marker of a file? */
bool attachment_is_of_file(const struct attachment *attachment);

/* A copy on the heap, with its own `what`; NULL: no memory. */
struct attachment *attachment_copy(const struct attachment *attachment);

/* Frees a copy and its own_point. */
void attachment_free(struct attachment *attachment);

#endif
