/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Which files a service uses: bytes and time by file, for the folded files of the views "files" and
 * "file_time", whose lines are paths. A file is identified by its inode number; its path is the one
 * by which it was first used, as seen in the service's mount namespace, and is read once.
 *
 * Paths are no labels of series: anybody can make any number of them, and each series takes storage
 * for good. Folded files are bounded, and their lines disappear with them.
 *
 * A pass over the map at each reading sends what has grown; a file that has not grown for a whole
 * interval is removed. There is room for FILE_USES_MAX files, and for FILE_USES_EACH of a service.
 * Further files count together, without a path.
 */
#ifndef FILE_USE_BPF_H
#define FILE_USE_BPF_H

#include "event.bpf.h"
#include "kernel/file.bpf.h"
#include "refused.bpf.h"
#include "stack.h"

#define FILE_USES_MAX 4096
#define FILE_USES_EACH 1024
#define FILE_NAME_SIZE 256 /* with the NUL */
#define FILE_PATH_SIZE 768 /* if a path is longer, its outermost directories are cut */
#define FILE_LEVELS 32     /* directories and mounts */
#define FILE_CUT "..."
#define FILE_WORD_SIZE 8

const volatile bool option_top_files;

/* The enumerators name series. */
enum file_operation {
	open,
	read,
	write,
	fsync,
	delete,
	rename,
	OPERATIONS,
};

#define OPERATIONS_ON_FILES (fsync + 1) /* the operations before this one have an open file */

struct file_key {
	u64 inode; /* 0: files without a row of their own */
	u32 generation;
	u32 device;
	u32 service;
	u32 reserved;
};

struct file_counters {
	u64 bytes[OPERATIONS_ON_FILES];
	u64 ns[OPERATIONS_ON_FILES];
};

struct file_use {
	struct file_counters counted, sent;
	u32 path_size; /* bytes of `path` read so far */
	u32 has_path;
	/* Names, innermost first, each with a NUL. */
	char path[FILE_PATH_SIZE + sizeof(FILE_CUT)];
};

SPARSE_HASH(file_uses, struct file_key, struct file_use, FILE_USES_MAX) OPTION("top_files");
/* Number of files of each service in file_uses. */
SPARSE_HASH(file_counts, u32, u32, 4096) OPTION("top_files");

/* A record without frames is followed by text: see stack.h. */
struct file_record {
	struct stack_head head;
	char text[FILE_WORD_SIZE + FILE_PATH_SIZE + sizeof(FILE_CUT)];
};

PERCPU_ARRAY(file_scratch, u32, struct file_record, 1) OPTION("top_files");
RINGBUF(files_used, struct stack_head, 256 * 1024)
OPTION("top_files") STACKS("files unit=bytes");
RINGBUF(files_waited, struct stack_head, 256 * 1024)
OPTION("top_files") STACKS("file_time unit=microseconds");

/* --- paths --- */

static __always_inline const struct mount *mount_of(const struct vfsmount *mount)
{
	return (const void *)mount - bpf_core_field_offset(struct mount, mnt);
}

/* The position on the way up a path. */
struct path_step {
	const struct dentry *dentry;
	const struct vfsmount *mount;
	bool is_whole; /* the root has been reached */
};

/* Steps from the root of a mount to its mount point. false: this is the topmost mount. */
static __noinline bool path_cross_mount(struct path_step *step)
{
	const struct mount *mount = mount_of(step->mount);
	const struct mount *above = BPF_CORE_READ(mount, mnt_parent);

	step->is_whole = above == mount;
	if (!above || above == mount)
		return false;
	step->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
	step->mount = __builtin_preserve_access_index(&above->mnt);
	return true;
}

/* Returns the number of bytes written, at most FILE_NAME_SIZE; 0: the root has been reached; -1:
 * the root of a mount, which has no name. */
static __always_inline long path_name(struct path_step *step, char *to)
{
	const struct dentry *dentry = step->dentry;
	const struct dentry *parent = BPF_CORE_READ(dentry, d_parent);
	const struct vfsmount *mount = step->mount;
	long size;

	if (dentry == BPF_CORE_READ(mount, mnt_root) || dentry == parent)
		return path_cross_mount(step) ? -1 : 0;
	size = bpf_probe_read_kernel_str(to, FILE_NAME_SIZE, BPF_CORE_READ(dentry, d_name.name));
	step->dentry = parent;
	return size > 0 ? size : 0;
}

/* Adds one name; false: there is none, or no room. */
static __noinline bool path_add(struct file_use *use, struct path_step *step)
{
	u64 size = use->path_size;
	long added;

	if (size > FILE_PATH_SIZE - FILE_NAME_SIZE)
		return false;
	added = path_name(step, use->path + size);
	if (added > 0)
		use->path_size = size + added;
	return added;
}

static __noinline int file_use_name(struct file_use *use, const struct file *file)
{
	struct path_step step = { .dentry = BPF_CORE_READ(file, f_path.dentry),
				  .mount = BPF_CORE_READ(file, f_path.mnt) };
	u64 size;

	/* Linux 6.1 rejects loops that begin right after a call. */
#pragma unroll
	for (int i = 0; i < FILE_LEVELS; i++)
		if (!path_add(use, &step))
			break;
	size = use->path_size;
	if (!step.is_whole && size <= FILE_PATH_SIZE) {
		__builtin_memcpy(use->path + size, FILE_CUT, sizeof(FILE_CUT));
		use->path_size = size + sizeof(FILE_CUT);
	}
	use->has_path = true;
	return 0;
}

