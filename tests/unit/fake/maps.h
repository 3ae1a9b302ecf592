/* SPDX-License-Identifier: MIT */
#ifndef MAPS_H
#define MAPS_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>

/* Plays the kernel for an object that is opened, not loaded: in programs that link this,
 * libbpf's calls for maps and iterators end here. */

/* How many entries a map has, over all open objects. */
size_t maps_count(const char *map);

/* As the BPF side would; false: there is no such entry, or the map is full. */
bool maps_get(const char *map, const void *key, void *value);
bool maps_put(const char *map, const void *key, const void *value);
bool maps_remove(const char *map, const void *key);
/* Takes the next element of a queue. */
bool maps_pop(const char *map, void *value);

/* What iterators write from now on; the caller owns the bytes. */
void maps_iterate(const void *records, size_t size);

/* How often iterators ran, and a function to call at each run. */
extern unsigned maps_walks;
extern void (*maps_on_walk)(void);

/* The link of an iterator; it must not be destroyed. */
struct bpf_link *maps_link(void);

/* An errno that running an iterator fails with, 0: it works. */
extern int maps_fail_walks;

void maps_clear(void);

#endif
