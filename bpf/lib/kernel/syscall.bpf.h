/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * System calls by number: what those do that may block, and where the bytes are that they move.
 * 32-bit programs number them differently.
 */
#ifndef KERNEL_SYSCALL_BPF_H
#define KERNEL_SYSCALL_BPF_H

#include "sched.bpf.h"

#ifdef __TARGET_ARCH_x86
#define CALL_SENDFILE_NUMBER 40
#define CALL_FUTEX_NUMBER 202
#else
#define CALL_SENDFILE_NUMBER 71
#define CALL_FUTEX_NUMBER 98
#endif

/* Arguments of fcntl and futex. */
#define F_SETLKW 7
#define F_OFD_SETLKW 38
#define FUTEX_COMMAND 127 /* without flags */
#define FUTEX_PRIVATE_FLAG 128
#define FUTEX_CLOCK_REALTIME 256
#define CALL_EPOLL_PWAIT2_NUMBER 441

#define CALLS_END 1024 /* above all numbers that kernels use; programs can pass any number */

/* Those that wait. */
enum futex_command {
	FUTEX_WAIT = 0,
	FUTEX_LOCK_PI = 6,
	FUTEX_WAIT_BITSET = 9,
	FUTEX_WAIT_REQUEUE_PI = 11,
	FUTEX_LOCK_PI2 = 13,
};

/* clang-format off */
enum call_kind {
	CALL_OTHER,
	CALL_RECEIVE,  /* reads the file of its first argument */
	CALL_SEND,     /* writes it */
	CALL_ACCEPT,
	CALL_CONNECT,
	CALL_EPOLL,
	CALL_POLL,     /* timeout in milliseconds */
	CALL_PPOLL,    /* address of a timeout */
	CALL_SELECT,
	CALL_IO_URING,
	CALL_LOCK,
	CALL_TIMED_LOCK, /* address of a timeout in argument 4 */
	CALL_FUTEX,      /* the same, if the operation waits */
	CALL_FUTEX_WAIT, /* address of a timeout in argument 5 */
	CALL_FCNTL,
	CALL_SLEEP,
	CALL_CHILD,    /* waits for a child process */
	CALL_EVENT,    /* waits for a signal or a message */
	CALL_RESTART,  /* continues one that a stop has interrupted, with the same arguments */
	CALL_SYNC,     /* waits until files are on disk, or their I/O is done */
	CALL_FILES,    /* names, attributes and space of files */
	CALL_MEMORY,   /* mappings */
};

