/* SPDX-License-Identifier: MIT */
/*
 * Files that belong to others. Behind a path that a user controls may be a FIFO
 * or a file system of the user's own (FUSE), and a process's command line may
 * be a mapping of such: who opens or reads that can wait for ever, and no signal
 * ends the wait. So another process does it, the worker, and is left behind when
 * it does not answer. Workers are forked by a process that never touches a
 * file, the starter, so that they are small and hold nothing of the daemon's.
 */
#include "file.h"

#include "util/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for that many bytes more, and a NUL. */
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
		status = worker_receive(fd, &size, sizeof(size), end_ns);
		if (status || size <= 0)
			break;
		if ((uint64_t)size > size_max - file->size)
			return -EPIPE;
		status = grow_file(file, (size_t)size);
		if (status == 0)
			status = worker_receive(fd, file->bytes + file->size, (size_t)size, end_ns);
		if (status == 0)
			file->size += (size_t)size;
	}
	if (file->bytes)
		file->bytes[file->size] = '\0';
	return status ?: worker_told(size);
}

uint64_t file_number(const char *path)
{
	uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 0x100000001b3;
	return hash | 1ULL << 63;
}

struct asked {
	const struct file_request *request;
	struct file *file;
};

/* Of what breaks off in the middle, the rest would be taken for the next answer: a
 * worker that has not said all is asked no more. */
static int ask(int worker, void *with)
{
	const struct asked *asked = with;
	const struct file_request *request = asked->request;
	uint64_t end_ns = clock_ns() + request->wait_ms * 1000000ULL;
	uint64_t size_max = request->size_max + (request->cut ? 0 : 1);
	size_t length = strlen(request->path);
	struct question question = {
		.kind = QUESTION_FILE,
		.size_max = size_max,
		.path_length = (uint32_t)length,
		.flags = request->follow ? 0 : O_NOFOLLOW,
	};
	struct file_status answer = { 0 };
	int status;

	free(asked->file->bytes);
	*asked->file = (struct file){ 0 };
	if (!socket_send(worker, &question, sizeof(question)) ||
	    !socket_send(worker, request->path, length))
		return -EPIPE;
	status = worker_receive(worker, &answer, sizeof(answer), end_ns);
	if (status || answer.status)
		return status ?: worker_told(answer.status);
	asked->file->owner = answer.owner;
	status = receive_chunks(worker, size_max, end_ns, asked->file);
	return status ?: asked->file->size > request->size_max ? -EFBIG : 0;
}

int file_read(struct file_reader *reader, const struct file_request *request, struct file *ret_file)
{
	struct worker_turn turn = { .share = request->share, .whose = request->whose };
	struct file file = { 0 };
	struct asked asked = { .request = request, .file = &file };
	int status;

	if (strlen(request->path) > QUESTION_PATH_MAX)
		return -ENAMETOOLONG;
	status = worker_ask(reader, &turn, ask, &asked);
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
