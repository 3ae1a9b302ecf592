/* SPDX-License-Identifier: MIT */
/*
 * Runs ebpf-symbols on a file. A helper starts it and waits until it exits; the daemon has the
 * other end of its socket. The program can do nothing but reply, see
 * plugin/helper/symbols/sandbox.c, and its reply is checked, see symbol_reply.c.
 */
#include "symbol_process.h"

#include "confined_program.h"
#include "descriptor.h"
#include "util/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS (SYMBOL_WAIT_MS + 2000)

struct symbol_run {
	const char *program;
	int descriptors[SYMBOL_FD_COUNT]; /* the first is the socket, which each try makes again */
	size_t descriptor_count;
	const struct symbol_buffer *request;
	struct symbol_buffer reply;
	struct run_reply ended;
};

/* Waits until the socket is ready to send (POLLOUT) or receive (POLLIN); -ETIMEDOUT. */
static int wait_for(int fd, short events, uint64_t end_ns)
{
	struct pollfd ready = { .fd = fd, .events = events };
	uint64_t now = clock_ns();

	if (now >= end_ns)
		return -ETIMEDOUT;
	poll(&ready, 1, (int)((end_ns - now) / 1000000) + 1);
	return 0;
}

/* The program may exit before it has read all; its reply then says why. */
static int send_request(int socket, const struct symbol_run *run, uint64_t end_ns)
{
	size_t sent = 0;

	while (sent < run->request->size) {
		ssize_t put = send(socket, run->request->bytes + sent, run->request->size - sent,
				   MSG_NOSIGNAL | MSG_DONTWAIT);
		int status = 0;

		if (put >= 0)
			sent += (size_t)put;
		else if (errno == EAGAIN || errno == EINTR)
			status = wait_for(socket, POLLOUT, end_ns);
		else
			break;
		if (status)
			return status;
	}
	return 0;
}

static int receive_reply(int socket, struct symbol_run *run, uint64_t end_ns)
{
	size_t room = 0;

	for (;;) {
		ssize_t got;
		int status = 0;

		if (run->reply.size == room) {
			char *grown = realloc(run->reply.bytes, room += 65536);

			if (!grown)
				return -ENOMEM;
			run->reply.bytes = grown;
			if (room > SYMBOL_REPLY_MAX)
				return -EBADMSG;
		}
		got = recv(socket, run->reply.bytes + run->reply.size, room - run->reply.size,
			   MSG_DONTWAIT);
		if (got > 0)
			run->reply.size += (size_t)got;
		else if (got == 0 || (errno != EAGAIN && errno != EINTR))
			return 0;
		else
			status = wait_for(socket, POLLIN, end_ns);
		if (status)
			return status;
	}
}

static bool send_helper_request(int socket, const struct symbol_run *run)
{
	struct helper_request helper_request = { .kind = HELPER_SYMBOLS,
						 .path_length = (uint32_t)strlen(run->program),
						 .descriptor_count =
							 (uint32_t)run->descriptor_count };
	bool sent = socket_send(socket, &helper_request, sizeof(helper_request)) &&
		    socket_send(socket, run->program, helper_request.path_length);

	for (size_t i = 0; i < run->descriptor_count && sent; i++)
		sent = descriptor_send(socket, "", 1, run->descriptors[i]);
	return sent;
}

static int ask_symbols(int socket, void *with)
{
	struct symbol_run *run = with;
	uint64_t end_ns = clock_ns() + WAIT_MS * 1000000ULL;
	int ends[2], status, ended;
	bool sent;

	free(run->reply.bytes);
	run->reply = (struct symbol_buffer){ 0 };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	run->descriptors[SYMBOL_FD_SOCKET] = ends[1];
	sent = send_helper_request(socket, run);
	close(ends[1]);
	status = sent ? send_request(ends[0], run, end_ns) : -EPIPE;
	if (status == 0)
		status = receive_reply(ends[0], run, end_ns);
	close(ends[0]);
	if (!sent)
		return status;
	/* In every case the helper says how the program has ended. */
	ended = helper_receive(socket, &run->ended, sizeof(run->ended), end_ns);
	return ended ? ended : status;
}