static const u8 call_kinds[] = {
#ifdef __TARGET_ARCH_x86
	[0] = CALL_RECEIVE,      /* read */
	[1] = CALL_SEND,         /* write */
	[2] = CALL_FILES,        /* open */
	[3] = CALL_FILES,        /* close */
	[4] = CALL_FILES,        /* stat */
	[5] = CALL_FILES,        /* fstat */
	[6] = CALL_FILES,        /* lstat */
	[7] = CALL_POLL,         /* poll */
	[9] = CALL_MEMORY,       /* mmap */
	[10] = CALL_MEMORY,      /* mprotect */
	[11] = CALL_MEMORY,      /* munmap */
	[12] = CALL_MEMORY,      /* brk */
	[17] = CALL_RECEIVE,     /* pread64 */
	[18] = CALL_SEND,        /* pwrite64 */
	[19] = CALL_RECEIVE,     /* readv */
	[20] = CALL_SEND,        /* writev */
	[21] = CALL_FILES,       /* access */
	[23] = CALL_SELECT,      /* select */
	[25] = CALL_MEMORY,      /* mremap */
	[26] = CALL_SYNC,        /* msync */
	[28] = CALL_MEMORY,      /* madvise */
	[34] = CALL_EVENT,       /* pause */
	[35] = CALL_SLEEP,       /* nanosleep */
	[40] = CALL_SEND,        /* sendfile */
	[42] = CALL_CONNECT,     /* connect */
	[43] = CALL_ACCEPT,      /* accept */
	[44] = CALL_SEND,        /* sendto */
	[45] = CALL_RECEIVE,     /* recvfrom */
	[46] = CALL_SEND,        /* sendmsg */
	[47] = CALL_RECEIVE,     /* recvmsg */
	[56] = CALL_CHILD,       /* clone */
	[58] = CALL_CHILD,       /* vfork */
	[61] = CALL_CHILD,       /* wait4 */
	[65] = CALL_LOCK,        /* semop */
	[69] = CALL_EVENT,       /* msgsnd */
	[70] = CALL_EVENT,       /* msgrcv */
	[72] = CALL_FCNTL,       /* fcntl */
	[73] = CALL_LOCK,        /* flock */
	[74] = CALL_SYNC,        /* fsync */
	[75] = CALL_SYNC,        /* fdatasync */
	[76] = CALL_FILES,       /* truncate */
	[77] = CALL_FILES,       /* ftruncate */
	[78] = CALL_FILES,       /* getdents */
	[80] = CALL_FILES,       /* chdir */
	[81] = CALL_FILES,       /* fchdir */
	[82] = CALL_FILES,       /* rename */
	[83] = CALL_FILES,       /* mkdir */
	[84] = CALL_FILES,       /* rmdir */
	[85] = CALL_FILES,       /* creat */
	[86] = CALL_FILES,       /* link */
	[87] = CALL_FILES,       /* unlink */
	[88] = CALL_FILES,       /* symlink */
	[89] = CALL_FILES,       /* readlink */
	[90] = CALL_FILES,       /* chmod */
	[91] = CALL_FILES,       /* fchmod */
	[92] = CALL_FILES,       /* chown */
	[93] = CALL_FILES,       /* fchown */
	[94] = CALL_FILES,       /* lchown */
	[128] = CALL_EVENT,      /* rt_sigtimedwait */
	[130] = CALL_EVENT,      /* rt_sigsuspend */
	[132] = CALL_FILES,      /* utime */
	[133] = CALL_FILES,      /* mknod */
	[137] = CALL_FILES,      /* statfs */
	[138] = CALL_FILES,      /* fstatfs */
	[149] = CALL_MEMORY,     /* mlock */
	[150] = CALL_MEMORY,     /* munlock */
	[151] = CALL_MEMORY,     /* mlockall */
	[152] = CALL_MEMORY,     /* munlockall */
	[162] = CALL_SYNC,       /* sync */
	[187] = CALL_FILES,      /* readahead */
	[188] = CALL_FILES,      /* setxattr */
	[189] = CALL_FILES,      /* lsetxattr */
	[190] = CALL_FILES,      /* fsetxattr */
	[191] = CALL_FILES,      /* getxattr */
	[192] = CALL_FILES,      /* lgetxattr */
	[193] = CALL_FILES,      /* fgetxattr */
	[194] = CALL_FILES,      /* listxattr */
	[195] = CALL_FILES,      /* llistxattr */
	[196] = CALL_FILES,      /* flistxattr */
	[197] = CALL_FILES,      /* removexattr */
	[198] = CALL_FILES,      /* lremovexattr */
	[199] = CALL_FILES,      /* fremovexattr */
	[202] = CALL_FUTEX,      /* futex */
	[208] = CALL_SYNC,       /* io_getevents */
	[209] = CALL_FILES,      /* io_submit */
	[217] = CALL_FILES,      /* getdents64 */
	[219] = CALL_RESTART,    /* restart_syscall */
	[220] = CALL_TIMED_LOCK, /* semtimedop */
	[221] = CALL_FILES,      /* fadvise64 */
	[230] = CALL_SLEEP,      /* clock_nanosleep */
	[232] = CALL_EPOLL,      /* epoll_wait */
	[235] = CALL_FILES,      /* utimes */
	[242] = CALL_EVENT,      /* mq_timedsend */
	[243] = CALL_EVENT,      /* mq_timedreceive */
	[247] = CALL_CHILD,      /* waitid */
	[257] = CALL_FILES,      /* openat */
	[258] = CALL_FILES,      /* mkdirat */
	[259] = CALL_FILES,      /* mknodat */
	[260] = CALL_FILES,      /* fchownat */
	[261] = CALL_FILES,      /* futimesat */
	[262] = CALL_FILES,      /* newfstatat */
	[263] = CALL_FILES,      /* unlinkat */
	[264] = CALL_FILES,      /* renameat */
	[265] = CALL_FILES,      /* linkat */
	[266] = CALL_FILES,      /* symlinkat */
	[267] = CALL_FILES,      /* readlinkat */
	[268] = CALL_FILES,      /* fchmodat */
	[269] = CALL_FILES,      /* faccessat */
	[270] = CALL_SELECT,     /* pselect6 */
	[271] = CALL_PPOLL,      /* ppoll */
	[277] = CALL_SYNC,       /* sync_file_range */
	[280] = CALL_FILES,      /* utimensat */
	[281] = CALL_EPOLL,      /* epoll_pwait */
	[285] = CALL_FILES,      /* fallocate */
	[288] = CALL_ACCEPT,     /* accept4 */
	[295] = CALL_RECEIVE,    /* preadv */
	[296] = CALL_SEND,       /* pwritev */
	[299] = CALL_RECEIVE,    /* recvmmsg */
	[306] = CALL_SYNC,       /* syncfs */
	[307] = CALL_SEND,       /* sendmmsg */
	[316] = CALL_FILES,      /* renameat2 */
	[325] = CALL_MEMORY,     /* mlock2 */
	[326] = CALL_FILES,      /* copy_file_range */
	[327] = CALL_RECEIVE,    /* preadv2 */
	[328] = CALL_SEND,       /* pwritev2 */
	[329] = CALL_MEMORY,     /* pkey_mprotect */
	[332] = CALL_FILES,      /* statx */
	[333] = CALL_SYNC,       /* io_pgetevents */
#else
	[2] = CALL_FILES,        /* io_submit */
	[4] = CALL_SYNC,         /* io_getevents */
	[5] = CALL_FILES,        /* setxattr */
	[6] = CALL_FILES,        /* lsetxattr */
	[7] = CALL_FILES,        /* fsetxattr */
	[8] = CALL_FILES,        /* getxattr */
	[9] = CALL_FILES,        /* lgetxattr */
	[10] = CALL_FILES,       /* fgetxattr */
	[11] = CALL_FILES,       /* listxattr */
	[12] = CALL_FILES,       /* llistxattr */
	[13] = CALL_FILES,       /* flistxattr */
	[14] = CALL_FILES,       /* removexattr */
	[15] = CALL_FILES,       /* lremovexattr */
	[16] = CALL_FILES,       /* fremovexattr */
	[22] = CALL_EPOLL,       /* epoll_pwait */
	[25] = CALL_FCNTL,       /* fcntl */
	[32] = CALL_LOCK,        /* flock */
	[33] = CALL_FILES,       /* mknodat */
	[34] = CALL_FILES,       /* mkdirat */
	[35] = CALL_FILES,       /* unlinkat */
	[36] = CALL_FILES,       /* symlinkat */
	[37] = CALL_FILES,       /* linkat */
	[38] = CALL_FILES,       /* renameat */
	[43] = CALL_FILES,       /* statfs */
	[44] = CALL_FILES,       /* fstatfs */
	[45] = CALL_FILES,       /* truncate */
	[46] = CALL_FILES,       /* ftruncate */
	[47] = CALL_FILES,       /* fallocate */
	[48] = CALL_FILES,       /* faccessat */
	[49] = CALL_FILES,       /* chdir */
	[50] = CALL_FILES,       /* fchdir */
	[51] = CALL_FILES,       /* chroot */
	[52] = CALL_FILES,       /* fchmod */
	[53] = CALL_FILES,       /* fchmodat */
	[54] = CALL_FILES,       /* fchownat */
	[55] = CALL_FILES,       /* fchown */
	[56] = CALL_FILES,       /* openat */
	[57] = CALL_FILES,       /* close */
	[61] = CALL_FILES,       /* getdents64 */
	[63] = CALL_RECEIVE,     /* read */
	[64] = CALL_SEND,        /* write */
	[65] = CALL_RECEIVE,     /* readv */
	[66] = CALL_SEND,        /* writev */
	[67] = CALL_RECEIVE,     /* pread64 */
	[68] = CALL_SEND,        /* pwrite64 */
	[69] = CALL_RECEIVE,     /* preadv */
	[70] = CALL_SEND,        /* pwritev */
	[71] = CALL_SEND,        /* sendfile */
	[72] = CALL_SELECT,      /* pselect6 */
	[73] = CALL_PPOLL,       /* ppoll */
	[78] = CALL_FILES,       /* readlinkat */
	[79] = CALL_FILES,       /* newfstatat */
	[80] = CALL_FILES,       /* fstat */
	[81] = CALL_SYNC,        /* sync */
	[82] = CALL_SYNC,        /* fsync */
	[83] = CALL_SYNC,        /* fdatasync */
	[84] = CALL_SYNC,        /* sync_file_range2 */
	[88] = CALL_FILES,       /* utimensat */
	[95] = CALL_CHILD,       /* waitid */
	[98] = CALL_FUTEX,       /* futex */
	[101] = CALL_SLEEP,      /* nanosleep */
	[115] = CALL_SLEEP,      /* clock_nanosleep */
	[128] = CALL_RESTART,    /* restart_syscall */
	[133] = CALL_EVENT,      /* rt_sigsuspend */
	[137] = CALL_EVENT,      /* rt_sigtimedwait */
	[182] = CALL_EVENT,      /* mq_timedsend */
	[183] = CALL_EVENT,      /* mq_timedreceive */
	[188] = CALL_EVENT,      /* msgrcv */
	[189] = CALL_EVENT,      /* msgsnd */
	[192] = CALL_TIMED_LOCK, /* semtimedop */
	[193] = CALL_LOCK,       /* semop */
	[202] = CALL_ACCEPT,     /* accept */
	[203] = CALL_CONNECT,    /* connect */
	[206] = CALL_SEND,       /* sendto */
	[207] = CALL_RECEIVE,    /* recvfrom */
	[211] = CALL_SEND,       /* sendmsg */
	[212] = CALL_RECEIVE,    /* recvmsg */
	[213] = CALL_FILES,      /* readahead */
	[214] = CALL_MEMORY,     /* brk */
	[215] = CALL_MEMORY,     /* munmap */
	[216] = CALL_MEMORY,     /* mremap */
	[220] = CALL_CHILD,      /* clone */
	[222] = CALL_MEMORY,     /* mmap */
	[223] = CALL_FILES,      /* fadvise64 */
	[226] = CALL_MEMORY,     /* mprotect */
	[227] = CALL_SYNC,       /* msync */
	[228] = CALL_MEMORY,     /* mlock */
	[229] = CALL_MEMORY,     /* munlock */
	[230] = CALL_MEMORY,     /* mlockall */
	[231] = CALL_MEMORY,     /* munlockall */
	[233] = CALL_MEMORY,     /* madvise */
	[242] = CALL_ACCEPT,     /* accept4 */
	[243] = CALL_RECEIVE,    /* recvmmsg */
	[260] = CALL_CHILD,      /* wait4 */
	[267] = CALL_SYNC,       /* syncfs */
	[269] = CALL_SEND,       /* sendmmsg */
	[276] = CALL_FILES,      /* renameat2 */
	[284] = CALL_MEMORY,     /* mlock2 */
	[285] = CALL_FILES,      /* copy_file_range */
	[286] = CALL_RECEIVE,    /* preadv2 */
	[287] = CALL_SEND,       /* pwritev2 */
	[288] = CALL_MEMORY,     /* pkey_mprotect */
	[291] = CALL_FILES,      /* statx */
	[292] = CALL_SYNC,       /* io_pgetevents */
#endif
	[426] = CALL_IO_URING,   /* io_uring_enter */
	[435] = CALL_CHILD,      /* clone3 */
	[436] = CALL_FILES,      /* close_range */
	[437] = CALL_FILES,      /* openat2 */
	[439] = CALL_FILES,      /* faccessat2 */
	[440] = CALL_MEMORY,     /* process_madvise */
	[441] = CALL_EPOLL,      /* epoll_pwait2 */
	[449] = CALL_TIMED_LOCK, /* futex_waitv */
	[452] = CALL_FILES,      /* fchmodat2 */
	[455] = CALL_FUTEX_WAIT, /* futex_wait */
};

