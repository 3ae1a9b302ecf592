/* SPDX-License-Identifier: MIT */
/*
 * Serves requests for names of code.
 */
#include "exchange.h"
#include "offset.h"
#include "perf_map.h"

#include "helper/symbol_result.h"

#include <errno.h>
#include <stdlib.h>

/* Names code of a program or library. */
static int name_offsets(const struct symbol_request *request, const uint64_t *offsets, size_t count,
			struct symbol_reply *reply, struct symbol_reply_names *names,
			struct naming *namings)
{
	struct image image;
	int status = image_open(&image, SYMBOL_FD_FILE, request->has_debug ? SYMBOL_FD_DEBUG : -1);

	if (status)
		return status;
	reply->build_id_size =
		(uint32_t)image_build_id(&image, reply->build_id, sizeof(reply->build_id));
	names->wants_debug = offsets_want_debug(&image);
	return offsets_name(&image, offsets, count, request->wants_inlined, namings);
}

bool exchange_name(const struct symbol_request *request)
{
	struct symbol_reply reply = { .version = SYMBOL_VERSION };
	struct symbol_reply_names names = { 0 };
	size_t count = request->count <= SYMBOL_OFFSETS_MAX ? request->count : 0;
	uint64_t *wanted = calloc(count + 1, sizeof(*wanted));
	struct naming *namings = calloc(count + 1, sizeof(*namings));

	if (!wanted || !namings || !exchange_read(wanted, count * sizeof(*wanted)))
		return false;
	if (request->kind == SYMBOL_REQUEST_NAME_MADE)
		names.status = perf_map_name(SYMBOL_FD_FILE, wanted, count, namings);
	else
		names.status = name_offsets(request, wanted, count, &reply, &names, namings);
	exchange_write(&reply, sizeof(reply));
	exchange_write(&names, sizeof(names));
	for (size_t i = 0; i < count && names.status == 0; i++) {
		uint32_t length = (uint32_t)namings[i].size;

		exchange_write(&length, sizeof(length));
		exchange_write(namings[i].bytes, length);
	}
	return true;
}
