/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_EXCHANGE_H
#define EBPF_SYMBOLS_EXCHANGE_H

#include "helper/symbol_message.h"

#include <stdbool.h>
#include <stddef.h>

/* The request of the plugin and the reply to it, over SYMBOL_FD_SOCKET. */

/* Reads a part of the request; false: it ends before that. */
bool exchange_read(void *to, size_t size);

/* Writes a part of the reply. Ends the process if the plugin has closed the socket. */
void exchange_write(const void *from, size_t size);

/* Serve a request whose head is read already; false: it cannot be served. */
bool exchange_find(const struct symbol_request *request);
bool exchange_name(const struct symbol_request *request);

#endif
