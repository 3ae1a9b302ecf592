/* SPDX-License-Identifier: MIT */
/*
 * Locations of functions and markers in programs and libraries. ebpf-symbols reads the file, see
 * symbol_process.c, and a second time together with a separate file of symbols if names are
 * missing.
 */
#include "symbol_location.h"

#include "symbol_debug.h"
#include "symbol_process.h"
#include "symbol_reply.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int make_find_request(const struct symbol_wanted *wanted, size_t count, bool has_debug,
			     struct symbol_buffer *ret_request)
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

static int find_once(struct file_helper *files, const struct symbol_file *file, int debug_fd,
		     const struct symbol_wanted *wanted, size_t count,
		     struct symbol_found *ret_found, struct symbol_about *ret_about,
		     struct error *error)
{
	struct symbol_buffer request, reply;
	struct error why;
	int status;

	if (make_find_request(wanted, count, debug_fd >= 0, &request))
		return symbol_ask_error(files, -ENOMEM, error);
	status = symbol_ask(files, file, debug_fd, &request, &reply, &why);
	free(request.bytes);
	if (status)
		return error_set(error, status, "%s%s", why.text,
				 status == -ETIME ? "; name functions by their offset in the file"
						  : "");
	status = symbol_reply_parse(reply.bytes, reply.size, file->size, count, ret_found,
				    ret_about);
	free(reply.bytes);
	return status ? symbol_ask_error(files, status, error) : 0;
}

/* Only -EBADMSG is caused by the file itself; any other failure may be gone at the next try. */
static int find_status(int status)
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
		return "it is not a 64-bit file of this machine";
	case ESTALE:
		return "it is of another build, as its build ID says";
	default:
		return "no symbols can be read from it: it is truncated, broken or too large";
	}
}

/* Reads the file with the separate file, and replaces those results that were missing. */
static int add_debug(struct file_helper *files, const struct symbol_file *file, int debug_fd,
		     const struct symbol_wanted *wanted, size_t count, struct symbol_found *found,
		     struct error *error)
{
	struct symbol_found *more = calloc(count, sizeof(*more));
	struct symbol_about about;
	int status = more ? find_once(files, file, debug_fd, wanted, count, more, &about, error)
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
		return find_status(status);
	return about.debug_status
		       ? error_set(error, -EBADMSG, "%s", why_no_debug(about.debug_status))
		       : 0;
}

/* Failures leave the results as they are. */
static void find_in_debug(struct file_helper *files, const struct symbol_file *file,
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
	} else if (helper_may_reply_later(status) || status == -EPIPE) {
		status = -EAGAIN;
	}
	if (status && status != -EAGAIN)
		error_set(ret_note, status, "cannot use %s: %s", path, why.text);
	for (size_t i = 0; i < count && status == -EAGAIN; i++)
		if (is_missing(&found[i]))
			found[i].status = error_set(&found[i].error, status, "cannot use %s: %s",
						    path, why.text);
}

int symbol_find(struct file_helper *files, const struct symbol_file *file,
		const struct symbol_wanted *wanted, size_t count, struct symbol_found *ret_found,
		struct error *error)
{
	struct symbol_about about;
	int status;

	if (count > SYMBOL_WANTED_MAX)
		return error_set(error, -E2BIG, "there are more than %d functions of it",
				 SYMBOL_WANTED_MAX);
	status = find_once(files, file, -1, wanted, count, ret_found, &about, error);
	if (status)
		return find_status(status);
	error->text[0] = '\0';
	if (is_any_missing(ret_found, count))
		find_in_debug(files, file, &about, wanted, count, ret_found, error);
	return 0;
}
