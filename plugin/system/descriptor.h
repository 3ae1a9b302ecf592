/* SPDX-License-Identifier: MIT */
#ifndef EBPF_DESCRIPTOR_H
#define EBPF_DESCRIPTOR_H

#include <sys/socket.h>

/* Room for one descriptor beside a message, see SCM_RIGHTS in unix(7). */
union descriptor {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

#endif
