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

/* Records of stacks on their way to folded files. Of one thread. */
struct collector;

/* files and ksyms stay the caller's, who uses files in this thread only. Errors of store_open(). */
int collector_open(struct collector **ret_collector, const struct profiles_config *config,
		   struct file_reader *files, struct ksyms *ksyms, struct error *error);

/* The number of a view, which is copied; a negative errno: -ENOMEM. */
int collector_view(struct collector *collector, const struct view *view);

/* Takes a record of a view, of any bytes, see bpf/lib/stack.h; `when` is now. -EINVAL: it is none; -ENOSPC: there
 * is no room until collector_write(); -ENOMEM. */
int collector_take(struct collector *collector, int view, const char *service, const void *record,
		   size_t size, time_t when);

/* Has anything come that is not written, and since when? 0: nothing. */
time_t collector_since(const struct collector *collector);

/* Did something find no room since the last write? */
bool collector_is_full(const struct collector *collector);

/* Looks up the names, for which `between` is called as codes_look() does, and writes all of it. Errors
 * of store_write(). */
int collector_write(struct collector *collector, time_t now, bool (*between)(void *with),
		    void *with, struct error *error);

void collector_free(struct collector *collector);

#endif
