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

/* Waits for the descriptor that comes with one byte; -1: none has come, or the other end has gone. */
int descriptor_receive_one(int socket);

#endif
