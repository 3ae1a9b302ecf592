/* SPDX-License-Identifier: MIT */
/*
 * What a worker does, see file.c and uprobe.c: it touches files of others for the daemon, which may
 * take for ever. It is forked from a program with threads, so here are system calls alone.
 */
#include "answer.h"

#include "descriptor.h"
#include "elf.h"
#include "uprobe_multi.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHUNK_MAX 65536
#define FUSE_MAGIC 0x65735546 /* of statfs(2) */
#define PROGRAM_SIZE_MAX (16ULL << 30)

bool socket_receive(int fd, void *to, size_t size)
{
	for (char *at = to; size;) {
		ssize_t got = recv(fd, at, size, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		size -= (size_t)got;
	}
	return true;
}

bool socket_send(int fd, const void *from, size_t size)
{
	for (const char *at = from; size;) {
		ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		at += sent;
		size -= (size_t)sent;
	}
	return true;
}

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

/* A user's own file system would say that its files are root's. */
static uid_t owner_of(int fd, const struct stat *file)
{
	struct statfs system;

	return fstatfs(fd, &system) == 0 && system.f_type != FUSE_MAGIC ? file->st_uid
									: FILE_OWNER_UNKNOWN;
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

/* Where in the file it is, and where that of its semaphore, 0: it has none. */
static int find_in(const void *bytes, uint64_t size, const struct question *question,
		   const char *name, struct elf_marker *ret_place)
{
	struct elf_marker place = { 0 };
	int status = 0;

	if (question->is_marker)
		status = elf_marker(bytes, size, name, question->index, &place);
	else if (name[0])
		status = elf_function(bytes, size, name, &place.offset);
	if (status == 0 && (__builtin_add_overflow(place.offset, question->offset, &place.offset) ||
			    place.semaphore > UINT32_MAX))
		status = -EFAULT;
	status = status ?: elf_has_code(bytes, size, place.offset);
	if (status == 0)
		*ret_place = place;
	return status;
}

static int find(int fd, const struct question *question, const char *name, uint64_t size,
		struct elf_marker *ret_place)
{
	void *bytes;
	int status;

	if (size == 0 || size > PROGRAM_SIZE_MAX)
		return size ? -EFBIG : -ENOEXEC;
	/* Of a file that becomes shorter the end is this process's own. */
	bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	status = find_in(bytes, size, question, name, ret_place);
	munmap(bytes, size);
	return status;
}

static int open_event(int fd, const struct question *question, const struct elf_marker *place)
{
	char path[32];
	struct perf_event_attr attributes = {
		.type = question->pmu_type,
		.size = sizeof(attributes),
		.config = question->config | place->semaphore << question->semaphore_shift,
		.config1 = (uint64_t)(uintptr_t)path,
		.config2 = place->offset,
	};
	int event;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* Not of this CPU alone: the program is run on all. */
	event = (int)syscall(SYS_perf_event_open, &attributes, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return event < 0 ? -errno : event;
}

/* The event, or a negative errno of the step. */
static int find_and_open(const struct question *question, const char *path, const char *name,
			 uint32_t *ret_step)
{
	struct elf_marker place = { 0 };
	struct stat file;
	int fd = open_regular(path, 0, &file), event;

	*ret_step = UPROBE_OPEN;
	if (fd < 0)
		return fd;
	/* At the end of an uprobe the kernel may read it in the daemon. */
	if (owner_of(fd, &file) == FILE_OWNER_UNKNOWN) {
		close(fd);
		return -EREMOTE;
	}
	*ret_step = UPROBE_SEARCH;
	event = find(fd, question, name, (uint64_t)file.st_size, &place);
	if (event == 0) {
		*ret_step = UPROBE_ATTACH;
		event = open_event(fd, question, &place);
	}
	close(fd);
	return event;
}

static bool answer_uprobe(int socket, const struct question *question, const char *texts)
{
	struct uprobe_answer answer;
	int event = find_and_open(question, texts, texts + question->path_length, &answer.step);
	bool sent;

	answer.status = event < 0 ? event : 0;
	sent = descriptor_send(socket, &answer, sizeof(answer), event);
	if (event >= 0)
		close(event);
	return sent;
}

static bool answer(int socket, const struct question *question, char *path)
{
	/* What is asked for in the file follows its path. */
	if (!socket_receive(socket, path, question->path_length + question->name_length))
		return false;
	path[question->path_length + question->name_length] = '\0';
	if (question->kind == QUESTION_UPROBE)
		return answer_uprobe(socket, question, path);
	if (question->kind == QUESTION_UPROBE_MULTI)
		return uprobe_multi_answer(socket, question);
	return answer_file(socket, question, path);
}

void answer_questions(int socket)
{
	static char texts[QUESTION_PATH_MAX + QUESTION_NAME_MAX + 1];
	struct question question;

	/* Where a signal ends the wait after all. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (socket_receive(socket, &question, sizeof(question))) {
		if (question.path_length > QUESTION_PATH_MAX ||
		    question.name_length > QUESTION_NAME_MAX || !answer(socket, &question, texts))
			break;
	}
	_exit(0);
}
