/* SPDX-License-Identifier: MIT */
/*
 * What a helper process does for the daemon: it touches files of others, which may take for ever,
 * see file_helper.c. It is forked from a program with threads, so it makes system calls only.
 */
#include "helper_process.h"

#include "confined_program.h"
#include "descriptor.h"
#include "helper_message.h"
#include "symbol_message.h"
#include "util/scoped_open.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/magic.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHUNK_MAX 65536
#define LOCATION_SIZE (3 * sizeof(uint64_t)) /* offset, semaphore and cookie */
#if defined(__x86_64__)
#define MULTIARCH "x86_64-linux-gnu"
#else
#define MULTIARCH "aarch64-linux-gnu"
#endif
/* finds a file without opening it, as it may be a device, or wait */
#define FIND (O_PATH | O_CLOEXEC)

/* A request that has come as a whole, and is one that the table below allows. */
struct served_request {
	int socket; /* for the reply */
	struct helper_request head;
	char path[HELPER_PATH_MAX + 1];
	int descriptors[HELPER_DESCRIPTORS_MAX];
	union {
		struct read_request read;
		struct open_request open;
		struct event_request event;
		struct {
			struct link_request request;
			uint64_t numbers[3 * UPROBE_MULTI_MAX];
		} link;
	} payload;
};