/* Where a CALL_RECEIVE or CALL_SEND has its bytes. */
enum call_bytes {
	BYTES_UNKNOWN,
	BYTES_BUFFER,  /* arguments 2 and 3: address and number */
	BYTES_VECTORS, /* likewise, of struct iovec */
	BYTES_MESSAGE, /* argument 2: address of a struct msghdr */
};

static const u8 calls_bytes[] = {
#ifdef __TARGET_ARCH_x86
	[0] = BYTES_BUFFER,     /* read */
	[1] = BYTES_BUFFER,     /* write */
	[19] = BYTES_VECTORS,   /* readv */
	[20] = BYTES_VECTORS,   /* writev */
	[44] = BYTES_BUFFER,    /* sendto */
	[45] = BYTES_BUFFER,    /* recvfrom */
	[46] = BYTES_MESSAGE,   /* sendmsg */
	[47] = BYTES_MESSAGE,   /* recvmsg */
	[327] = BYTES_VECTORS,  /* preadv2 */
	[328] = BYTES_VECTORS,  /* pwritev2 */
#else
	[63] = BYTES_BUFFER,    /* read */
	[64] = BYTES_BUFFER,    /* write */
	[65] = BYTES_VECTORS,   /* readv */
	[66] = BYTES_VECTORS,   /* writev */
	[206] = BYTES_BUFFER,   /* sendto */
	[207] = BYTES_BUFFER,   /* recvfrom */
	[211] = BYTES_MESSAGE,  /* sendmsg */
	[212] = BYTES_MESSAGE,  /* recvmsg */
	[286] = BYTES_VECTORS,  /* preadv2 */
	[287] = BYTES_VECTORS,  /* pwritev2 */
#endif
};
/* clang-format on */

