/* SPDX-License-Identifier: MIT */
/*
 * The helper process: what it does for the daemon.
 */
#ifndef EBPF_HELPER_PROCESS_H
#define EBPF_HELPER_PROCESS_H

#include "helper_message.h"

/* Each serves one request and sends its reply; false: the daemon has closed the socket. */
bool helper_serve_open(int socket, const struct helper_request *request, const char *path);
bool helper_serve_symbols(int socket, const char *program, const int *descriptors, size_t count);
bool helper_serve_uprobe(int socket, const struct helper_request *request, int file);
bool helper_serve_uprobe_multi(int socket, const struct helper_request *request);

/* Serves requests until the daemon closes the socket, then ends the process. */
void helper_serve(int socket);

#endif
