/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOL_ANSWER_H
#define EBPF_SYMBOL_ANSWER_H

#include "symbol_message.h"
#include "symbol_result.h"

#include <stdbool.h>

/* What is said of the file. */
struct symbol_about {
	int status; /* of names: 0; -ENOEXEC: it is of another kind; -ENOMEM */
	bool wants_debug;
	int debug_status; /* see struct symbol_answer */
	size_t build_id_size;
	uint8_t build_id[SYMBOL_BUILD_ID_MAX];
};

/* Takes the answer of ebpf-symbols to so many names, about a file of this size; any bytes may come,
 * as a file may have taken it over. Fills ret_found, for symbol_found_done(). -EBADMSG: it is none,
 * and nothing is filled; -EPROTO: it is of another version; -ENOMEM. */
int symbol_answer_take(const char *bytes, size_t size, uint64_t file_size, size_t count,
		       struct symbol_found *ret_found, struct symbol_about *ret_about);

/* The same of the answer about the names of so much code. ret_names is filled, for
 * symbol_names_done(), if this and the status of ret_about are 0. */
int symbol_answer_take_names(const char *bytes, size_t size, size_t count,
			     struct symbol_names *ret_names, struct symbol_about *ret_about);

#endif
