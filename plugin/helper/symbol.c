/* SPDX-License-Identifier: MIT */
/*
 * Functions and markers of programs and libraries. The daemon touches neither the path nor what is
 * in the file: a worker opens it, see answer_symbol.c, and ebpf-symbols reads it, see symbol_ask.c.
 */
#include "symbol.h"

#include "symbol_answer.h"
#include "symbol_ask.h"
#include "symbol_debug.h"
#include "util/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPEN_WAIT_MS 5000

struct opened {
	struct question question;
	const char *path;
	struct symbol_file file;
};

static int ask_open(int worker, void *with)
{
	struct opened *opened = with;
	struct open_answer answer = { 0 };
	int fd = -1, status;

	if (!socket_send(worker, &opened->question, sizeof(opened->question)) ||
	    !socket_send(worker, opened->path, opened->question.path_length))
		return -EPIPE;
	status = worker_receive_descriptor(worker, &answer, sizeof(answer),
					   clock_ns() + OPEN_WAIT_MS * 1000000ULL, &fd);
	if (status)
		return status;
	if ((fd >= 0) != (answer.status == 0)) {
		if (fd >= 0)
			close(fd);
		return -EPIPE;
	}
	if (answer.status)
		return worker_told(answer.status);
	opened->file = (struct symbol_file){ .fd = fd,
					     .device = answer.device,
					     .inode = answer.inode,
					     .size = answer.size,
					     .changed_ns = answer.changed_ns,
					     .is_overlay = answer.is_overlay };
	return 0;
}

static const char *why_not_open(int status, const char *path, pid_t pid)
{
	switch (-status) {
	case ENOENT:
		return path && !strchr(path, '/')
			       ? "no library or program of this name is where they usually are; "
				 "name its path"
			       : strerror(-status);
	case EREMOTE:
		return "it is on FUSE: a program that stops could stop collectd, too";
	case ESRCH:
		return "the process has ended";
	case EACCES:
	case EPERM:
		return pid ? "collectd needs CAP_SYS_PTRACE to see the files of other users' processes"
			   : "collectd needs the right to read it and the directories it is in, or "
			     "CAP_DAC_READ_SEARCH";
	case EPIPE:
		return "the process that reads it has ended";
	default:
		return file_strerror(status);
	}
}

int symbol_open(struct file_reader *files, const char *path, pid_t pid,
		struct symbol_file *ret_file, struct error *error)
{
	struct opened opened = { .path = path ? path : "" };
	struct worker_turn turn = { .share = pid ? FILE_OF_USERS : FILE_OF_ROOT };
	size_t length = strlen(opened.path);
	char whose[32 + QUESTION_PATH_MAX];
	int status = -ENAMETOOLONG;

	if (length <= QUESTION_PATH_MAX) {
		snprintf(whose, sizeof(whose), "%d:%s", (int)pid, opened.path);
		turn.whose = file_number(pid ? whose : opened.path);
		opened.question = (struct question){ .kind = QUESTION_OPEN,
						     .path_length = (uint32_t)length,
						     .pid = pid };
		status = worker_ask(files, &turn, ask_open, &opened);
	}
	if (status)
		return error_set(error, status, "%s", why_not_open(status, path, pid));
	*ret_file = opened.file;
	return 0;
}

uint64_t symbol_number(const struct symbol_file *file)
{
	char text[64];

	snprintf(text, sizeof(text), "%llx:%llx", (unsigned long long)file->device,
		 (unsigned long long)file->inode);
	return file_number(text);
}

bool symbol_is_same(const struct symbol_file *one, const struct symbol_file *other)
{
	bool same_device = one->device == other->device || (one->is_overlay && other->is_overlay);

	return same_device && one->inode == other->inode && one->size == other->size &&
	       one->changed_ns == other->changed_ns;
}

void symbol_close(struct symbol_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct symbol_file)SYMBOL_FILE_NONE;
}

static int make_request(const struct symbol_wanted *wanted, size_t count, bool has_debug,
			struct symbol_text *ret_request)
{
	struct symbol_request request = { .version = SYMBOL_VERSION,
					  .kind = SYMBOL_REQUEST_FIND,
					  .has_debug = has_debug,
					  .count = (uint32_t)count };
	FILE *stream = open_memstream(&ret_request->bytes, &ret_request->size);

	if (!stream)
		return -ENOMEM;
	fwrite(&request, sizeof(request), 1, stream);
	for (size_t i = 0; i < count; i++) {
		const char *name = wanted[i].name ? wanted[i].name : "";
		struct symbol_request_name one = {
			.kind = wanted[i].kind,
			.length = (uint32_t)strnlen(name, SYMBOL_NAME_MAX),
			.returns = wanted[i].returns,
			.offset = wanted[i].offset,
		};

		fwrite(&one, sizeof(one), 1, stream);
		fwrite(name, 1, one.length, stream);
	}
	if (fclose(stream) == 0)
		return 0;
	free(ret_request->bytes);
	return -ENOMEM;
}

