/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Files: what each service opens, fails to open, creates, deletes and renames, how long file
 * operations take, and which of them were slow, by operation and file system. With Option
 * "operations": a distribution for each operation and file system.
 *
 * Hooks, hook set 1: fentry and fexit of do_sys_openat2, vfs_read, vfs_write, vfs_readv,
 * vfs_writev, do_unlinkat, do_renameat2, fsync and fdatasync, fentry of vfs_unlink and vfs_rename.
 * Hook set 2: the same without vfs_readv and vfs_writev, which the kernel's compiler may have
 * inlined. Hook sets 3 and 4: as 1 and 2, with filename_unlinkat and filename_renameat2, which
 * Linux 7.0 has instead of do_unlinkat and do_renameat2. Hook set 5, with Option "syscalls": the
 * tracepoints of the system calls that open, delete, rename and sync files; while one of them is
 * on, every system call of the machine takes the slow path.
 *
 * Reads and writes are those of regular files: the programs return at once for sockets, pipes and
 * terminals. Paths are read only with Option "top_files", see file_use.bpf.h.
 *
 * Limits: hook set 5 times reads and writes only with Option "top_files", because their tracepoints
 * fire for sockets, too. Reads and writes by io_uring, sendfile and mappings are never timed. Opens
 * by io_uring, and of programs that are executed, are not counted. In hook set 5 the file system of
 * a delete or a rename is unknown.
 */
#include "attached.bpf.h"
#include "descriptor.bpf.h"
#include "file_use.bpf.h"
#include "run_counter.bpf.h"
#include "kernel/syscall.bpf.h"
#include "services/service_slot.bpf.h"
#include "storage.bpf.h"

#define NS "scale=1/1000000000"
#define MS "scale=1/1000000"
#define FILE_SYSTEM_NAME_SIZE 16
#define FILE_SYSTEM_UNKNOWN "unknown"

const volatile u64 slow_ns RANGE(1, 60000000000) = 10000000;
const volatile bool option_operations;

struct file_row {
	u64 opens METRIC("total_operations-open") UNIT("opens")
		HELP("Opens: calls that open a file, failed ones included");
	u64 failed METRIC("errors-open") UNIT("opens") HELP("Opens that failed: for any reason");
	u64 created METRIC("total_operations-create") UNIT("files")
		HELP("Files created: by opens of files that did not exist");
	u64 deleted METRIC("total_operations-delete") UNIT("files")
		HELP("Files deleted: names removed");
	u64 renamed METRIC("total_operations-rename") UNIT("files")
		HELP("Files renamed: files and directories");
	struct hist latency METRIC("latency-file " NS) UNIT("seconds")
		HELP("File latency: of opens, reads, writes, syncs, deletes and renames");
};

MMAP_ARRAY(files, struct file_row, 1) SUBJECT("service via=row_slots owners=slot_owners sharded");

struct file_operation_key {
	u32 service LABEL("service");
	enum file_operation operation LABEL("enum");
	char file_system[FILE_SYSTEM_NAME_SIZE] LABEL("string");
};

struct slow_row {
	u64 count METRIC("total_operations-slow rank") UNIT("operations")
		HELP("Slow file operations: longer than slow_ns, by operation and file system");
	u64 time_ns METRIC("total_time_in_ms-slow " MS) UNIT("milliseconds")
		HELP("Time in slow file operations: by operation and file system") DEFAULT(off);
};

HASH(slow_operations, struct file_operation_key, struct slow_row, 1024) SUBJECT("key");

struct file_operation_row {
	struct hist latency METRIC("latency-operation " NS) UNIT("seconds")
		HELP("File latency: by operation and file system");
};

SPARSE_HASH(operations, struct file_operation_key, struct file_operation_row, 1024)
OPTION("operations") SUBJECT("key");

/* State of a thread that has used files. */
struct file_user {
	struct slot_cache cache;
	u64 began_ns[OPERATIONS]; /* start of the operation in progress, 0: none */
	const struct file_system_type
		*type; /* file system of the delete or rename in progress, NULL: unknown */
	u32 fd;        /* of the sync in progress, in hook set 5 also of the read or write */
};

TASK_STORAGE(file_users, struct file_user);

/* --- shared by all hook sets --- */

static const struct file_operation_row no_operations;

/* NULL: the service is not watched. */
static __always_inline struct file_user *file_user(struct task_struct *task)
{
	struct file_user *u = bpf_task_storage_get(&file_users, task, NULL, 0);

	if (!u && service_watched(service_of(task)))
		u = or_refused(task_storage_make(&file_users, task));
	return u && slot_cache_watched(&u->cache, task) ? u : NULL;
}

