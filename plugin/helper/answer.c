/* SPDX-License-Identifier: MIT */
/*
 * What a worker does, see file.c, symbol.c and uprobe.c: it touches files of others for the daemon,
 * which may take for ever. It is forked from a program with threads, so here are system calls alone.
 */
#include "answer.h"

#include "attach/uprobe_multi.h"
#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#define CHUNK_MAX 65536
#define FUSE_MAGIC 0x65735546 /* of statfs(2) */

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

bool answer_is_foreign(int fd)
{
	struct statfs system;

	return fstatfs(fd, &system) != 0 || system.f_type == FUSE_MAGIC;
}

/* A user's own file system would say that its files are root's. */
static uid_t owner_of(int fd, const struct stat *file)
{
	return answer_is_foreign(fd) ? FILE_OWNER_UNKNOWN : file->st_uid;
}

static int open_regular(const char *path, uint32_t flags, struct stat *ret_file)
{
	/* What is no regular file is opened without waiting, and closed again. */
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

static bool answer_file(int socket, const struct question *question, const char *path)
{
	struct stat file;
	int fd = open_regular(path, question->flags, &file);
	struct file_status answer = { .status = fd < 0 ? fd : 0 };
	bool sent;

	if (fd >= 0)
		answer.owner = owner_of(fd, &file);
	sent = socket_send(socket, &answer, sizeof(answer)) &&
	       (answer.status || send_bytes(socket, fd, question->size_max));
	if (fd >= 0)
		close(fd);
	return sent;
}

static bool answer_with(int socket, const struct question *question, const char *path,
			const int *descriptors)
{
	switch (question->kind) {
	case QUESTION_FILE:
		return answer_file(socket, question, path);
	case QUESTION_OPEN:
		return answer_open(socket, question, path);
	case QUESTION_SYMBOLS:
		return answer_symbols(socket, path, descriptors, question->descriptor_count);
	case QUESTION_UPROBE:
		return question->descriptor_count == 1 &&
		       answer_uprobe(socket, question, descriptors[0]);
	case QUESTION_UPROBE_MULTI:
		return uprobe_multi_answer(socket, question);
	}
	return false;
}

static bool answer(int socket, const struct question *question, char *path)
{
	int descriptors[QUESTION_DESCRIPTORS_MAX];
	uint32_t count = 0;
	bool answered = true;

	if (!socket_receive(socket, path, question->path_length))
		return false;
	path[question->path_length] = '\0';
	for (; count < question->descriptor_count && answered; count += answered) {
		descriptors[count] = descriptor_receive_one(socket);
		answered = descriptors[count] >= 0;
	}
	answered = answered && answer_with(socket, question, path, descriptors);
	while (count)
		close(descriptors[--count]);
	return answered;
}

void answer_questions(int socket)
{
	static char path[QUESTION_PATH_MAX + 1];
	struct question question;

	/* Where a signal ends the wait after all. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (socket_receive(socket, &question, sizeof(question))) {
		if (question.path_length > QUESTION_PATH_MAX ||
		    question.descriptor_count > QUESTION_DESCRIPTORS_MAX ||
		    !answer(socket, &question, path))
			break;
	}
	_exit(0);
}
