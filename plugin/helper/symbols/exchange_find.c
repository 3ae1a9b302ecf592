/* SPDX-License-Identifier: MIT */
/*
 * Answers where in the file functions and markers are.
 */
#include "exchange.h"
#include "find.h"
#include "found.h"
#include "image.h"
#include "names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool read_wanted(struct symbol_wanted *wanted)
{
	struct symbol_request_name name;
	char *text;

	if (!exchange_read(&name, sizeof(name)) || name.length > SYMBOL_NAME_MAX)
		return false;
	text = calloc(1, name.length + 1);
	if (!text || !exchange_read(text, name.length))
		return false;
	*wanted = (struct symbol_wanted){
		.kind = name.kind == SYMBOL_MARKER ? SYMBOL_MARKER : SYMBOL_FUNCTION,
		.name = name.length ? text : NULL,
		.offset = name.offset,
		.returns = name.returns,
	};
	return true;
}

static void write_found(const struct symbol_found *found)
{
	size_t reason = strnlen(found->error.text, SYMBOL_TEXT_MAX - 1);
	struct symbol_answer_name answer = { .status = found->status,
					     .reason_length = (uint32_t)reason,
					     .count = (uint32_t)found->count };

	exchange_write(&answer, sizeof(answer));
	exchange_write(found->error.text, reason);
	for (size_t i = 0; i < found->count; i++) {
		const char *arguments =
			found->places[i].arguments ? found->places[i].arguments : "";
		struct symbol_answer_place place = {
			.offset = found->places[i].offset,
			.semaphore = found->places[i].semaphore,
			.flags = found->places[i].flags,
			.arguments_length = (uint32_t)strnlen(arguments, SYMBOL_TEXT_MAX - 1),
		};

		exchange_write(&place, sizeof(place));
		exchange_write(arguments, place.arguments_length);
	}
}

/* Of a file that is none, all that are wanted are told so. */
static int find_all(int debug_fd, const struct symbol_wanted *wanted, size_t count,
		    struct symbol_answer *answer, struct symbol_found *found)
{
	struct image image;
	int status = image_open(&image, SYMBOL_FD_FILE, debug_fd);

	for (size_t i = 0; i < count && status; i++)
		found_refuse(&found[i], status,
			     "it is no 64-bit program or library of this machine");
	if (status)
		return 0;
	answer->build_id_size =
		(uint32_t)image_build_id(&image, answer->build_id, sizeof(answer->build_id));
	answer->debug_status = image.debug_status;
	if (image.debug && !names_has(&image, NAMES_DEBUG))
		answer->debug_status = -ENODATA;
	return symbols_find(&image, wanted, count, found);
}

bool exchange_find(const struct symbol_request *request)
{
	struct symbol_answer answer = { .version = SYMBOL_VERSION };
	size_t count = request->count <= SYMBOL_WANTED_MAX ? request->count : 0;
	struct symbol_wanted *wanted = calloc(count, sizeof(*wanted));
	struct symbol_found *found = calloc(count, sizeof(*found));

	if (!wanted || !found)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!read_wanted(&wanted[i]))
			return false;
	if (find_all(request->has_debug ? SYMBOL_FD_DEBUG : -1, wanted, count, &answer, found))
		return false;
	exchange_write(&answer, sizeof(answer));
	for (size_t i = 0; i < count; i++)
		write_found(&found[i]);
	return true;
}