/* The function by which the architecture enters a system call. */
#ifdef __TARGET_ARCH_x86
#define SYSCALL_FUNCTION(call) "__x64_sys_" #call
#else
#define SYSCALL_FUNCTION(call) "__arm64_sys_" #call
#endif

/* What perf passes to programs at the tracepoints of system calls. */
struct syscall_enter {
	u64 common;
	u64 nr;
	u64 args[6];
};

struct syscall_exit {
	u64 common;
	u64 nr;
	s64 ret;
};

/* ~0: the thread entered the kernel by a fault or an interrupt. */
static __always_inline u32 call_number(const struct pt_regs *regs)
{
#ifdef __TARGET_ARCH_x86
	return regs->orig_ax;
#else
	return regs->syscallno;
#endif
}

/* An argument of the call that a thread is in, counted from 1. A plain load, while libbpf's macros
 * call a helper. */
static __always_inline u64 call_argument(const struct pt_regs *regs, u32 number)
{
#ifdef __TARGET_ARCH_x86
	switch (number) {
	case 1:
		return regs->di;
	case 2:
		return regs->si;
	case 3:
		return regs->dx;
	case 4:
		return regs->r10;
	default:
		return regs->r8;
	}
#else
	/* The register of the first argument holds the result by now. */
	return number == 1 ? regs->orig_x0 : regs->regs[number - 1];
#endif
}

