/* SPDX-License-Identifier: MIT */
/*
 * Serves requests for locations of functions and markers.
 */
#include "exchange.h"
#include "found.h"
#include "image.h"
#include "search.h"
#include "symbol_table.h"

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
	size_t reason_length = strnlen(found->error.text, SYMBOL_TEXT_MAX - 1);
	struct symbol_reply_name reply = { .status = found->status,
					   .reason_length = (uint32_t)reason_length,
					   .count = (uint32_t)found->count };

	exchange_write(&reply, sizeof(reply));
	exchange_write(found->error.text, reason_length);
	for (size_t i = 0; i < found->count; i++) {
		const char *arguments =
			found->locations[i].arguments ? found->locations[i].arguments : "";
		struct symbol_reply_location location = {
			.offset = found->locations[i].offset,
			.semaphore = found->locations[i].semaphore,
			.flags = found->locations[i].flags,
			.arguments_length = (uint32_t)strnlen(arguments, SYMBOL_TEXT_MAX - 1),
		};

		exchange_write(&location, sizeof(location));
		exchange_write(arguments, location.arguments_length);
	}
}

/* A file of another kind is reported with each name, not as a failure of the request. */
static int find_all_wanted(int debug_fd, const struct symbol_wanted *wanted, size_t count,
			   struct symbol_reply *reply, struct symbol_found *found)
{
	struct image image;
	int status = image_open(&image, SYMBOL_FD_FILE, debug_fd);

	for (size_t i = 0; i < count && status; i++)
		found_refuse(&found[i], status,
			     "it is not a 64-bit program or library of this machine");
	if (status)
		return 0;
	reply->build_id_size =
		(uint32_t)image_build_id(&image, reply->build_id, sizeof(reply->build_id));
	reply->debug_status = image.debug_status;
	if (image.debug && !symbol_table_has(&image, SYMBOL_TABLE_DEBUG))
		reply->debug_status = -ENODATA;
	return symbols_find(&image, wanted, count, found);
}

bool exchange_find(const struct symbol_request *request)
{
	struct symbol_reply reply = { .version = SYMBOL_VERSION };
	size_t count = request->count <= SYMBOL_WANTED_MAX ? request->count : 0;
	struct symbol_wanted *wanted = calloc(count, sizeof(*wanted));
	struct symbol_found *found = calloc(count, sizeof(*found));

	if (!wanted || !found)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!read_wanted(&wanted[i]))
			return false;
	if (find_all_wanted(request->has_debug ? SYMBOL_FD_DEBUG : -1, wanted, count, &reply,
			    found))
		return false;
	exchange_write(&reply, sizeof(reply));
	for (size_t i = 0; i < count; i++)
		write_found(&found[i]);
	return true;
}