static const char *program_of(const struct file_helper *files)
{
	return files->symbols ? files->symbols : EBPF_SYMBOL_HELPER;
}

/* The sandbox kills with SIGSYS, so these come from outside the program. */
static bool is_from_outside(int signal)
{
	return signal == SIGKILL || signal == SIGTERM;
}

/* Describes why the program has not ended as it should. */
static int set_end_error(const struct symbol_run *run, struct error *error)
{
	int ended = run->ended.ended;

	if (WIFSIGNALED(ended) && WTERMSIG(ended) == SIGXCPU)
		return error_set(error, -ETIME,
				 "reading its symbols takes more than %d s of CPU time, which "
				 "is the limit",
				 SYMBOL_CPU_S);
	if (run->ended.status == -ETIME)
		return error_set(error, -ETIME,
				 "reading its symbols takes too long: more than %d s",
				 SYMBOL_WAIT_MS / 1000);
	if (run->ended.status)
		return error_set(error, run->ended.status,
				 "cannot start %s: %s; set SymbolHelper to where it is",
				 run->program, strerror(-run->ended.status));
	if (WIFSIGNALED(ended) && is_from_outside(WTERMSIG(ended)))
		return error_set(error, -EIO,
				 "the program that reads symbols was killed (signal %d), by "
				 "somebody, or by the kernel for want of memory",
				 WTERMSIG(ended));
	if (WIFSIGNALED(ended))
		return error_set(error, -EBADMSG,
				 "the program that reads symbols was ended by signal %d (%s): "
				 "the file is broken or hostile",
				 WTERMSIG(ended), strsignal(WTERMSIG(ended)));
	if (WEXITSTATUS(ended) == CONFINED_NOT_STARTED)
		return error_set(error, -ENOEXEC,
				 "cannot start %s without privileges: anyone must be able to run "
				 "it; set SymbolHelper to one of this version",
				 run->program);
	return error_set(error, -EBADMSG,
			 "the program that reads symbols sends no valid reply: the file "
			 "is broken or hostile");
}

static int set_reply_error(int status, const char *program, struct error *error)
{
	switch (-status) {
	case EPROTO:
		return error_set(error, status,
				 "%s is of another version than the plugin: restart collectd, or "
				 "set SymbolHelper",
				 program);
	case EBADMSG:
		return error_set(error, status,
				 "the program that reads symbols sends no valid reply: "
				 "the file is broken or hostile");
	case ENOMEM:
		return error_set(error, status, "there is no memory for it");
	case EPIPE:
		return error_set(error, status, "the process that reads it has ended");
	default:
		return error_set(error, status, "%s", file_strerror(status));
	}
}

int symbol_ask_error(const struct file_helper *files, int status, struct error *error)
{
	return set_reply_error(status, program_of(files), error);
}

int symbol_ask(struct file_helper *files, const struct symbol_file *file, int debug_fd,
	       const struct symbol_buffer *request, struct symbol_buffer *ret_reply,
	       struct error *error)
{
	struct file_charge charge = { .budget = FILE_OF_ROOT, .owner = symbol_number(file) };
	struct symbol_run run = { .program = program_of(files),
				  .descriptors = { -1, file->fd, debug_fd },
				  .descriptor_count =
					  debug_fd >= 0 ? SYMBOL_FD_COUNT : SYMBOL_FD_DEBUG,
				  .request = request };
	int status = helper_ask(files, &charge, ask_symbols, &run);

	if (status)
		status = set_reply_error(status, run.program, error);
	else if (run.ended.status || run.ended.ended)
		status = set_end_error(&run, error);
	if (status)
		free(run.reply.bytes);
	else
		*ret_reply = run.reply;
	return status;
}