static int run_once(struct file_reader *files, const struct symbol_file *file, int debug_fd,
		    const struct symbol_wanted *wanted, size_t count,
		    struct symbol_found *ret_found, struct symbol_about *ret_about,
		    struct error *error)
{
	struct symbol_text request, answer;
	struct error why;
	int status;

	if (make_request(wanted, count, debug_fd >= 0, &request))
		return symbol_ask_error(files, -ENOMEM, error);
	status = symbol_ask(files, file, debug_fd, &request, &answer, &why);
	free(request.bytes);
	if (status)
		return error_set(error, status, "%s%s", why.text,
				 status == -ETIME ? "; name functions by their offset in the file"
						  : "");
	status = symbol_answer_take(answer.bytes, answer.size, file->size, count, ret_found,
				    ret_about);
	free(answer.bytes);
	return status ? symbol_ask_error(files, status, error) : 0;
}

/* What does not come of the file may be gone at the next try. */
static int outcome(int status)
{
	return status == -EBADMSG ? status : -EAGAIN;
}

static bool is_missing(const struct symbol_found *found)
{
	return found->status == -ESRCH || found->status == -ENODATA;
}

static bool is_any_missing(const struct symbol_found *found, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_missing(&found[i]))
			return true;
	return false;
}

static const char *why_no_debug(int status)
{
	switch (-status) {
	case ENOEXEC:
		return "it is no 64-bit file of this machine's";
	case ESTALE:
		return "it is of another build, as its build ID says";
	default:
		return "no symbols can be read from it: it is truncated, broken or too large";
	}
}

/* With the separate file; what it alone has takes the place of what is missing. */
static int add_debug(struct file_reader *files, const struct symbol_file *file, int debug_fd,
		     const struct symbol_wanted *wanted, size_t count, struct symbol_found *found,
		     struct error *error)
{
	struct symbol_found *more = calloc(count, sizeof(*more));
	struct symbol_about about;
	int status = more ? run_once(files, file, debug_fd, wanted, count, more, &about, error)
			  : symbol_ask_error(files, -ENOMEM, error);

	for (size_t i = 0; i < count && status == 0; i++)
		if (is_missing(&found[i])) {
			symbol_found_done(&found[i], 1);
			found[i] = more[i];
			more[i] = (struct symbol_found){ 0 };
		}
	if (status == 0)
		symbol_found_done(more, count);
	free(more);
	if (status)
		return outcome(status);
	return about.debug_status
		       ? error_set(error, -EBADMSG, "%s", why_no_debug(about.debug_status))
		       : 0;
}

/* Without an answer about the separate file what was found before remains. */
static void ask_debug(struct file_reader *files, const struct symbol_file *file,
		      const struct symbol_about *about, const struct symbol_wanted *wanted,
		      size_t count, struct symbol_found *found, struct error *ret_note)
{
	char path[SYMBOL_DEBUG_PATH_MAX];
	struct symbol_file debug;
	struct error why;
	int status = symbol_debug_open(files, about, &debug, path, &why);

	if (status == -ENOENT)
		return;
	if (status == 0) {
		status = add_debug(files, file, debug.fd, wanted, count, found, &why);
		symbol_close(&debug);
	} else if (status == -ETIMEDOUT || status == -EBUSY || status == -EPIPE) {
		status = -EAGAIN;
	}
	if (status && status != -EAGAIN)
		error_set(ret_note, status, "cannot use %s: %s", path, why.text);
	for (size_t i = 0; i < count && status == -EAGAIN; i++)
		if (is_missing(&found[i]))
			found[i].status = error_set(&found[i].error, status, "cannot use %s: %s",
						    path, why.text);
}

int symbol_find(struct file_reader *files, const struct symbol_file *file,
		const struct symbol_wanted *wanted, size_t count, struct symbol_found *ret_found,
		struct error *error)
{
	struct symbol_about about;
	int status;

	if (count > SYMBOL_WANTED_MAX)
		return error_set(error, -E2BIG, "there are more than %d functions of it",
				 SYMBOL_WANTED_MAX);
	status = run_once(files, file, -1, wanted, count, ret_found, &about, error);
	if (status)
		return outcome(status);
	error->text[0] = '\0';
	if (is_any_missing(ret_found, count))
		ask_debug(files, file, &about, wanted, count, ret_found, error);
	return 0;
}