static __always_inline struct file_user *begin_operation(enum file_operation operation)
{
	struct file_user *u = file_user(bpf_get_current_task_btf());

	if (u) {
		u->type = NULL;
		u->began_ns[operation] = bpf_ktime_get_ns();
	}
	return u;
}

/* The state of a thread with this operation in progress; NULL: it is not counted. */
static __always_inline struct file_user *doing(enum file_operation operation)
{
	struct file_user *u =
		bpf_task_storage_get(&file_users, bpf_get_current_task_btf(), NULL, 0);

	return u && is_since_attached(u->began_ns[operation]) ? u : NULL;
}

static __always_inline void count_file_operation(const struct file_operation_key *key, u64 ns)
{
	struct file_operation_row *row = bpf_map_lookup_elem(&operations, key);

	if (!row) {
		bpf_map_update_elem(&operations, key, &no_operations, BPF_NOEXIST);
		row = or_refused(bpf_map_lookup_elem(&operations, key));
	}
	if (row)
		hist_add(&row->latency, ns);
}

static __always_inline void count_slow_operation(const struct file_operation_key *key, u64 ns)
{
	struct slow_row none = {}, *row = bpf_map_lookup_elem(&slow_operations, key);

	if (!row) {
		bpf_map_update_elem(&slow_operations, key, &none, BPF_NOEXIST);
		row = or_refused(bpf_map_lookup_elem(&slow_operations, key));
	}
	if (!row)
		return;
	add(&row->count, 1);
	add(&row->time_ns, ns);
}

static __always_inline void name_file_system(const struct file_system_type *type, char *ret_name)
{
	if (!type || bpf_probe_read_kernel_str(ret_name, FILE_SYSTEM_NAME_SIZE,
					       BPF_CORE_READ(type, name)) <= 1)
		__builtin_memcpy(ret_name, FILE_SYSTEM_UNKNOWN, sizeof(FILE_SYSTEM_UNKNOWN));
}

static __noinline void count_on_file_system(u32 service, enum file_operation operation, u64 type,
					    u64 ns)
{
	struct file_operation_key key = { .service = service, .operation = operation };

	name_file_system((const struct file_system_type *)type, key.file_system);
	if (option_operations)
		count_file_operation(&key, ns);
	if (ns >= slow_ns)
		count_slow_operation(&key, ns);
}

static __always_inline const struct file_system_type *file_system(const struct file *file)
{
	return file ? BPF_CORE_READ(file, f_inode, i_sb, s_type) : NULL;
}

/* file: NULL if the thread has noted the file system, or if it is unknown. bytes: the number moved,
 * negative for an error. Returns the row in which the operation counts. */
static __always_inline struct file_row *end_operation(struct file_user *u,
						      enum file_operation operation,
						      const struct file *file, s64 bytes)
{
	u64 ns = bpf_ktime_get_ns() - u->began_ns[operation];
	struct file_row *row;
	u32 at;

	u->began_ns[operation] = 0;
	if (!slot_cache_watched(&u->cache, bpf_get_current_task_btf()))
		return NULL;
	at = slot_index(u->cache.slot);
	row = bpf_map_lookup_elem(&files, &at);
	if (row)
		hist_add(&row->latency, ns);
	if (option_top_files && file)
		file_use_count(u->cache.row, (u64)file, operation, bytes, ns);
	if (option_operations || ns >= slow_ns)
		count_on_file_system(u->cache.row, operation,
				     (u64)(file ? file_system(file) : u->type), ns);
	return row;
}

static __always_inline int begin_simply(enum file_operation operation)
{
	begin_operation(operation);
	return 0;
}

static __always_inline int end_open(s64 fd)
{
	struct file_user *u = doing(open);
	struct file_row *row;
	const struct file *file = NULL;

	if (!u)
		return 0;
	if (fd >= 0)
		file = file_in(file_slot(bpf_get_current_task_btf(), fd));
	row = end_operation(u, open, file, 0);
	if (!row)
		return 0;
	add(&row->opens, 1);
	if (fd < 0)
		add(&row->failed, 1);
	else if (file && BPF_CORE_READ(file, f_mode) & FMODE_CREATED)
		add(&row->created, 1);
	return 0;
}

static __always_inline int begin_sync(u32 fd)
{
	struct file_user *u = begin_operation(fsync);

	if (u)
		u->fd = fd;
	return 0;
}

static __always_inline int end_sync(void)
{
	struct file_user *u = doing(fsync);

	if (u)
		end_operation(u, fsync, file_in(file_slot(bpf_get_current_task_btf(), u->fd)), 0);
	return 0;
}

static __always_inline int end_delete(s64 error)
{
	struct file_user *u = doing(delete);
	struct file_row *row = u ? end_operation(u, delete, NULL, 0) : NULL;

	if (row && !error)
		add(&row->deleted, 1);
	return 0;
}

