/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ATTACHMENT_H
#define EBPF_ATTACHMENT_H

#include "config/hook.h"
#include "helper/file.h"
#include "helper/symbol_location.h"

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Opens files and knows the processes of services. */
struct file_finder {
	struct file_helper *files;
	/* Writes at most `size` processes of a service, in no order. Returns how many it has, or a
	 * negative errno; -ENOENT: there is no such service. */
	ssize_t (*processes)(void *of, const char *service, pid_t *ret_pids, size_t size);
	void *of;
};

enum attachment_state {
	ATTACHMENT_REFUSED,
	ATTACHMENT_FILE_REFUSED, /* until the file is replaced */
	ATTACHMENT_CALLS_ONLY,   /* of a pair, the return cannot be attached */
	ATTACHMENT_DEFERRED,     /* attachments_check() tries again */
	ATTACHMENT_WAITS,        /* no process or file to attach to yet */
	ATTACHMENT_ATTACHED,
};

/* A program and the hook that it is to be attached to. */
struct attachment {
	const struct hook *hook;
	struct hook *own_hook; /* NULL, or the same hook, freed with the attachment */
	const struct bpf_program *program;
	const struct bpf_program *many; /* for HOOK_KPROBE: the SEC("kprobe.multi") program with the
					 * same body, or NULL */
	char *what;                     /* its name in messages */
	bool at_return;
	/* At the return of a function of a file: attached by the return address, which the kernel
	 * replaces; else to each instruction that returns. */
	bool replaces;
	bool is_paired; /* entry and return of one function are both attached */
	bool is_needed; /* if it cannot be attached, the object is of no use */
	unsigned part;  /* attachments of a part are paused together; 0: of none */
	uint64_t cookie;
	/* NULL, or a function that returns the cookie for each location in a file. */
	uint64_t (*location_cookie)(const struct attachment *attachment,
				    const struct symbol_location *location);
	const void *with;
	enum attachment_state state;
	char *why;               /* reason of `state`, to be logged; NULL: nothing to log */
	uint64_t logged;         /* hash of the reason that was logged last; 0: attached */
	uint64_t logged_file;    /* hash of what was logged about its file */
	bool single_step;        /* one of its locations is, see SYMBOL_SINGLE_STEP */
	bool single_step_logged; /* it was logged that it is */
	bool replaced;           /* the kernel replaces the return address */
	bool replaced_logged;
};

/* Is its hook a function or marker of a file? */
bool attachment_is_of_file(const struct attachment *attachment);

/* Returns a copy on the heap with its own `what`; NULL: no memory. */
struct attachment *attachment_copy(const struct attachment *attachment);

/* Frees a copy and its own_hook. */
void attachment_free(struct attachment *attachment);

#endif
