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

#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK_MAX 65536
#define PATH_LENGTH_MAX 4096
#define FUSE_MAGIC 0x65735546 /* of statfs(2) */

/* To a worker; the path follows. */
struct question {
	uint64_t size_max;
	uint32_t path_length;
	uint32_t flags; /* of open(2) */
};

/* From a worker; if status is 0, chunks follow: their size, then their bytes. The
 * last one has size 0, or a negative errno. */
struct answer {
	int32_t status;
	uint32_t owner;
};

/* --- in the processes: forked from a program with threads, so system calls alone --- */

static bool receive_all(int fd, void *to, size_t size)
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

static bool send_all(int fd, const void *from, size_t size)
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
	return send_all(socket, &size, sizeof(size)) &&
	       (size <= 0 || send_all(socket, bytes, (size_t)size));
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

static bool answer_question(int socket, const struct question *question, const char *path)
{
	/* What is no regular file is opened without waiting, and closed again. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (int)question->flags);
	struct answer answer = { .status = fd < 0 ? -errno : 0 };
	struct stat file;
	bool sent;

	if (fd >= 0 && fstat(fd, &file) != 0)
		answer.status = -errno;
	else if (fd >= 0 && !S_ISREG(file.st_mode))
		answer.status = S_ISDIR(file.st_mode) ? -EISDIR : -EINVAL;
	else if (fd >= 0)
		answer.owner = owner_of(fd, &file);
	sent = send_all(socket, &answer, sizeof(answer)) &&
	       (answer.status || send_bytes(socket, fd, question->size_max));
	if (fd >= 0)
		close(fd);
	return sent;
}

static void work(int socket)
{
	static char path[PATH_LENGTH_MAX + 1];
	struct question question;

	/* Where a signal ends the wait after all. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (receive_all(socket, &question, sizeof(question))) {
		if (question.path_length > PATH_LENGTH_MAX ||
		    !receive_all(socket, path, question.path_length))
			break;
		path[question.path_length] = '\0';
		if (!answer_question(socket, &question, path))
			break;
	}
	_exit(0);
}

/* The descriptor that comes with a byte, -1: the daemon has ended. */
static int receive_descriptor(int socket)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct cmsghdr *header;
	struct msghdr message;
	struct iovec vector;
	ssize_t got;
	char byte;
	int fd = -1;

	do {
		vector = (struct iovec){ &byte, 1 };
		message = (struct msghdr){ .msg_iov = &vector, .msg_iovlen = 1 };
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	header = got == 1 ? CMSG_FIRSTHDR(&message) : NULL;
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

/* Keeps one descriptor, so that no link, map or pipe of the daemon's lives longer than it,
 * and no signal handler: `pkill -USR1 collectd` is to flush the daemon alone. */
static int leave_all_but(int fd)
{
	sigset_t none;

	for (int number = 1; number < SIGRTMAX; number++)
		signal(number, number == SIGUSR1 || number == SIGHUP ? SIG_IGN : SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(fd, 0);
	close_range(1, ~0U, 0);
	return 0;
}

static void start_workers(int socket)
{
	socket = leave_all_but(socket);
	signal(SIGCHLD, SIG_IGN); /* nobody waits for them */
	for (;;) {
		int fd = receive_descriptor(socket);

		if (fd < 0)
			_exit(0);
		if (fork() == 0)
			work(leave_all_but(fd));
		close(fd);
	}
}

/* --- in the daemon --- */

void file_reader_init(struct file_reader *reader)
{
	*reader = (struct file_reader)FILE_READER_NONE;
}

static int start_starter(struct file_reader *reader)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		start_workers(ends[1]);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return -EAGAIN;
	}
	reader->starter = pid;
	reader->starter_fd = ends[0];
	return 0;
}

static void end_starter(struct file_reader *reader)
{
	if (!reader->starter)
		return;
	close(reader->starter_fd);
	/* collectd's plugin exec waits for any child: the number may be another process's by now. */
	if (waitpid(reader->starter, NULL, WNOHANG) == 0) {
		kill(reader->starter, SIGKILL);
		while (waitpid(reader->starter, NULL, 0) < 0 && errno == EINTR)
			;
	}
	reader->starter = 0;
	reader->starter_fd = -1;
}

static int send_descriptor(int socket, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .header = { .cmsg_len = CMSG_LEN(sizeof(int)),
				  .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS } };
	char byte = 0;
	struct iovec vector = { &byte, 1 };
	struct msghdr message = { .msg_iov = &vector,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = sizeof(control.bytes) };

	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	return sendmsg(socket, &message, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

static int start_worker(struct file_reader *reader)
{
	int ends[2], status = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	for (int attempt = 0; attempt < 2; attempt++) {
		if (!reader->starter)
			status = start_starter(reader);
		if (status == 0)
			status = send_descriptor(reader->starter_fd, ends[1]);
		if (status == 0)
			break;
		/* Somebody has killed it: another one. */
		end_starter(reader);
		status = attempt ? status : 0;
	}
	close(ends[1]);
	if (status)
		close(ends[0]);
	else
		reader->worker_fd = ends[0];
	return status;
}

static void drop_worker(struct file_reader *reader)
{
	close(reader->worker_fd);
	reader->worker_fd = -1;
}

/* A worker that has ended, or that answers at last, ends. */
static void drop_unstuck(struct file_reader *reader)
{
	for (size_t i = 0; i < reader->stuck_count;) {
		struct pollfd answers = { .fd = reader->stuck[i].fd, .events = POLLIN };

		if (poll(&answers, 1, 0) > 0) {
			close(reader->stuck[i].fd);
			reader->stuck[i] = reader->stuck[--reader->stuck_count];
		} else {
			i++;
		}
	}
}

static bool is_stuck(const struct file_reader *reader, uint64_t whose)
{
	for (size_t i = 0; i < reader->stuck_count; i++)
		if (reader->stuck[i].whose == whose)
			return true;
	return false;
}

static bool is_used_up(const struct file_reader *reader, enum file_share share)
{
	size_t count = 0;

	for (size_t i = 0; i < reader->stuck_count; i++)
		count += reader->stuck[i].share == share;
	return count >= FILE_STUCK_MAX;
}

static void set_aside(struct file_reader *reader, const struct file_request *request)
{
	reader->stuck[reader->stuck_count].fd = reader->worker_fd;
	reader->stuck[reader->stuck_count].share = request->share;
	reader->stuck[reader->stuck_count++].whose = request->whose;
	reader->worker_fd = -1;
}

/* Receives so many bytes; -ETIMEDOUT; -EPIPE: the worker has ended. */
static int receive_until(int fd, void *to, size_t size, uint64_t end_ns)
{
	for (char *at = to; size;) {
		uint64_t now = clock_ns();
		struct pollfd answers = { .fd = fd, .events = POLLIN };
		int left_ms = now < end_ns ? (int)((end_ns - now) / 1000000) : 0;
		ssize_t got = recv(fd, at, size, MSG_DONTWAIT);

		if (got == 0 || (got < 0 && errno == ECONNRESET))
			return -EPIPE;
		if (got > 0) {
			at += got;
			size -= (size_t)got;
		} else if (now >= end_ns) {
			return -ETIMEDOUT;
		} else if (errno == EAGAIN || errno == EINTR) {
			poll(&answers, 1, left_ms + 1);
		} else {
			return -errno;
		}
	}
	return 0;
}

/* An error of the file's own, told by a worker that goes on: not one that says how the worker is. */
static int of_file(int status)
{
	return status == -ETIMEDOUT || status == -EPIPE || status == -EBUSY ? -EIO : status;
}

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
		status = receive_until(fd, &size, sizeof(size), end_ns);
		if (status || size <= 0)
			break;
		if ((uint64_t)size > size_max - file->size)
			return -EPIPE;
		status = grow_file(file, (size_t)size);
		if (status == 0)
			status = receive_until(fd, file->bytes + file->size, (size_t)size, end_ns);
		if (status == 0)
			file->size += (size_t)size;
	}
	if (file->bytes)
		file->bytes[file->size] = '\0';
	return status ?: of_file(size);
}

