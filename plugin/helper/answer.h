/* SPDX-License-Identifier: MIT */
/*
 * The helper process: what it does for the daemon.
 */
#ifndef EBPF_ANSWER_H
#define EBPF_ANSWER_H

#include "helper_message.h"

/* Each serves one request and sends its reply; false: the daemon has closed the socket. */
bool answer_open(int socket, const struct question *request, const char *path);
bool answer_symbols(int socket, const char *program, const int *descriptors, size_t count);
bool answer_uprobe(int socket, const struct question *request, int file);
bool uprobe_multi_answer(int socket, const struct question *request);

/* Is the file on FUSE, where a program serves it that may stop or lie? Also true if the kernel
 * does not say. */
bool answer_is_foreign(int fd);

/* Serves requests until the daemon closes the socket, then ends the process. */
void answer_questions(int socket);

#endif
