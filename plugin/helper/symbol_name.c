/* SPDX-License-Identifier: MIT */
/*
 * Names of code. ebpf-symbols reads the file, and a second time together with a separate file of
 * symbols if there is one that may name more.
 */
#include "symbol_name.h"

#include "symbol_debug.h"
#include "symbol_process.h"
#include "symbol_reply.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct name_request {
	enum symbol_request_kind kind;
	const uint64_t *wanted; /* offsets or addresses */
	size_t count;
	bool wants_inlined;
};

static int make_name_request(const struct name_request *wanted_names, bool has_debug,
			     struct symbol_buffer *ret_request)
{
	struct symbol_request request = { .version = SYMBOL_VERSION,
					  .kind = wanted_names->kind,
					  .has_debug = has_debug,
					  .wants_inlined = wanted_names->wants_inlined,
					  .count = (uint32_t)wanted_names->count };
	size_t size = wanted_names->count * sizeof(*wanted_names->wanted);
	char *bytes = malloc(sizeof(request) + size);

	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, &request, sizeof(request));
	if (size)
		memcpy(bytes + sizeof(request), wanted_names->wanted, size);
	*ret_request = (struct symbol_buffer){ bytes, sizeof(request) + size };
	return 0;
}

static int ask_names(struct file_helper *files, const struct symbol_file *file, int debug_fd,
		     const struct name_request *wanted_names, struct symbol_names *ret_names,
		     struct symbol_about *ret_about, struct error *error)
{
	struct symbol_buffer request, reply;
	int status;

	if (make_name_request(wanted_names, debug_fd >= 0, &request))
		return symbol_ask_error(files, -ENOMEM, error);
	status = symbol_ask(files, file, debug_fd, &request, &reply, error);
	free(request.bytes);
	if (status)
		return status;
	status = symbol_reply_parse_names(reply.bytes, reply.size, wanted_names->count, ret_names,
					  ret_about);
	free(reply.bytes);
	return status ? symbol_ask_error(files, status, error) : 0;
}

static int name_once(struct file_helper *files, const struct symbol_file *file, int debug_fd,
		     const struct name_request *wanted_names, struct symbol_names *ret_names,
		     struct symbol_about *ret_about, struct error *error)
{
	struct name_request simple = *wanted_names;
	int status;

	if (wanted_names->count > SYMBOL_OFFSETS_MAX)
		return error_set(error, -E2BIG, "code at more than %d offsets is asked for at once",
				 SYMBOL_OFFSETS_MAX);
	status = ask_names(files, file, debug_fd, wanted_names, ret_names, ret_about, error);
	simple.wants_inlined = false;
	/* DWARF is large, and broken tools write it wrong, so names are tried without it. */
	if (wanted_names->wants_inlined &&
	    (status == -EIO || status == -ETIME || status == -EBADMSG))
		status = ask_names(files, file, debug_fd, &simple, ret_names, ret_about, error);
	if (status)
		return status;
	if (ret_about->status == -ENOEXEC)
		return error_set(error, -ENOEXEC, "%s",
				 wanted_names->kind == SYMBOL_REQUEST_NAME
					 ? "it is not a 64-bit program or library of this machine"
					 : "no line of it is START SIZE NAME, as perf reads them");
	return ret_about->status ? symbol_ask_error(files, ret_about->status, error) : 0;
}

/* Failures leave the names as they are. */
static void name_in_debug(struct file_helper *files, const struct symbol_file *file,
			  const struct name_request *wanted_names, const struct symbol_about *about,
			  struct symbol_names *names)
{
	char path[SYMBOL_DEBUG_PATH_MAX];
	struct symbol_about ignored;
	struct symbol_names more;
	struct symbol_file debug;
	struct error error;

	if (symbol_debug_open(files, about, &debug, path, &error))
		return;
	if (name_once(files, file, debug.fd, wanted_names, &more, &ignored, &error) == 0) {
		symbol_names_done(names);
		*names = more;
	}
	symbol_close(&debug);
}

int symbol_name(struct file_helper *files, const struct symbol_file *file, const uint64_t *offsets,
		size_t count, struct symbol_names *ret_names, uint8_t ret_build_id[20],
		struct error *error)
{
	struct name_request wanted_names = { SYMBOL_REQUEST_NAME, offsets, count, true };
	struct symbol_about about;
	int status = name_once(files, file, -1, &wanted_names, ret_names, &about, error);

	if (status)
		return status;
	if (about.wants_debug)
		name_in_debug(files, file, &wanted_names, &about, ret_names);
	if (ret_build_id) {
		memset(ret_build_id, 0, 20);
		memcpy(ret_build_id, about.build_id,
		       about.build_id_size < 20 ? about.build_id_size : 20);
	}
	return 0;
}

int symbol_name_made(struct file_helper *files, const struct symbol_file *map,
		     const uint64_t *addresses, size_t count, struct symbol_names *ret_names,
		     struct error *error)
{
	struct name_request wanted_names = { SYMBOL_REQUEST_NAME_MADE, addresses, count, false };
	struct symbol_about about;

	return name_once(files, map, -1, &wanted_names, ret_names, &about, error);
}
