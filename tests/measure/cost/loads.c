/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into collectd: what the kernel does to load each BPF program. Appends a line for each to the file that
 * LOADS_FILE names: name, instructions, how many the verifier has processed, CPU time in nanoseconds. A program
 * that is refused has 0 processed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ARGUMENTS 6

typedef long (*system_call)(long number, ...);

static system_call kernel;

static uint64_t cpu_ns(void)
{
	struct timespec at;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
	return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

static uint32_t processed(long fd)
{
	struct bpf_prog_info info = { 0 };
	union bpf_attr attr = {
		.info = { .bpf_fd = (uint32_t)fd,
			  .info_len = sizeof(info),
			  .info = (uintptr_t)&info },
	};

	if (fd < 0 || kernel(__NR_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)) < 0)
		return 0;
	return info.verified_insns;
}

static void note(const union bpf_attr *program, long fd, uint64_t taken_ns)
{
	const char *path = getenv("LOADS_FILE");
	FILE *file = path ? fopen(path, "ae") : NULL;

	if (!file)
		return;
	fprintf(file, "%s %u %u %llu\n", program->prog_name[0] ? program->prog_name : "-",
		program->insn_cnt, processed(fd), (unsigned long long)taken_ns);
	fclose(file);
}

static long load(const long *a)
{
	uint64_t begin = cpu_ns();
	long fd = kernel(__NR_bpf, a[0], a[1], a[2]);
	int error = errno;

	note((const union bpf_attr *)(uintptr_t)a[1], fd, cpu_ns() - begin);
	errno = error;
	return fd;
}

/* libbpf enters the kernel only by syscall(). */
__attribute__((visibility("default"))) long syscall(long number, ...)
{
	long a[ARGUMENTS];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < ARGUMENTS; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (!kernel)
		kernel = (system_call)dlsym(RTLD_NEXT, "syscall");
	if (number == __NR_bpf && a[0] == BPF_PROG_LOAD)
		return load(a);
	return kernel(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
