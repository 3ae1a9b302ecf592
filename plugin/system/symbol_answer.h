/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOL_ANSWER_H
#define EBPF_SYMBOL_ANSWER_H

#include "symbol_message.h"

#include <stdbool.h>

/* Takes the answer of ebpf-symbols to so many names, about a file of this size; any bytes may come,
 * as a file may have taken it over. Fills ret_found, for symbol_found_done(), and the build ID as
 * text. -EBADMSG: it is none, and nothing is filled; -EPROTO: it is of another version; -ENOMEM. */
int symbol_answer_take(const char *bytes, size_t size, uint64_t file_size, size_t count,
		       struct symbol_found *ret_found,
		       char ret_build_id[2 * SYMBOL_BUILD_ID_MAX + 1]);

#endif
