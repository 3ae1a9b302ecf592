/* SPDX-License-Identifier: MIT */
/*
 * What code is called: ebpf-symbols says it, of the file, and once more with the separate file of
 * symbols where there is one.
 */
#include "symbol_name.h"

#include "symbol_answer.h"
#include "symbol_ask.h"
#include "symbol_debug.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct asked {
	enum symbol_request_kind kind;
	const uint64_t *wanted; /* offsets, or addresses */
	size_t count;
	bool wants_inlined;
};

static int make_request(const struct asked *asked, bool has_debug, struct symbol_text *ret_request)
{
	struct symbol_request request = { .version = SYMBOL_VERSION,
					  .kind = asked->kind,
					  .has_debug = has_debug,
					  .wants_inlined = asked->wants_inlined,
					  .count = (uint32_t)asked->count };
	size_t size = asked->count * sizeof(*asked->wanted);
	char *bytes = malloc(sizeof(request) + size);

	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, &request, sizeof(request));
	if (size)
		memcpy(bytes + sizeof(request), asked->wanted, size);
	*ret_request = (struct symbol_text){ bytes, sizeof(request) + size };
	return 0;
}

static int ask(struct file_reader *files, const struct symbol_file *file, int debug_fd,
	       const struct asked *asked, struct symbol_names *ret_names,
	       struct symbol_about *ret_about, struct error *error)
{
	struct symbol_text request, answer;
	int status;

	if (make_request(asked, debug_fd >= 0, &request))
		return symbol_ask_error(files, -ENOMEM, error);
	status = symbol_ask(files, file, debug_fd, &request, &answer, error);
	free(request.bytes);
	if (status)
		return status;
	status = symbol_answer_take_names(answer.bytes, answer.size, asked->count, ret_names,
					  ret_about);
	free(answer.bytes);
	return status ? symbol_ask_error(files, status, error) : 0;
}

static int run_once(struct file_reader *files, const struct symbol_file *file, int debug_fd,
		    const struct asked *asked, struct symbol_names *ret_names,
		    struct symbol_about *ret_about, struct error *error)
{
	struct asked simple = *asked;
	int status;

	if (asked->count > SYMBOL_OFFSETS_MAX)
		return error_set(error, -E2BIG, "code at more than %d places is asked for at once",
				 SYMBOL_OFFSETS_MAX);
	status = ask(files, file, debug_fd, asked, ret_names, ret_about, error);
	simple.wants_inlined = false;
	/* DWARF is large, and often enough what broken tools have made: names do without. */
	if (asked->wants_inlined && (status == -EIO || status == -ETIME || status == -EBADMSG))
		status = ask(files, file, debug_fd, &simple, ret_names, ret_about, error);
	if (status)
		return status;
	if (ret_about->status == -ENOEXEC)
		return error_set(error, -ENOEXEC, "%s",
				 asked->kind == SYMBOL_REQUEST_NAME
					 ? "it is no 64-bit program or library of this machine"
					 : "no line of it is START SIZE NAME, as perf reads them");
	return ret_about->status ? symbol_ask_error(files, ret_about->status, error) : 0;
}

/* Without an answer about it what was known before remains. */
static void ask_debug(struct file_reader *files, const struct symbol_file *file,
		      const struct asked *asked, const struct symbol_about *about,
		      struct symbol_names *names)
{
	char path[SYMBOL_DEBUG_PATH_MAX];
	struct symbol_about ignored;
	struct symbol_names more;
	struct symbol_file debug;
	struct error error;

	if (symbol_debug_open(files, about, &debug, path, &error))
		return;
	if (run_once(files, file, debug.fd, asked, &more, &ignored, &error) == 0) {
		symbol_names_done(names);
		*names = more;
	}
	symbol_close(&debug);
}

int symbol_name(struct file_reader *files, const struct symbol_file *file, const uint64_t *offsets,
		size_t count, struct symbol_names *ret_names, uint8_t ret_build_id[20],
		struct error *error)
{
	struct asked asked = { SYMBOL_REQUEST_NAME, offsets, count, true };
	struct symbol_about about;
	int status = run_once(files, file, -1, &asked, ret_names, &about, error);

	if (status)
		return status;
	if (about.wants_debug)
		ask_debug(files, file, &asked, &about, ret_names);
	if (ret_build_id) {
		memset(ret_build_id, 0, 20);
		memcpy(ret_build_id, about.build_id,
		       about.build_id_size < 20 ? about.build_id_size : 20);
	}
	return 0;
}

int symbol_name_made(struct file_reader *files, const struct symbol_file *map,
		     const uint64_t *addresses, size_t count, struct symbol_names *ret_names,
		     struct error *error)
{
	struct asked asked = { SYMBOL_REQUEST_NAME_MADE, addresses, count, false };
	struct symbol_about about;

	return run_once(files, map, -1, &asked, ret_names, &about, error);
}
