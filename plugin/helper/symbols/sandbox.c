/* SPDX-License-Identifier: MIT */
/*
 * The sandbox of ebpf-symbols: a file that takes the process over can do nothing. The helper has
 * taken away all privileges before (see plugin/helper/confined_program.c); this is what has to wait until
 * the libraries are loaded.
 */
#include "sandbox.h"

#include "helper/symbol_message.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define ALLOW(number)                                            \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##number, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

#define REFUSE(number)                                           \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##number, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES)

static struct sock_filter filter[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	ALLOW(read),
	ALLOW(pread64),
	ALLOW(write),
	ALLOW(lseek),
	ALLOW(fstat),
#ifdef SYS_newfstatat
	ALLOW(newfstatat), /* how newer C libraries call fstat */
#endif
	ALLOW(fcntl), /* libelf asks whether a descriptor is open */
	ALLOW(brk),
	ALLOW(mmap),
	ALLOW(mremap),
	ALLOW(munmap),
	ALLOW(madvise),
	ALLOW(futex),
	ALLOW(getrandom), /* malloc of newer C libraries */
	ALLOW(rt_sigreturn),
	ALLOW(clock_gettime),
	/* libdw asks for the name of the file that it reads, and for files that DWARF names. */
	REFUSE(openat),
	REFUSE(readlinkat),
	REFUSE(getcwd),
#ifdef SYS_open
	REFUSE(open),
	REFUSE(readlink),
	REFUSE(lstat),
#endif
	ALLOW(exit),
	ALLOW(exit_group),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

#if defined(__SANITIZE_ADDRESS__)
/* AddressSanitizer needs unbounded address space and more system calls. */
int sandbox_enter(void)
{
	(void)filter;
	return 0;
}
#else
int sandbox_enter(void)
{
	struct rlimit memory = { SYMBOL_MEMORY_MAX, SYMBOL_MEMORY_MAX };
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	if (setrlimit(RLIMIT_AS, &memory) != 0 || prctl(PR_SET_DUMPABLE, 0) != 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		return -errno;
	return 0;
}
#endif
