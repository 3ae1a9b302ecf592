/* SPDX-License-Identifier: MIT */
#ifndef EBPF_MAPPING_H
#define EBPF_MAPPING_H

#include <bpf/libbpf.h>
#include <stddef.h>

/* The entries of an array map, or of a section of variables, in this process: each side sees at
 * once what the other one writes. Or memory of this process alone. */
struct mapping {
	void *start;
	size_t size; /* bytes, 0: there is none */
};

/* Bytes from one entry of an array map to the next. */
size_t mapping_stride(const struct bpf_map *map);

/* Maps all entries of a map with BPF_F_MMAPABLE, after load; protection as in mmap(2), whose errors
 * it returns. */
int mapping_open(struct mapping *mapping, const struct bpf_map *map, int protection);

/* Of a section of variables, which libbpf 1.5 maps by itself when it loads an object: a process that is
 * forked does not have it, as it has nothing of mapping_open(). */
void mapping_keep_from_children(struct bpf_map *map);

/* So many bytes of memory, all 0, in pages that cost nothing until they are written to; -ENOMEM. */
int mapping_make(struct mapping *ret_mapping, size_t size);

void mapping_done(struct mapping *mapping);

#endif
