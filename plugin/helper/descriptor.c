/* SPDX-License-Identifier: MIT */
/*
 * Sends descriptors from one process to another, and says what is behind one.
 */
#include "descriptor.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statfs.h>

#define FUSE_MAGIC 0x65735546 /* of statfs(2) */

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

ssize_t descriptor_send(int socket, const void *bytes, size_t size, int flags, int fd)
{
	union control control = { .header = { .cmsg_len = CMSG_LEN(sizeof(int)),
					      .cmsg_level = SOL_SOCKET,
					      .cmsg_type = SCM_RIGHTS } };
	struct iovec vector = { (void *)bytes, size };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
	}
	return sendmsg(socket, &message, flags | MSG_NOSIGNAL);
}

ssize_t descriptor_receive(int socket, void *bytes, size_t size, int flags, int *ret_fd)
{
	union control control;
	struct iovec vector = { bytes, size };
	struct msghdr message = { .msg_iov = &vector,
				  .msg_iovlen = 1,
				  .msg_control = ret_fd ? control.bytes : NULL,
				  .msg_controllen = ret_fd ? sizeof(control.bytes) : 0 };
	ssize_t got = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
	struct cmsghdr *header = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;

	if (ret_fd)
		*ret_fd = -1;
	if (ret_fd && header && header->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(header), sizeof(*ret_fd));
	return got;
}

int descriptor_receive_one(int socket)
{
	ssize_t got;
	char byte;
	int fd;

	do
		got = descriptor_receive(socket, &byte, 1, 0, &fd);
	while (got < 0 && errno == EINTR);
	return fd;
}

bool descriptor_is_foreign(int fd)
{
	struct statfs system;

	return fstatfs(fd, &system) != 0 || system.f_type == FUSE_MAGIC;
}
