/* SPDX-License-Identifier: MIT */
/*
 * What a helper process does for the daemon: it touches files of others, which may take for ever,
 * see file.c. It is forked from a program with threads, so it makes system calls only.
 */
#include "helper_process.h"

#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK_MAX 65536

static bool send_chunk(int socket, int32_t size, const char *bytes)
{
	return socket_send(socket, &size, sizeof(size)) &&
	       (size <= 0 || socket_send(socket, bytes, (size_t)size));
}

static bool send_bytes(int socket, int fd, uint64_t size_max)
{
	static char bytes[CHUNK_MAX];

	while (size_max) {
		size_t most = size_max < sizeof(bytes) ? (size_t)size_max : sizeof(bytes);
		ssize_t got = read(fd, bytes, most);

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

static int open_regular(const char *path, uint32_t flags, struct stat *ret_file)
{
	/* O_NONBLOCK: a FIFO or device opens at once, and is then refused. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (int)flags);
	int status = fd < 0 || fstat(fd, ret_file) != 0 ? -errno : 0;

	if (status == 0 && !S_ISREG(ret_file->st_mode))
		status = S_ISDIR(ret_file->st_mode) ? -EISDIR : -EINVAL;
	if (status == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return status;
}

static bool serve_file(int socket, const struct helper_request *request, const char *path)
{
	struct stat file;
	int fd = open_regular(path, request->flags, &file);
	struct file_status reply = { .status = fd < 0 ? fd : 0 };
	bool sent;

	if (fd >= 0)
		reply.owner = owner_of(fd, &file);
	sent = socket_send(socket, &reply, sizeof(reply)) &&
	       (reply.status || send_bytes(socket, fd, request->size_max));
	if (fd >= 0)
		close(fd);
	return sent;
}

static bool serve_kind(int socket, const struct helper_request *request, const char *path,
		       const int *descriptors)
{
	switch (request->kind) {
	case HELPER_FILE:
		return serve_file(socket, request, path);
	case HELPER_OPEN:
		return helper_serve_open(socket, request, path);
	case HELPER_SYMBOLS:
		return helper_serve_symbols(socket, path, descriptors, request->descriptor_count);
	case HELPER_UPROBE:
		return request->descriptor_count == 1 &&
		       helper_serve_uprobe(socket, request, descriptors[0]);
	case HELPER_UPROBE_MULTI:
		return helper_serve_uprobe_multi(socket, request);
	}
	return false;
}

static bool serve_one(int socket, const struct helper_request *request, char *path)
{
	int descriptors[HELPER_DESCRIPTORS_MAX];
	uint32_t count = 0;
	bool is_served = true;

	if (!socket_receive(socket, path, request->path_length))
		return false;
	path[request->path_length] = '\0';
	for (; count < request->descriptor_count && is_served; count += is_served) {
		descriptors[count] = descriptor_receive_one(socket);
		is_served = descriptors[count] >= 0;
	}
	is_served = is_served && serve_kind(socket, request, path, descriptors);
	while (count)
		close(descriptors[--count]);
	return is_served;
}

void helper_serve(int socket)
{
	static char path[HELPER_PATH_MAX + 1];
	struct helper_request request;

	/* Kills the helper when the starter exits, unless it waits where no signal ends the
	 * wait. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (socket_receive(socket, &request, sizeof(request))) {
		if (request.path_length > HELPER_PATH_MAX ||
		    request.descriptor_count > HELPER_DESCRIPTORS_MAX ||
		    !serve_one(socket, &request, path))
			break;
	}
	_exit(0);
}
