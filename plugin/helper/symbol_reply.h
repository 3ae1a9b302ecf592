/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOL_REPLY_H
#define EBPF_SYMBOL_REPLY_H

/* Replies of ebpf-symbols, checked: a hostile file may have taken the program over, so any bytes
 * may come. */

#include "symbol_message.h"
#include "symbol_result.h"

#include <stdbool.h>

/* What a reply says of the file as a whole. */
struct symbol_about {
	int status; /* of a request for names: 0; -ENOEXEC: the file is of another kind; -ENOMEM */
	bool wants_debug;
	int debug_status; /* see struct symbol_reply */
	size_t build_id_size;
	uint8_t build_id[SYMBOL_BUILD_ID_MAX];
};

/* Parses the reply to a request for `count` locations in a file of file_size bytes. Fills
 * ret_found, for symbol_found_done(). -EBADMSG: the reply is invalid, and nothing is filled;
 * -EPROTO: it is of another version; -ENOMEM. */
int symbol_reply_parse(const char *bytes, size_t size, uint64_t file_size, size_t count,
		       struct symbol_found *ret_found, struct symbol_about *ret_about);

/* The same for a request for `count` names. ret_names is filled, for symbol_names_done(), if both
 * this and the status in ret_about are 0. */
int symbol_reply_parse_names(const char *bytes, size_t size, size_t count,
			     struct symbol_names *ret_names, struct symbol_about *ret_about);

#endif
