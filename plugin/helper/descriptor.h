/* SPDX-License-Identifier: MIT */
#ifndef EBPF_DESCRIPTOR_H
#define EBPF_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A descriptor sent with a message, see SCM_RIGHTS in unix(7). System calls only, for processes
 * that are forked from a program with threads. */

/* Like sendmsg(2) with these flags, without SIGPIPE. Sends the descriptor with the bytes; negative:
 * none. */
ssize_t descriptor_send(int socket, const void *bytes, size_t size, int flags, int fd);

/* Like recvmsg(2) with these flags. *ret_fd is the caller's, -1: none has come; ret_fd NULL: a
 * descriptor that comes is dropped. */
ssize_t descriptor_receive(int socket, void *bytes, size_t size, int flags, int *ret_fd);

/* Waits for a descriptor that comes with one byte; -1: none has come, or the other end has closed
 * the socket. */
int descriptor_receive_one(int socket);

/* Is the file on FUSE, where a program serves it that may stop or lie? Also true if the kernel
 * does not say. */
bool descriptor_is_foreign(int fd);

#endif
