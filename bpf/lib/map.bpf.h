/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Maps, each declared in one line: NAME(...), then tags, then a semicolon. The macros are named
 * after the kernel's map types. MMAP_ARRAY is an array that user space may map, which is what a
 * table without keys is made of; entries of storages are created by the first access.
 */
#ifndef MAP_BPF_H
#define MAP_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define MAP(name, map_type, flags, key_type, value_type, entries) \
	struct {                                                  \
		__uint(type, BPF_MAP_TYPE_##map_type);            \
		__uint(map_flags, flags);                         \
		__uint(max_entries, entries);                     \
		__type(key, key_type);                            \
		__type(value, value_type);                        \
	} name SEC(".maps")

/* For map types without keys, for which the kernel rejects a key type. */
#define KEYLESS_MAP(name, map_type, value_type, entries) \
	struct {                                         \
		__uint(type, BPF_MAP_TYPE_##map_type);   \
		__uint(max_entries, entries);            \
		__type(value, value_type);               \
	} name SEC(".maps")

#define MMAP_ARRAY(name, row, rows) MAP(name, ARRAY, BPF_F_MMAPABLE, u32, row, rows)
#define ARRAY(name, value, entries) MAP(name, ARRAY, 0, u32, value, entries)
/* key: u32, or an enum that names the entries. */
#define PERCPU_ARRAY(name, key, value, entries) MAP(name, PERCPU_ARRAY, 0, key, value, entries)

#define HASH(name, key, value, entries) MAP(name, HASH, 0, key, value, entries)
/* Allocates memory only for existing entries: for large rows. */
#define SPARSE_HASH(name, key, value, entries) \
	MAP(name, HASH, BPF_F_NO_PREALLOC, key, value, entries)
#define LRU_HASH(name, key, value, entries) MAP(name, LRU_HASH, 0, key, value, entries)
#define PERCPU_HASH(name, key, value, entries) MAP(name, PERCPU_HASH, 0, key, value, entries)
#define LRU_PERCPU_HASH(name, key, value, entries) \
	MAP(name, LRU_PERCPU_HASH, 0, key, value, entries)

/* One entry for each thread or socket for which a program makes one, see storage.bpf.h. */
#define TASK_STORAGE(name, value) MAP(name, TASK_STORAGE, BPF_F_NO_PREALLOC, int, value, 0)
#define SK_STORAGE(name, value) MAP(name, SK_STORAGE, BPF_F_NO_PREALLOC, int, value, 0)
/* Likewise; the entry of an accepted connection starts as a copy of the listener's. */
#define SK_STORAGE_CLONED(name, value) \
	MAP(name, SK_STORAGE, BPF_F_NO_PREALLOC | BPF_F_CLONE, int, value, 0)

#define QUEUE(name, value, entries) KEYLESS_MAP(name, QUEUE, value, entries)
/* Of records, see event.bpf.h. */
#define RINGBUF(name, record, bytes) KEYLESS_MAP(name, RINGBUF, record, bytes)

#endif