static bool receive_all(int socket, void *to, size_t size)
{
	for (char *at = to; size;) {
		ssize_t got = recv(socket, at, size, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		size -= (size_t)got;
	}
	return true;
}

/* Sends all bytes, and the descriptor (negative: none) with them. */
static bool send_all(int socket, const void *from, size_t size, int fd)
{
	for (const char *at = from; size;) {
		ssize_t sent = descriptor_send(socket, at, size, 0, at == from ? fd : -1);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		at += sent;
		size -= (size_t)sent;
	}
	return true;
}

/* The same, and closes the descriptor. */
static bool send_with(int socket, const void *reply, size_t size, int fd)
{
	bool sent = send_all(socket, reply, size, fd);

	if (fd >= 0)
		close(fd);
	return sent;
}

/* --- finding a file --- */

/* Finds a file as the process sees it; path "": the program that it runs. `flags` may have O_NOFOLLOW. */
static int find_in_process(int pid, const char *path, int flags)
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
	fd = scoped_open(directory, path, (uint64_t)(FIND | flags),
			 RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	close(directory);
	return fd;
}

/* --- reading a file --- */

static bool send_chunk(int socket, int32_t size, const char *bytes)
{
	return send_all(socket, &size, sizeof(size), -1) &&
	       (size <= 0 || send_all(socket, bytes, (size_t)size, -1));
}

/* Reads names of a directory as read(2) reads bytes. The room is aligned as struct dirent64 is. */
static ssize_t read_directory_names(int fd, void *to, size_t size)
{
	ssize_t got = syscall(SYS_getdents64, fd, to, size), length = 0;

	for (ssize_t at = 0; at < got;) {
		const struct dirent64 *entry = (const struct dirent64 *)((char *)to + at);
		size_t name_size = strlen(entry->d_name) + 1;

		at += entry->d_reclen;
		memmove((char *)to + length, entry->d_name, name_size);
		length += (ssize_t)name_size;
	}
	return got < 0 ? got : length;
}

static bool send_content(int socket, int fd, uint64_t size_max,
			 ssize_t (*read_some)(int fd, void *to, size_t size))
{
	static char bytes[CHUNK_MAX] __attribute__((aligned(8)));

	while (size_max) {
		size_t most = size_max < sizeof(bytes) ? (size_t)size_max : sizeof(bytes);
		ssize_t got = read_some(fd, bytes, most);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return send_chunk(socket, -errno, NULL);
		if (got == 0)
			break;
		if (!send_chunk(socket, (int32_t)got, bytes))
			return false;
		size_max -= (uint64_t)got;
	}
	return send_chunk(socket, 0, NULL);
}

/* FUSE would let a user claim that a file is root's. */
static uid_t owner_of(int fd, const struct stat *file)
{
	return descriptor_is_foreign(fd) ? FILE_OWNER_UNKNOWN : file->st_uid;
}

/* Opens the path as the process sees it. O_NONBLOCK: a FIFO or device opens at once, and is then
 * refused. */
static int open_in_process(int pid, const char *path, int flags)
{
	char link[32];
	int found, fd;

	flags |= O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	if (!pid) {
		fd = open(path, flags);
		return fd < 0 ? -errno : fd;
	}
	found = find_in_process(pid, path, flags & O_NOFOLLOW);
	if (found < 0)
		return found;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
	fd = open(link, flags & ~O_NOFOLLOW);
	if (fd < 0)
		fd = -errno;
	close(found);
	return fd;
}

/* Opens a regular file, or with O_DIRECTORY a directory. */
static int open_to_read(const char *path, const struct read_request *read, struct stat *ret_file)
{
	int fd = open_in_process(read->pid, path, (int)read->flags);
	int status = fd < 0 ? fd : 0;

	if (status == 0 && fstat(fd, ret_file) != 0)
		status = -errno;
	if (status == 0 && !(read->flags & O_DIRECTORY) && !S_ISREG(ret_file->st_mode))
		status = S_ISDIR(ret_file->st_mode) ? -EISDIR : -EINVAL;
	if (status == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return status;
}

static uint64_t nanoseconds(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000U + (uint64_t)time->tv_nsec;
}

static struct file_stamp stamp_of(const struct stat *file)
{
	return (struct file_stamp){
		.device = file->st_dev,
		.inode = file->st_ino,
		.size = (uint64_t)file->st_size,
		.modified_ns = nanoseconds(&file->st_mtim),
		.changed_ns = nanoseconds(&file->st_ctim),
	};
}

static bool serve_read(const struct served_request *request)
{
	const struct read_request *read_request = &request->payload.read;
	struct stat file;
	int fd = open_to_read(request->path, read_request, &file);
	struct read_reply reply = { .status = fd < 0 ? fd : 0 };
	bool sent;

	if (fd >= 0) {
		reply.owner = owner_of(fd, &file);
		reply.mode = file.st_mode;
		reply.stamp = stamp_of(&file);
		if (!memcmp(&reply.stamp, &read_request->unless, sizeof(reply.stamp)))
			reply.status = -EALREADY;
	}
	sent = send_all(request->socket, &reply, sizeof(reply), -1) &&
	       (reply.status ||
		send_content(request->socket, fd, read_request->size_max,
			     read_request->flags & O_DIRECTORY ? read_directory_names : read));
	if (fd >= 0)
		close(fd);
	return sent;
}

/* --- opening a program or library --- */

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
		return find_in_process(pid, path, 0);
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

static bool serve_open(const struct served_request *request)
{
	struct open_reply reply = { 0 };
	int found = find_path(request->payload.open.pid, request->path), fd = found;
	struct stat file;

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
			.changed_ns = nanoseconds(&file.st_mtim),
		};
	return send_with(request->socket, &reply, sizeof(reply), fd);
}

/* --- running ebpf-symbols, which can do nothing but read --- */

static bool serve_symbols(const struct served_request *request)
{
	int fd = open(request->path, FIND);
	struct run_reply reply = { .status = fd < 0 ? -errno : 0 };

	if (fd >= 0) {
		reply.status = faccessat(fd, "", X_OK, AT_EMPTY_PATH) != 0
				       ? -EACCES
				       : confined_run(fd, "ebpf-symbols", request->descriptors,
						      request->head.descriptor_count, SYMBOL_CPU_S,
						      SYMBOL_WAIT_MS, &reply.ended);
		close(fd);
	}
	return send_all(request->socket, &reply, sizeof(reply), -1);
}

/* --- uprobes: the kernel reads the file when it puts its breakpoints there --- */

static uint64_t address_of(const void *of)
{
	return (uint64_t)(uintptr_t)of;
}

static bool send_made(int socket, int made)
{
	struct uprobe_reply reply = { .status = made < 0 ? made : 0 };

	return send_with(socket, &reply, sizeof(reply), made);
}

static bool serve_event(const struct served_request *request)
{
	char path[32];
	struct perf_event_attr attributes = {
		.type = request->payload.event.pmu_type,
		.size = sizeof(attributes),
		.config = request->payload.event.config,
		.config1 = address_of(path),
		.config2 = request->payload.event.offset,
	};
	int event;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", request->descriptors[0]);
	/* The event is of CPU 0, but a uprobe's program runs on all CPUs. */
	event = (int)syscall(SYS_perf_event_open, &attributes, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return send_made(request->socket, event < 0 ? -errno : event);
}

int uprobe_multi_create(struct uprobe_multi_attr *attr)
{
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, attr, sizeof(*attr));

	return fd < 0 ? -errno : fd;
}

static bool serve_link(const struct served_request *request)
{
	size_t size = request->head.payload_size - sizeof(request->payload.link.request);
	size_t count = size / LOCATION_SIZE;
	const uint64_t *numbers = request->payload.link.numbers;
	char path[32];
	struct uprobe_multi_attr all = {
		.program = (uint32_t)request->descriptors[0],
		.attach_type = UPROBE_MULTI_ATTACH_TYPE,
		.path = address_of(path),
		.offsets = address_of(numbers),
		.cookies = address_of(numbers + 2 * count),
		.count = (uint32_t)count,
		.uprobe_flags = (uint32_t)request->payload.link.request.flags,
	};

	snprintf(path, sizeof(path), "/proc/self/fd/%d", request->descriptors[1]);
	for (size_t i = count; i < 2 * count; i++)
		if (numbers[i])
			all.semaphores = address_of(numbers + count);
	return send_made(request->socket, uprobe_multi_create(&all));
}

/* --- the table of requests --- */

/* Each function serves one request and sends its reply; false: the daemon has closed the socket. */
static const struct served_kind {
	bool (*serve)(const struct served_request *request);
	uint32_t path_max;
	uint32_t descriptors_min, descriptors_max;
	uint32_t payload_size;
	uint32_t locations_max; /* that follow in the payload, one at least; 0: none may */
} served_kinds[HELPER_KINDS] = {
	[HELPER_READ] = { serve_read, HELPER_PATH_MAX, 0, 0, sizeof(struct read_request), 0 },
	[HELPER_OPEN] = { serve_open, HELPER_PATH_MAX, 0, 0, sizeof(struct open_request), 0 },
	[HELPER_SYMBOLS] = { serve_symbols, HELPER_PATH_MAX, SYMBOL_FD_DEBUG, SYMBOL_FD_COUNT, 0,
			     0 },
	[HELPER_UPROBE_EVENT] = { serve_event, 0, 1, 1, sizeof(struct event_request), 0 },
	[HELPER_UPROBE_MULTI] = { serve_link, 0, 2, 2, sizeof(struct link_request),
				  UPROBE_MULTI_MAX },
};

static bool is_allowed(const struct helper_request *head)
{
	const struct served_kind *kind;
	uint32_t locations_size;

	if (head->kind >= HELPER_KINDS)
		return false;
	kind = &served_kinds[head->kind];
	/* Of a payload that is too short this is a huge number. */
	locations_size = head->payload_size - kind->payload_size;
	return head->path_length <= kind->path_max &&
	       head->descriptor_count >= kind->descriptors_min &&
	       head->descriptor_count <= kind->descriptors_max &&
	       locations_size % LOCATION_SIZE == 0 &&
	       locations_size / LOCATION_SIZE <= kind->locations_max &&
	       (locations_size > 0) == (kind->locations_max > 0);
}

static bool serve_one(struct served_request *request)
{
	const struct helper_request *head = &request->head;
	uint32_t count = 0;
	bool is_served = receive_all(request->socket, request->path, head->path_length);

	request->path[head->path_length] = '\0';
	for (; count < head->descriptor_count && is_served; count += is_served) {
		request->descriptors[count] = descriptor_receive_one(request->socket);
		is_served = request->descriptors[count] >= 0;
	}
	is_served = is_served &&
		    receive_all(request->socket, &request->payload, head->payload_size) &&
		    served_kinds[head->kind].serve(request);
	while (count)
		close(request->descriptors[--count]);
	return is_served;
}

void helper_serve(int socket)
{
	static struct served_request request;

	/* Kills the helper when the starter exits, unless it waits where no signal ends the
	 * wait. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	request.socket = socket;
	while (receive_all(socket, &request.head, sizeof(request.head)) &&
	       is_allowed(&request.head) && serve_one(&request))
		;
	_exit(0);
}