#ifdef __TARGET_ARCH_x86
/* Stack and frame pointer of the thread's user code. */
static __always_inline u64 user_stack_pointer(const struct pt_regs *regs)
{
	return regs->sp;
}

static __always_inline u64 user_frame_pointer(const struct pt_regs *regs)
{
	return regs->bp;
}
#endif

/* The number for names; all numbers that no kernel has become one. */
static __always_inline u32 call_name(u64 number)
{
	return number < CALLS_END ? number : CALLS_END;
}

/* The index into a table by number. clang 19 would compare the lower half of a register and then
 * mask it, and the verifier of Linux 6.1 loses the bound. */
static __always_inline u64 call_index(u32 number)
{
	u64 index = number;

	asm volatile("" : "+r"(index));
	return index;
}

static __always_inline enum call_kind call_kind(u32 number)
{
	u64 index = call_index(number);

	return index < sizeof(call_kinds) ? call_kinds[index] : CALL_OTHER;
}

/* The kind of the call that a CALL_RESTART continues. The kernel remembers the first arguments of a
 * poll and of a futex with a timeout; all others sleep. */
static __always_inline enum call_kind call_restarted(const struct task_struct *task,
						     const struct pt_regs *regs)
{
	u64 first = (u64)BPF_CORE_READ(task, restart_block.poll.ufds);

	if (first != call_argument(regs, 1))
		return CALL_SLEEP;
	if (BPF_CORE_READ(task, restart_block.poll.nfds) == (u32)call_argument(regs, 2))
		return CALL_POLL;
	return BPF_CORE_READ(task, restart_block.futex.val) == (u32)call_argument(regs, 3)
		       ? CALL_FUTEX
		       : CALL_SLEEP;
}

static __always_inline enum call_bytes call_bytes(u32 number)
{
	u64 index = call_index(number);

	return index < sizeof(calls_bytes) ? calls_bytes[index] : BYTES_UNKNOWN;
}

/* Does it write the file of its first argument? sendfile reads that file. */
static __always_inline bool call_writes(u32 number)
{
	return call_kind(number) == CALL_SEND && number != CALL_SENDFILE_NUMBER;
}

#endif
