/* SPDX-License-Identifier: MIT */
/*
 * What a helper process does with programs and libraries: it opens them, runs ebpf-symbols, which
 * can do nothing but read them, and has the kernel make uprobes. It makes system calls only, see
 * helper_process.c.
 */
#include "helper_process.h"

#include "confined_program.h"
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
/* finds a file without opening it, as it may be a device, or wait */
#define FIND (O_PATH | O_CLOEXEC)

static int find_in_process(int pid, const char *path)
{
	char root[32];
	int directory, fd;

	snprintf(root, sizeof(root), "/proc/%d", pid);
	if (access(root, F_OK) != 0)
		return -ESRCH;
	snprintf(root, sizeof(root), "/proc/%d/%s", pid, path[0] ? "root" : "exe");
	directory = open(root, FIND);
	if (directory < 0 || !path[0])
		return directory < 0 ? -errno : directory;
	/* Links of a container lead to where its processes would find them. */
	fd = scoped_open(directory, path, FIND, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	close(directory);
	return fd;
}

/* The directories that libbpf searches, in the same order. */
static int find_by_name(const char *name)
{
	static const char *const libraries[] = { "/usr/lib64", "/usr/lib",
						 ("/usr/lib/" MULTIARCH) };
	static const char *const programs[] = { "/usr/bin", "/usr/sbin", "/usr/local/bin" };
	bool is_library = strstr(name, ".so") != NULL;
	char path[HELPER_PATH_MAX + 32];
	int fd = -1;

	for (int i = 0; i < 3 && fd < 0; i++) {
		snprintf(path, sizeof(path), "%s/%s", is_library ? libraries[i] : programs[i],
			 name);
		fd = open(path, FIND);
	}
	return fd < 0 ? -errno : fd;
}

static int find_path(int pid, const char *path)
{
	int fd;

	if (pid)
		return find_in_process(pid, path);
	if (!strchr(path, '/'))
		return find_by_name(path);
	fd = open(path, FIND);
	return fd < 0 ? -errno : fd;
}

/* Opens for reading a file that was found. The kernel may read it in the daemon when a uprobe ends,
 * so it must not be on FUSE. */
static int open_found(int found, struct stat *ret_file)
{
	char path[32];
	int fd;

	if (descriptor_is_foreign(found))
		return -EREMOTE;
	if (fstat(found, ret_file) != 0)
		return -errno;
	if (!S_ISREG(ret_file->st_mode))
		return S_ISDIR(ret_file->st_mode) ? -EISDIR : -EINVAL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
	fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Each overlay mount has a device number of its own for the same files below. */
static bool is_overlay(int fd)
{
	struct statfs system;

	return fstatfs(fd, &system) == 0 && system.f_type == OVERLAYFS_SUPER_MAGIC;
}

bool helper_serve_open(int socket, const struct helper_request *request, const char *path)
{
	struct open_reply reply = { 0 };
	int found = find_path(request->pid, path), fd = found;
	struct stat file;
	bool sent;

	if (found >= 0) {
		fd = open_found(found, &file);
		close(found);
	}
	if (fd < 0)
		reply.status = fd;
	else
		reply = (struct open_reply){
			.is_overlay = is_overlay(fd),
			.device = file.st_dev,
			.inode = file.st_ino,
			.size = (uint64_t)file.st_size,
			.changed_ns = (uint64_t)file.st_mtim.tv_sec * 1000000000U +
				      (uint64_t)file.st_mtim.tv_nsec,
		};
	sent = descriptor_send(socket, &reply, sizeof(reply), fd >= 0 ? fd : -1);
	if (fd >= 0)
		close(fd);
	return sent;
}

bool helper_serve_symbols(int socket, const char *program, const int *descriptors, size_t count)
{
	int fd = open(program, FIND);
	struct run_reply reply = { .status = fd < 0 ? -errno : 0 };

	if (fd >= 0) {
		reply.status = faccessat(fd, "", X_OK, AT_EMPTY_PATH) != 0
				       ? -EACCES
				       : confined_run(fd, "ebpf-symbols", descriptors, count,
						      SYMBOL_CPU_S, SYMBOL_WAIT_MS, &reply.ended);
		close(fd);
	}
	return socket_send(socket, &reply, sizeof(reply));
}

bool helper_serve_uprobe(int socket, const struct helper_request *request, int file)
{
	char path[32];
	struct perf_event_attr attributes = {
		.type = request->pmu_type,
		.size = sizeof(attributes),
		.config = request->config,
		.config1 = (uint64_t)(uintptr_t)path,
		.config2 = request->offset,
	};
	struct uprobe_reply reply = { 0 };
	int event;
	bool sent;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	/* The event is of CPU 0, but a uprobe's program runs on all CPUs. */
	event = (int)syscall(SYS_perf_event_open, &attributes, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	reply.status = event < 0 ? -errno : 0;
	sent = descriptor_send(socket, &reply, sizeof(reply), event >= 0 ? event : -1);
	if (event >= 0)
		close(event);
	return sent;
}
