/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOL_ASK_H
#define EBPF_SYMBOL_ASK_H

#include "symbol_file.h"
#include "symbol_message.h"

struct symbol_text {
	char *bytes;
	size_t size;
};

/* Has ebpf-symbols started with the file, and with another one (debug_fd -1: none), sends it a request
 * as symbol_message.h has it, and receives all that it answers, for free(): any bytes may come, as a
 * file may have taken it over. Returns 0 or a negative errno, and the error says why. */
int symbol_ask(struct file_reader *files, const struct symbol_file *file, int debug_fd,
	       const struct symbol_text *request, struct symbol_text *ret_answer,
	       struct error *error);

/* Says why an answer cannot be used: -EBADMSG: it is none; -EPROTO: it is of another version; -ENOMEM.
 * Returns the status. */
int symbol_ask_error(const struct file_reader *files, int status, struct error *error);

#endif
