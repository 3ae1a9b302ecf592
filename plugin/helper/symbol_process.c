/* SPDX-License-Identifier: MIT */
/*
 * Runs ebpf-symbols on a file. A helper starts it and waits until it exits; the daemon has the
 * other end of its socket, see helper_request.c. The program can do nothing but reply, see
 * plugin/helper/symbols/sandbox.c, and its reply is checked, see symbol_reply.c.
 */
#include "symbol_process.h"

#include "confined_program.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* The sandbox kills with SIGSYS, so these come from outside the program. */
static bool is_from_outside(int signal)
{
	return signal == SIGKILL || signal == SIGTERM;
}

/* Describes why the program has not ended as it should. */
static int set_end_error(const struct run_reply *reply, const char *program, struct error *error)
{
	int ended = reply->ended;

	if (WIFSIGNALED(ended) && WTERMSIG(ended) == SIGXCPU)
		return error_set(error, -ETIME,
				 "reading its symbols takes more than %d s of CPU time, which "
				 "is the limit",
				 SYMBOL_CPU_S);
	if (reply->status == -ETIME)
		return error_set(error, -ETIME,
				 "reading its symbols takes too long: more than %d s",
				 SYMBOL_WAIT_MS / 1000);
	if (reply->status)
		return error_set(error, reply->status,
				 "cannot start %s: %s; set SymbolHelper to where it is", program,
				 strerror(-reply->status));
	if (WIFSIGNALED(ended) && is_from_outside(WTERMSIG(ended)))
		return error_set(error, -EIO,
				 "the program that reads symbols was killed (signal %d), by "
				 "somebody, or by the kernel for lack of memory",
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
				 program);
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
		return error_set(error, status, "out of memory");
	case EPIPE:
		return error_set(error, status, "the process that reads it has ended");
	default:
		return error_set(error, status, "%s", file_strerror(status));
	}
}

int symbol_ask_error(const struct file_helper *files, int status, struct error *error)
{
	return set_reply_error(status, files->symbols, error);
}

int symbol_ask(struct file_helper *files, const struct symbol_file *file, int debug_fd,
	       const struct symbol_buffer *request, struct symbol_buffer *ret_reply,
	       struct error *error)
{
	struct file_charge charge = { .budget = FILE_OF_ROOT, .owner = symbol_number(file) };
	struct symbol_run run = {
		.program = files->symbols, .file = file->fd, .debug = debug_fd, .input = request
	};
	struct symbol_buffer reply;
	struct run_reply ended;
	int status = helper_run_symbols(files, &charge, &run, &reply, &ended);

	if (status)
		return set_reply_error(status, run.program, error);
	if (ended.status || ended.ended) {
		free(reply.bytes);
		return set_end_error(&ended, run.program, error);
	}
	*ret_reply = reply;
	return 0;
}
