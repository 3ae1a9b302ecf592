/* SPDX-License-Identifier: MIT */
#ifndef EBPF_STORE_H
#define EBPF_STORE_H

#include "util/message.h"

#include <stdint.h>
#include <time.h>

/* Folded files, DIRECTORY/SERVICE-VIEW-YYYYMMDD-HH.folded: one for each service, view and hour of
 * local time. A line is a stack, outermost function first, and its value: "main;parse 17". Of one
 * thread. */
struct store;

struct profiles_config; /* config/config.h */

/* Opens a store. The directory is made if the one above it exists. Errors of mkdir(2) and open(2);
 * -ENOTDIR; -EPERM: it is not safe, see safe_directory_open(); -ENOMEM. */
int store_open(struct store **ret_store, const struct profiles_config *config, struct error *error);

/* Adds a value, in memory, to a line of the hour that `when` is in. Names of services are cleaned
 * like those of series. A stack that finds no room in the bounds of its file, or of the memory of
 * all unwritten files, counts for the file's line "[other]". -EINVAL: invalid name of a view;
 * -ENOMEM. */
int store_add(struct store *store, const char *service, const char *view, time_t when,
	      const char *stack, uint64_t value);

/* For a view whose values are a state, not a sum: values added from here on replace those of this
 * hour, of all services. */
void store_begin(struct store *store, const char *view, time_t when);

/* Writes all that was added: each file is read, added to and replaced. Then removes the oldest
 * files by the limits. Returns 0 or a negative errno, and the error says which file, why, and what
 * to do; the caller logs it if the call before returned 0. Values that could not be written stay,
 * and the next call tries again. */
int store_write(struct store *store, time_t now, struct error *error);

void store_free(struct store *store);

#endif
