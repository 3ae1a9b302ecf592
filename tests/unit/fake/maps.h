/* SPDX-License-Identifier: MIT */
#ifndef MAPS_H
#define MAPS_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>

/* Stands in for the kernel behind an object that is opened, not loaded: libbpf's
 * calls for maps and iterators end here, in programs that link this. */

/* How many elements a map has, of all objects that are open. */
size_t maps_count(const char *map);

/* As the BPF side would: false if there is none, or no room. */
bool maps_get(const char *map, const void *key, void *value);
bool maps_put(const char *map, const void *key, const void *value);
bool maps_remove(const char *map, const void *key);
/* Of a queue. */
bool maps_pop(const char *map, void *value);

/* What iterators write from now on; the bytes stay the caller's. */
void maps_iterate(const void *records, size_t size);

/* How often iterators ran, and what to call at each. */
extern unsigned maps_walks;
extern void (*maps_on_walk)(void);

/* Stands for the link of an iterator; nobody may destroy it. */
struct bpf_link *maps_link(void);

/* An errno with which they do not run, 0: they do. */
extern int maps_fail_walks;

void maps_clear(void);

#endif
