/* SPDX-License-Identifier: MIT */
#ifndef EBPF_MAPPING_H
#define EBPF_MAPPING_H

#include <bpf/libbpf.h>
#include <stddef.h>

/* The entries of an array map or of a section of variables, in the memory of this process: what one
 * side writes the other sees at once. Or private memory. */
struct mapping {
	void *start;
	size_t size; /* bytes; 0: none */
};

/* Returns the distance in bytes between two entries of an array map. */
size_t mapping_stride(const struct bpf_map *map);

/* Maps all entries of a loaded map with BPF_F_MMAPABLE. `protection` and errors are those of
 * mmap(2). */
int mapping_open(struct mapping *mapping, const struct bpf_map *map, int protection);

/* Keeps forked processes from inheriting a section of variables that libbpf itself has mapped, as
 * 1.5 does at load. What mapping_open() maps is never inherited. */
void mapping_keep_from_children(struct bpf_map *map);

/* Allocates zeroed memory, whose pages cost nothing until they are written. -ENOMEM. */
int mapping_make(struct mapping *ret_mapping, size_t size);

void mapping_done(struct mapping *mapping);

#endif
