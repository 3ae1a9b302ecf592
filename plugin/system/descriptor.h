/* SPDX-License-Identifier: MIT */
#ifndef EBPF_DESCRIPTOR_H
#define EBPF_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A descriptor beside a message, see SCM_RIGHTS in unix(7). System calls alone, for processes that
 * are forked from a program with threads. */

/* Sends the bytes, and the descriptor with them, -1: none. false: the other end has gone. */
bool descriptor_send(int socket, const void *bytes, size_t size, int fd);

/* As recvmsg(2) with these flags; *ret_fd, the caller's, is -1 where none has come. */
ssize_t descriptor_receive(int socket, void *bytes, size_t size, int flags, int *ret_fd);

#endif
