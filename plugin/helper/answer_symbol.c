/* SPDX-License-Identifier: MIT */
/*
 * What a worker does with programs and libraries, see answer.c: it opens them, has them read by a
 * program that can do nothing else, and has the kernel attach to them. System calls alone.
 */
#include "answer.h"

#include "confined.h"
#include "descriptor.h"
#include "symbol_message.h"
#include "util/scoped_open.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MULTIARCH "x86_64-linux-gnu"
#else
#define MULTIARCH "aarch64-linux-gnu"
#endif
#define HELD (O_PATH | O_CLOEXEC) /* without opening what may be a device or wait */

static int hold_of_process(int pid, const char *path)
{
	char root[32];
	int directory, fd;

	snprintf(root, sizeof(root), "/proc/%d", pid);
	if (access(root, F_OK) != 0)
		return -ESRCH;
	snprintf(root, sizeof(root), "/proc/%d/%s", pid, path[0] ? "root" : "exe");
	directory = open(root, HELD);
	if (directory < 0 || !path[0])
		return directory < 0 ? -errno : directory;
	/* A link of a container leads to where its processes would find it. */
	fd = scoped_open(directory, path, HELD, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	close(directory);
	return fd;
}

/* Where libbpf looks, too, and in the same order. */
static int hold_by_name(const char *name)
{
	static const char *const libraries[] = { "/usr/lib64", "/usr/lib",
						 ("/usr/lib/" MULTIARCH) };
	static const char *const programs[] = { "/usr/bin", "/usr/sbin", "/usr/local/bin" };
	bool is_library = strstr(name, ".so") != NULL;
	char path[QUESTION_PATH_MAX + 32];
	int fd = -1;

	for (int i = 0; i < 3 && fd < 0; i++) {
		snprintf(path, sizeof(path), "%s/%s", is_library ? libraries[i] : programs[i],
			 name);
		fd = open(path, HELD);
	}
	return fd < 0 ? -errno : fd;
}

static int hold(int pid, const char *path)
{
	int fd;

	if (pid)
		return hold_of_process(pid, path);
	if (!strchr(path, '/'))
		return hold_by_name(path);
	fd = open(path, HELD);
	return fd < 0 ? -errno : fd;
}

/* Opens a regular file that is held; the kernel may read it in the daemon when an uprobe ends, so
 * it must be none of a program. */
static int open_held(int held, struct stat *ret_file)
{
	char path[32];
	int fd;

	if (answer_is_foreign(held))
		return -EREMOTE;
	if (fstat(held, ret_file) != 0)
		return -errno;
	if (!S_ISREG(ret_file->st_mode))
		return S_ISDIR(ret_file->st_mode) ? -EISDIR : -EINVAL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", held);
	fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Of which each mount has a device of its own for the same files below. */
static bool is_overlay(int fd)
{
	struct statfs system;

	return fstatfs(fd, &system) == 0 && system.f_type == OVERLAYFS_SUPER_MAGIC;
}

bool answer_open(int socket, const struct question *question, const char *path)
{
	struct open_answer answer = { 0 };
	int held = hold(question->pid, path), fd = held;
	struct stat file;
	bool sent;

	if (held >= 0) {
		fd = open_held(held, &file);
		close(held);
	}
	if (fd < 0)
		answer.status = fd;
	else
		answer = (struct open_answer){
			.is_overlay = is_overlay(fd),
			.device = file.st_dev,
			.inode = file.st_ino,
			.size = (uint64_t)file.st_size,
			.changed_ns = (uint64_t)file.st_mtim.tv_sec * 1000000000U +
				      (uint64_t)file.st_mtim.tv_nsec,
		};
	sent = descriptor_send(socket, &answer, sizeof(answer), fd >= 0 ? fd : -1);
	if (fd >= 0)
		close(fd);
	return sent;
}

bool answer_symbols(int socket, const char *program, const int *descriptors, size_t count)
{
	int fd = open(program, HELD);
	struct run_answer answer = { .status = fd < 0 ? -errno : 0 };

	if (fd >= 0) {
		answer.status = faccessat(fd, "", X_OK, AT_EMPTY_PATH) != 0
					? -EACCES
					: confined_run(fd, "ebpf-symbols", descriptors, count,
						       SYMBOL_CPU_S, SYMBOL_WAIT_MS, &answer.ended);
		close(fd);
	}
	return socket_send(socket, &answer, sizeof(answer));
}

bool answer_uprobe(int socket, const struct question *question, int file)
{
	char path[32];
	struct perf_event_attr attributes = {
		.type = question->pmu_type,
		.size = sizeof(attributes),
		.config = question->config,
		.config1 = (uint64_t)(uintptr_t)path,
		.config2 = question->offset,
	};
	struct uprobe_answer answer = { 0 };
	int event;
	bool sent;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	/* Not of this CPU alone: the program is run on all. */
	event = (int)syscall(SYS_perf_event_open, &attributes, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	answer.status = event < 0 ? -errno : 0;
	sent = descriptor_send(socket, &answer, sizeof(answer), event >= 0 ? event : -1);
	if (event >= 0)
		close(event);
	return sent;
}