static __always_inline int end_rename(s64 error)
{
	struct file_user *u = doing(rename);
	struct file_row *row = u ? end_operation(u, rename, NULL, 0) : NULL;

	if (row && !error)
		add(&row->renamed, 1);
	return 0;
}

/* --- hook sets 1 to 4 --- */

static __always_inline int begin_on(enum file_operation operation, const struct file *file)
{
	return inode_is_regular(file->f_inode) ? begin_simply(operation) : 0;
}

static __always_inline int end_on(enum file_operation operation, const struct file *file, s64 bytes)
{
	struct file_user *u = inode_is_regular(file->f_inode) ? doing(operation) : NULL;

	if (u)
		end_operation(u, operation, file, bytes);
	return 0;
}

/* Notes the file system of what the thread deletes or renames. The first call counts: a file system
 * may call another one. */
static __always_inline int note_file_system(const struct dentry *dentry)
{
	struct file_user *u =
		bpf_task_storage_get(&file_users, bpf_get_current_task_btf(), NULL, 0);

	if (u && !u->type)
		u->type = BPF_CORE_READ(dentry, d_sb, s_type);
	return 0;
}

#define FUNCTION_SETS HOOK_SET(1) HOOK_SET(2) HOOK_SET(3) HOOK_SET(4)
#define WITH_VECTORS HOOK_SET(1) HOOK_SET(3)
#define BEFORE_7_0 HOOK_SET(1) HOOK_SET(2)
#define SINCE_7_0 HOOK_SET(3) HOOK_SET(4)

