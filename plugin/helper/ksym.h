/* SPDX-License-Identifier: MIT */
#ifndef EBPF_KSYM_H
#define EBPF_KSYM_H

#include "file.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kernel's functions by their addresses. */
struct ksyms {
	pthread_mutex_t lock;
	struct ksym_list {
		struct ksym_entry *entry; /* in the order of their addresses */
		size_t count, room;
		char *names;
		size_t used, size;
	} list;
	bool wanted;
	bool missed;     /* a name was not found since the last read */
	uint64_t due_ns; /* of the next read */
};

void ksyms_init(struct ksyms *ksyms);

/* Names are needed: ksyms_refresh() reads them from now on. */
void ksyms_want(struct ksyms *ksyms);

/* Reads /proc/kallsyms if names are wanted: once, and again, an hour later at the earliest, when a
 * name was not found, as of a module that was loaded since; if it fails, again a minute later. Any
 * thread, with a file helper of its own. */
void ksyms_refresh(struct ksyms *ksyms, struct file_helper *files, uint64_t now_ns);

/* Replaces the functions by those in the text of such a file; the text is changed. Malformed lines are
 * skipped. 0 or -ENOMEM. */
int ksyms_parse(struct ksyms *ksyms, char *text);

/* Writes the name of the function that contains an address; false: it is unknown. Any thread. */
bool ksym_name(struct ksyms *ksyms, uint64_t address, char *to, size_t size);

void ksyms_done(struct ksyms *ksyms);

#endif
