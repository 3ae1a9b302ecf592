/* SPDX-License-Identifier: MIT */
#ifndef EBPF_STORE_H
#define EBPF_STORE_H

#include "util/message.h"

#include <stdint.h>
#include <time.h>

/* Folded files: DIRECTORY/SERVICE-VIEW-YYYYMMDD-HH.folded, one for each service, view and hour of local
 * time. A line is a stack and its value, the outermost function first: "main;parse 17". Of one thread. */
struct store;

struct profiles_config; /* see config/config.h */

/* Makes the directory where its parent is there. Errors: of mkdir(2) and open(2); -ENOTDIR; -EPERM:
 * others than root, or who runs collectd, can write to it, or to one on the way to it; -ENOMEM. */
int store_open(struct store **ret_store, const struct profiles_config *config, struct error *error);

/* Adds to a line of the hour in which `when` lies, in memory. Names of services are cleaned, as those of
 * series are. What finds no room in a file's bounds, or in those of the memory that all files have until
 * they are written, is counted in its line "[other]". -EINVAL: no view is called so; -ENOMEM. */
int store_add(struct store *store, const char *service, const char *view, time_t when,
	      const char *stack, uint64_t value);

/* Of a view whose values are a state, not a sum: those that are added from here on replace those
 * there were in this hour, of all services. */
void store_begin(struct store *store, const char *view, time_t when);

/* Writes what has been added, each file as a new one that takes the place of the one before, which is
 * read and added to. Removes the oldest as the limits say. Returns 0 or a negative errno, and the error
 * says which file, why, and what to do: the caller tells it where the call before has returned 0. What
 * was not written stays, and is tried again by the next call. */
int store_write(struct store *store, time_t now, struct error *error);

void store_free(struct store *store);

#endif
