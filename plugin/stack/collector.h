/* SPDX-License-Identifier: MIT */
#ifndef EBPF_COLLECTOR_H
#define EBPF_COLLECTOR_H

#include "helper/file.h"
#include "util/message.h"
#include "view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct ksyms;
struct profiles_config; /* see config/config.h */

/* Turns records of stacks into lines of folded files. Of one thread. */
struct collector;

/* files and ksyms stay the caller's, who uses files in this thread only. Errors of store_open(). */
int collector_open(struct collector **ret_collector, const struct profiles_config *config,
		   struct file_helper *files, struct ksyms *ksyms, struct error *error);

/* Adds a view, which is copied. Returns its number; -ENOMEM: there are too many. */
int collector_view(struct collector *collector, const struct view *view);

/* Adds a record of a view, which may be any bytes, see bpf/lib/stack.h. `when` is the time now.
 * -EINVAL: it is no record; -ENOSPC: there is no room until collector_write(); -ENOMEM. */
int collector_add(struct collector *collector, int view, const char *service, const void *record,
		  size_t size, time_t when);

/* The time of the first record that is not written; 0: there is none. */
time_t collector_since(const struct collector *collector);

/* Has a record found no room since the last write? */
bool collector_is_full(const struct collector *collector);

/* Asks for the names, during which `between` is called as by codes_resolve(), and writes all files.
 * Errors of store_write(). */
int collector_write(struct collector *collector, time_t now, bool (*between)(void *with),
		    void *with, struct error *error);

void collector_free(struct collector *collector);

#endif