/* first, second: counters of the two programs; others: the function's arguments after the first. */
#define HOOK_ON_FILE(sets, function, operation, first, second, others...)        \
	SEC("fentry/" #function)                                                 \
	sets RUN_COUNTER(first)                                                  \
	int BPF_PROG(files_begin_##function, struct file *file)                  \
	{                                                                        \
		run_counter_add(first);                                          \
		return begin_on(operation, file);                                \
	}                                                                        \
	SEC("fexit/" #function)                                                  \
	sets RUN_COUNTER(second)                                                 \
	int BPF_PROG(files_end_##function, struct file *file, others, s64 bytes) \
	{                                                                        \
		run_counter_add(second);                                         \
		return end_on(operation, file, bytes);                           \
	}

/* arguments: the function's arguments and its result. */
#define HOOK(sets, function, operation, first, second, end, arguments...) \
	SEC("fentry/" #function)                                          \
	sets RUN_COUNTER(first)                                           \
	int BPF_PROG(files_begin_##function)                              \
	{                                                                 \
		run_counter_add(first);                                   \
		return begin_simply(operation);                           \
	}                                                                 \
	SEC("fexit/" #function)                                           \
	sets RUN_COUNTER(second)                                          \
	int BPF_PROG(files_end_##function, arguments)                     \
	{                                                                 \
		run_counter_add(second);                                  \
		return end;                                               \
	}

#define HOOK_SYNC(call)                                              \
	SEC("fentry/" SYSCALL_FUNCTION(call))                        \
	FUNCTION_SETS                                                \
	int BPF_PROG(files_begin_##call, const struct pt_regs *regs) \
	{                                                            \
		return begin_sync(call_argument(regs, 1));           \
	}                                                            \
	SEC("fexit/" SYSCALL_FUNCTION(call))                         \
	FUNCTION_SETS                                                \
	int BPF_PROG(files_end_##call)                               \
	{                                                            \
		return end_sync();                                   \
	}

#define MOVES void *buffer, size_t size, void *at
#define MOVES_VECTORS void *vectors, unsigned long count, void *at, int flags
#define UNLINKS int at, void *name, int error
#define RENAMES int at, void *name, int to, void *to_name, unsigned int flags, int error

HOOK_ON_FILE(FUNCTION_SETS, vfs_read, read, 0, 1, MOVES)
HOOK_ON_FILE(FUNCTION_SETS, vfs_write, write, 2, 3, MOVES)
HOOK_ON_FILE(WITH_VECTORS, vfs_readv, read, 12, 13, MOVES_VECTORS)
HOOK_ON_FILE(WITH_VECTORS, vfs_writev, write, 14, 15, MOVES_VECTORS)
HOOK(FUNCTION_SETS, do_sys_openat2, open, 4, 5, end_open(fd), int at, void *name, void *how, int fd)
HOOK(BEFORE_7_0, do_unlinkat, delete, 6, 7, end_delete(error), UNLINKS)
HOOK(SINCE_7_0, filename_unlinkat, delete, 6, 7, end_delete(error), UNLINKS)
HOOK(BEFORE_7_0, do_renameat2, rename, 8, 9, end_rename(error), RENAMES)
HOOK(SINCE_7_0, filename_renameat2, rename, 8, 9, end_rename(error), RENAMES)
HOOK_SYNC(fsync)
HOOK_SYNC(fdatasync)

SEC("fentry/vfs_unlink")
FUNCTION_SETS
RUN_COUNTER(10)
int BPF_PROG(files_unlink, void *map, struct inode *from, struct dentry *dentry)
{
	run_counter_add(10);
	return note_file_system(dentry);
}

SEC("fentry/vfs_rename")
FUNCTION_SETS
RUN_COUNTER(11)
int BPF_PROG(files_rename, struct renamedata *renamed)
{
	run_counter_add(11);
	return note_file_system(renamed->old_dentry);
}

/* --- hook set 5 --- */

static __always_inline int begin_move(enum file_operation operation, u32 fd)
{
	const struct file *file = file_in(file_slot(bpf_get_current_task_btf(), fd));
	struct file_user *u;

	if ((BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) != S_IFREG)
		return 0;
	u = begin_operation(operation);
	if (u)
		u->fd = fd;
	return 0;
}

static __always_inline int end_move(enum file_operation operation, s64 bytes)
{
	struct file_user *u = doing(operation);

	if (u)
		end_operation(u, operation, file_in(file_slot(bpf_get_current_task_btf(), u->fd)),
			      bytes);
	return 0;
}

#define CALL_PROGRAM(way, call, tags, body)                      \
	SEC("tracepoint/syscalls/sys_" #way "_" #call)           \
	HOOK_SET(5)                                              \
	OPTION("syscalls")                                       \
	tags int files_##way##_##call(struct syscall_##way *ctx) \
	{                                                        \
		body                                             \
	}

#define RARE_CALL(call, begin, end)                \
	CALL_PROGRAM(enter, call, , return begin;) \
	CALL_PROGRAM(exit, call, , return end;)

#define FREQUENT_CALL(call, first, second, begin, end)                                       \
	CALL_PROGRAM(enter, call, RUN_COUNTER(first), run_counter_add(first); return begin;) \
	CALL_PROGRAM(exit, call, RUN_COUNTER(second), run_counter_add(second); return end;)

/* Directories do not count. */
#define BEGIN_UNLINKAT (ctx->args[2] & AT_REMOVEDIR ? 0 : begin_simply(delete))

FREQUENT_CALL(openat, 0, 1, begin_simply(open), end_open(ctx->ret))
FREQUENT_CALL(unlinkat, 2, 3, BEGIN_UNLINKAT, end_delete(ctx->ret))
RARE_CALL(fsync, begin_sync(ctx->args[0]), end_sync())
RARE_CALL(fdatasync, begin_sync(ctx->args[0]), end_sync())
RARE_CALL(openat2, begin_simply(open), end_open(ctx->ret))
RARE_CALL(renameat, begin_simply(rename), end_rename(ctx->ret))
RARE_CALL(renameat2, begin_simply(rename), end_rename(ctx->ret))

/* Loaded only with both options. */
#define MOVE_CALL(call, operation, first, second)                                                  \
	CALL_PROGRAM(enter, call, OPTION("top_files") RUN_COUNTER(first), run_counter_add(first);  \
		     return begin_move(operation, ctx->args[0]);)                                  \
	CALL_PROGRAM(exit, call, OPTION("top_files") RUN_COUNTER(second), run_counter_add(second); \
		     return end_move(operation, ctx->ret);)

MOVE_CALL(read, read, 12, 13)
MOVE_CALL(write, write, 14, 15)
MOVE_CALL(pread64, read, 16, 17)
MOVE_CALL(pwrite64, write, 18, 19)
MOVE_CALL(readv, read, 20, 21)
MOVE_CALL(writev, write, 22, 23)
MOVE_CALL(preadv, read, 24, 25)
MOVE_CALL(pwritev, write, 26, 27)
MOVE_CALL(preadv2, read, 28, 29)
MOVE_CALL(pwritev2, write, 30, 31)

/* Newer architectures lack the calls without a directory argument. */
#ifdef __TARGET_ARCH_x86
FREQUENT_CALL(open, 4, 5, begin_simply(open), end_open(ctx->ret))
FREQUENT_CALL(creat, 6, 7, begin_simply(open), end_open(ctx->ret))
FREQUENT_CALL(unlink, 8, 9, begin_simply(delete), end_delete(ctx->ret))
FREQUENT_CALL(rename, 10, 11, begin_simply(rename), end_rename(ctx->ret))
#endif

char LICENSE[] SEC("license") DEFAULT(off) HELP(
	"Files: opens, creates, deletes and renames by service, and how long file operations take") =
	"Dual MIT/GPL";
