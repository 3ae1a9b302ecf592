/* SPDX-License-Identifier: MIT */
/*
 * The helper's part of a link of one program to many locations of a file (uprobe.multi), for which
 * libbpf 1.1 has no call. The kernel reads the file when it puts its breakpoints there, which may
 * hang: the helper makes the link and sends its descriptor. System calls only: the helper is forked
 * from a program with threads.
 */
#include "helper_uprobe_multi.h"

#include "descriptor.h"
#include "helper_process.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t address_of(const void *of)
{
	return (uint64_t)(uintptr_t)of;
}

int uprobe_multi_create(struct uprobe_multi_attr *attr)
{
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, attr, sizeof(*attr));

	return fd < 0 ? -errno : fd;
}

static int link_received(int program, int file, const struct helper_request *request,
			 const uint64_t *numbers)
{
	size_t count = request->count;
	char path[32] = "";
	struct uprobe_multi_attr all = { .program = (uint32_t)program,
					 .attach_type = UPROBE_MULTI_ATTACH_TYPE,
					 .path = address_of(path),
					 .offsets = address_of(numbers),
					 .cookies = address_of(numbers + count),
					 .count = (uint32_t)count,
					 .uprobe_flags = (uint32_t)request->config };

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	for (size_t i = 2 * count; i < 3 * count; i++)
		if (numbers[i])
			all.semaphores = address_of(numbers + 2 * count);
	return uprobe_multi_create(&all);
}

static bool serve_locations(int socket, const struct helper_request *request, int program, int file,
			    uint64_t *numbers, size_t size)
{
	struct uprobe_reply reply;
	int link;
	bool sent;

	if (!socket_receive(socket, numbers, size))
		return false;
	link = link_received(program, file, request, numbers);
	reply.status = link < 0 ? link : 0;
	sent = descriptor_send(socket, &reply, sizeof(reply), link);
	if (link >= 0)
		close(link);
	return sent;
}

bool helper_serve_uprobe_multi(int socket, const struct helper_request *request)
{
	size_t size = 3 * sizeof(uint64_t) * request->count;
	int program = descriptor_receive_one(socket),
	    file = program < 0 ? -1 : descriptor_receive_one(socket);
	void *numbers = MAP_FAILED;
	bool sent;

	if (file >= 0 && request->count && request->count <= UPROBE_MULTI_MAX)
		numbers = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);
	sent = numbers != MAP_FAILED &&
	       serve_locations(socket, request, program, file, numbers, size);
	if (numbers != MAP_FAILED)
		munmap(numbers, size);
	if (program >= 0)
		close(program);
	if (file >= 0)
		close(file);
	return sent;
}