/* --- counting --- */

static const struct file_use no_use;

/* false: the service has FILE_USES_EACH files. */
static __noinline bool file_count_add(u32 service)
{
	u32 none = 0, *count = bpf_map_lookup_elem(&file_counts, &service);

	if (!count) {
		bpf_map_update_elem(&file_counts, &service, &none, BPF_NOEXIST);
		count = bpf_map_lookup_elem(&file_counts, &service);
	}
	if (!count || *(volatile u32 *)count >= FILE_USES_EACH)
		return false;
	__sync_fetch_and_add(count, 1);
	return true;
}

static __always_inline void file_count_remove(u32 service)
{
	u32 *count = bpf_map_lookup_elem(&file_counts, &service);

	if (count)
		__sync_fetch_and_add(count, -1);
}

/* The CPU that inserts the entry reads its path. */
static __noinline struct file_use *file_use_make(const struct file_key *key, u64 file)
{
	struct file_use *use;

	if (!file_count_add(key->service))
		return NULL;
	if (bpf_map_update_elem(&file_uses, key, &no_use, BPF_NOEXIST)) {
		file_count_remove(key->service);
		return bpf_map_lookup_elem(&file_uses, key);
	}
	use = bpf_map_lookup_elem(&file_uses, key);
	if (use)
		file_use_name(use, (const struct file *)file);
	return use;
}

/* The entry for files of the service without a row of their own. */
static __noinline struct file_use *file_use_other(u32 service)
{
	struct file_key key = { .service = service };
	struct file_use *use = bpf_map_lookup_elem(&file_uses, &key);

	if (use)
		return use;
	bpf_map_update_elem(&file_uses, &key, &no_use, BPF_NOEXIST);
	return or_refused(bpf_map_lookup_elem(&file_uses, &key));
}

/* bytes: negative if the operation failed. */
static __noinline int file_use_count(u32 service, u64 file, u32 operation, s64 bytes, u64 ns)
{
	const struct inode *inode = BPF_CORE_READ((const struct file *)file, f_inode);
	struct file_key key = {
		.inode = BPF_CORE_READ(inode, i_ino),
		.generation = BPF_CORE_READ(inode, i_generation),
		.device = BPF_CORE_READ(inode, i_sb, s_dev),
		.service = service,
	};
	struct file_use *use = bpf_map_lookup_elem(&file_uses, &key);

	if (!use)
		use = file_use_make(&key, file);
	if (!use)
		use = file_use_other(service);
	if (!use || operation >= OPERATIONS_ON_FILES)
		return 0;
	if (bytes > 0)
		add(&use->counted.bytes[operation], bytes);
	add(&use->counted.ns[operation], ns);
	return 0;
}

/* --- sending, at each reading --- */

static const char operation_words[OPERATIONS_ON_FILES][FILE_WORD_SIZE] = {
	[open] = "[open]",
	[read] = "[read]",
	[write] = "[write]",
	[fsync] = "[fsync]",
};

/* false: the ring is full; the value is sent at the next reading. */
static __noinline bool file_send(void *ring, const struct file_use *use, u32 service, u32 operation,
				 u64 value)
{
	u64 size = use->path_size, word;
	u32 zero = 0;
	struct file_record *record = bpf_map_lookup_elem(&file_scratch, &zero);

	if (!record || operation >= OPERATIONS_ON_FILES)
		return true;
	__builtin_memset(&record->head, 0, sizeof(record->head));
	record->head.value = value;
	record->head.service = service;
	word = bpf_probe_read_kernel_str(record->text, FILE_WORD_SIZE, operation_words[operation]);
	if (word > FILE_WORD_SIZE)
		return true;
	/* In one register, for the verifier of Linux 6.1. */
	asm volatile("if %0 <= %1 goto +1; %0 = %1" : "+r"(size) : "i"(sizeof(use->path)));
	bpf_probe_read_kernel(record->text + word, size, use->path);
	return !bpf_ringbuf_output(ring, record, sizeof(record->head) + word + size,
				   BPF_RB_NO_WAKEUP);
}

/* Sends the growth in multiples of `unit`; the remainder counts at the next reading. true: it has
 * grown. */
static __always_inline bool file_grown(void *ring, const struct file_use *use, u32 service,
				       u32 operation, const u64 *counted, u64 *sent, u64 unit)
{
	u64 now = counted[operation], value = grown(now, sent[operation]) / unit;

	if (value && file_send(ring, use, service, operation, value))
		sent[operation] += value * unit;
	return value;
}

static long file_show(void *map, struct file_key *key, struct file_use *use, void *context)
{
	bool any = false, is_other = !key->inode;
	u32 service = key->service;

	if (!is_other && !use->has_path)
		return 0;
#pragma unroll
	for (u32 i = 0; i < OPERATIONS_ON_FILES; i++) {
		any |= file_grown(&files_used, use, service, i, use->counted.bytes, use->sent.bytes,
				  1);
		any |= file_grown(&files_waited, use, service, i, use->counted.ns, use->sent.ns,
				  1000);
	}
	if (!any && !bpf_map_delete_elem(&file_uses, key) && !is_other)
		file_count_remove(service);
	return 0;
}

SEC("syscall")
OPTION("top_files")
int files_walk(void *ctx)
{
	bpf_for_each_map_elem(&file_uses, file_show, NULL, 0);
	return 0;
}

#endif