/* Of what breaks off in the middle, the rest would be taken for the next answer: a
 * worker that has not said all is asked no more. */
static int ask(struct file_reader *reader, const struct file_request *request, struct file *file)
{
	uint64_t end_ns = clock_ns() + request->wait_ms * 1000000ULL;
	uint64_t size_max = request->size_max + (request->cut ? 0 : 1);
	size_t length = strlen(request->path);
	struct question question = {
		.size_max = size_max,
		.path_length = (uint32_t)length,
		.flags = request->follow ? 0 : O_NOFOLLOW,
	};
	struct answer answer = { 0 };
	int fd = reader->worker_fd, status;

	if (!send_all(fd, &question, sizeof(question)) || !send_all(fd, request->path, length))
		return -EPIPE;
	status = receive_until(fd, &answer, sizeof(answer), end_ns);
	if (status || answer.status)
		return status ?: of_file(answer.status);
	file->owner = answer.owner;
	status = receive_chunks(fd, size_max, end_ns, file);
	return status ?: file->size > request->size_max ? -EFBIG : 0;
}

int file_read(struct file_reader *reader, const struct file_request *request, struct file *ret_file)
{
	struct file file = { 0 };
	int status = -EPIPE;

	if (strlen(request->path) > PATH_LENGTH_MAX)
		return -ENAMETOOLONG;
	drop_unstuck(reader);
	if (is_stuck(reader, request->whose))
		return -ETIMEDOUT;
	if (is_used_up(reader, request->share))
		return -EBUSY;
	/* Twice: somebody may have killed the worker. */
	for (int attempt = 0; attempt < 2 && status == -EPIPE; attempt++) {
		free(file.bytes);
		file = (struct file){ 0 };
		status = reader->worker_fd < 0 ? start_worker(reader) : 0;
		status = status ?: ask(reader, request, &file);
		if (status == -EPIPE && reader->worker_fd >= 0)
			drop_worker(reader);
	}
	if (status == -ETIMEDOUT)
		set_aside(reader, request);
	else if (status == -ENOMEM && reader->worker_fd >= 0)
		drop_worker(reader);
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

void file_reader_done(struct file_reader *reader)
{
	if (reader->worker_fd >= 0)
		drop_worker(reader);
	for (size_t i = 0; i < reader->stuck_count; i++)
		close(reader->stuck[i].fd);
	reader->stuck_count = 0;
	end_starter(reader);
}
