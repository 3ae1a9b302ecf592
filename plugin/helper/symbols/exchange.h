/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_EXCHANGE_H
#define EBPF_SYMBOLS_EXCHANGE_H

#include "helper/symbol_message.h"

#include <stdbool.h>
#include <stddef.h>

/* What the plugin asks, and what it is answered, over SYMBOL_FD_SOCKET. */

/* false: the plugin does not say so much. */
bool exchange_read(void *to, size_t size);

/* Ends the process if the plugin has gone. */
void exchange_write(const void *from, size_t size);

/* The answers to each kind of request, of which the head is read already; false: it cannot be
 * answered. */
bool exchange_find(const struct symbol_request *request);
bool exchange_name(const struct symbol_request *request);

#endif
