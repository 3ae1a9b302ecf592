/* SPDX-License-Identifier: MIT */
#ifndef EBPF_LACKING_H
#define EBPF_LACKING_H

#include <stdbool.h>
#include <stddef.h>

/* The types that the daemon's types.db lacks, or has with other data sources than the stock types.
 * The list changes only while the plugin starts, by a single thread. */

/* -ENOENT: the list is full. */
int lacking_add(const char *type);

bool lacking_has(const char *type);

/* Marks a type, if it is in the list, as one that series need. */
void lacking_need(const char *type);

/* Logs the lines that types.db needs for the marked types; nothing if there is none. */
void lacking_log(void);

/* Empties the list. */
void lacking_done(void);

#endif
