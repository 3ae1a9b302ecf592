/* SPDX-License-Identifier: MIT */
/*
 * Files that belong to others. A path that a user controls may lead to a FIFO or to a file system
 * of the user's own (FUSE), and the command line of a process may be mapped from such a file: an
 * open or read can then wait for ever, and no signal ends the wait. So a helper process opens and
 * reads files, and is set aside if it does not reply, see file_helper.c.
 */
#include "file.h"

#include "util/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for that many more bytes, and a NUL. */
static int grow_file(struct file *file, size_t more)
{
	char *grown = realloc(file->bytes, file->size + more + 1);

	if (!grown)
		return -ENOMEM;
	file->bytes = grown;
	return 0;
}

static int receive_chunks(int fd, uint64_t size_max, uint64_t end_ns, struct file *file)
{
	int status = grow_file(file, 0);
	int32_t size = 0;

	while (status == 0) {
		status = helper_receive(fd, &size, sizeof(size), end_ns);
		if (status || size <= 0)
			break;
		if ((uint64_t)size > size_max - file->size)
			return -EPIPE;
		status = grow_file(file, (size_t)size);
		if (status == 0)
			status = helper_receive(fd, file->bytes + file->size, (size_t)size, end_ns);
		if (status == 0)
			file->size += (size_t)size;
	}
	if (file->bytes)
		file->bytes[file->size] = '\0';
	return status ?: helper_file_error(size);
}

uint64_t file_number(const char *path)
{
	uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 0x100000001b3;
	return hash | 1ULL << 63;
}

struct file_exchange {
	const struct file_request *request;
	struct file *file;
};

/* A reply that breaks off is followed by bytes that the next request would take for its own reply,
 * so a helper is not used again after -EPIPE or -ETIMEDOUT. */
static int ask_file_content(int socket, void *with)
{
	const struct file_exchange *exchange = with;
	const struct file_request *request = exchange->request;
	uint64_t end_ns = clock_ns() + request->wait_ms * 1000000ULL;
	uint64_t size_max = request->size_max + (request->cut ? 0 : 1);
	size_t length = strlen(request->path);
	struct helper_request helper_request = {
		.kind = HELPER_FILE,
		.size_max = size_max,
		.path_length = (uint32_t)length,
		.flags = request->follow ? 0 : O_NOFOLLOW,
	};
	struct file_status reply = { 0 };
	int status;

	free(exchange->file->bytes);
	*exchange->file = (struct file){ 0 };
	if (!socket_send(socket, &helper_request, sizeof(helper_request)) ||
	    !socket_send(socket, request->path, length))
		return -EPIPE;
	status = helper_receive(socket, &reply, sizeof(reply), end_ns);
	if (status || reply.status)
		return status ?: helper_file_error(reply.status);
	exchange->file->owner = reply.owner;
	status = receive_chunks(socket, size_max, end_ns, exchange->file);
	return status ?: exchange->file->size > request->size_max ? -EFBIG : 0;
}

int file_read(struct file_helper *helper, const struct file_request *request, struct file *ret_file)
{
	struct file_charge charge = { .budget = request->budget, .owner = request->owner };
	struct file file = { 0 };
	struct file_exchange exchange = { .request = request, .file = &file };
	int status;

	if (strlen(request->path) > HELPER_PATH_MAX)
		return -ENAMETOOLONG;
	status = helper_ask(helper, &charge, ask_file_content, &exchange);
	if (status)
		free(file.bytes);
	else
		*ret_file = file;
	return status;
}

const char *file_strerror(int status)
{
	switch (-status) {
	case EINVAL:
		return "it is not a regular file";
	case ELOOP:
		return "it is a symbolic link";
	case EFBIG:
		return "it is too large";
	case ETIMEDOUT:
		return "its file system does not answer";
	case EBUSY:
		return "too many files of other file systems do not answer";
	default:
		return strerror(-status);
	}
}
