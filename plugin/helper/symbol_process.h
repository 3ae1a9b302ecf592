/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOL_PROCESS_H
#define EBPF_SYMBOL_PROCESS_H

#include "symbol_file.h"
#include "symbol_message.h"

/* Runs ebpf-symbols with the file, and a separate file of symbols (debug_fd -1: none), sends it a
 * request as in symbol_message.h, and receives its whole reply, for free(). A hostile file may have
 * taken the program over, so any bytes may come. Returns 0 or a negative errno, and the error says
 * why. */
int symbol_ask(struct file_helper *files, const struct symbol_file *file, int debug_fd,
	       const struct symbol_buffer *request, struct symbol_buffer *ret_reply,
	       struct error *error);

/* Describes why a reply cannot be used: -EBADMSG: it is invalid; -EPROTO: it is of another version;
 * -ENOMEM. Returns the status. */
int symbol_ask_error(const struct file_helper *files, int status, struct error *error);

#endif
