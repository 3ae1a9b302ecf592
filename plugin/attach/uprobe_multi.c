/* SPDX-License-Identifier: MIT */
/*
 * One link for many functions of a file (uprobe.multi), for which libbpf 1.1 has no call. Made by the
 * worker as perf events of single functions are, see uprobe.c.
 */
#include "uprobe_multi.h"

#include "helper/descriptor.h"
#include "uprobe.h"
#include "util/clock.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WAIT_MS 10000 /* the kernel goes through all processes that have the file, for each place */
#define KERNEL_ENOTSUPP 524 /* the kernel's own, unknown to C libraries */
#define FLAG_RETURN 1       /* BPF_F_UPROBE_MULTI_RETURN */

/* The part of union bpf_attr for BPF_LINK_CREATE, as Linux 6.6 has it. */
struct link_create {
	uint32_t program, target, attach_type, flags;
	uint64_t path, offsets, semaphores, cookies;
	uint32_t count, multi_flags, pid, none;
};

static uint64_t address(const void *of)
{
	return (uint64_t)(uintptr_t)of;
}

/* A link's descriptor, or a negative errno. */
static int create(struct link_create *create)
{
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, create, sizeof(*create));

	return fd < 0 ? -errno : fd;
}

bool uprobe_multi_is_known(int program)
{
	static const uint64_t offset;
	struct link_create directory = { .program = (uint32_t)program,
					 .attach_type = UPROBE_MULTI_ATTACH_TYPE,
					 .path = address("/"),
					 .offsets = address(&offset),
					 .count = 1 };

	/* No regular file: a kernel that has got so far as to see it knows what is asked for. */
	return create(&directory) == -EBADF;
}

/* --- the worker's --- */

static int link_all(int program, int file, const struct question *question, const uint64_t *numbers)
{
	size_t count = question->count;
	char path[32];
	struct link_create all = { .program = (uint32_t)program,
				   .attach_type = UPROBE_MULTI_ATTACH_TYPE,
				   .path = address(path),
				   .offsets = address(numbers),
				   .cookies = address(numbers + count),
				   .count = (uint32_t)count,
				   .multi_flags = (uint32_t)question->config };

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	for (size_t i = 2 * count; i < 3 * count; i++)
		if (numbers[i])
			all.semaphores = address(numbers + 2 * count);
	return create(&all);
}

static bool answer_places(int socket, const struct question *question, int program, int file,
			  uint64_t *numbers, size_t size)
{
	struct uprobe_answer answer;
	int link;
	bool sent;

	if (!socket_receive(socket, numbers, size))
		return false;
	link = link_all(program, file, question, numbers);
	answer.status = link < 0 ? link : 0;
	sent = descriptor_send(socket, &answer, sizeof(answer), link);
	if (link >= 0)
		close(link);
	return sent;
}

bool uprobe_multi_answer(int socket, const struct question *question)
{
	size_t size = 3 * sizeof(uint64_t) * question->count;
	int program = descriptor_receive_one(socket),
	    file = program < 0 ? -1 : descriptor_receive_one(socket);
	void *numbers = MAP_FAILED;
	bool sent;

	if (file >= 0 && question->count && question->count <= UPROBE_MULTI_MAX)
		numbers = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);
	sent = numbers != MAP_FAILED &&
	       answer_places(socket, question, program, file, numbers, size);
	if (numbers != MAP_FAILED)
		munmap(numbers, size);
	if (program >= 0)
		close(program);
	if (file >= 0)
		close(file);
	return sent;
}

/* --- in the daemon --- */

struct asked {
	const struct uprobe_multi *multi;
	int fd;
};

static bool send_all(int worker, const struct uprobe_multi *multi)
{
	struct question question = { .kind = QUESTION_UPROBE_MULTI,
				     .count = (uint32_t)multi->count,
				     .config = multi->at_return ? FLAG_RETURN : 0 };
	size_t size = multi->count * sizeof(uint64_t);

	return socket_send(worker, &question, sizeof(question)) &&
	       descriptor_send(worker, "", 1, multi->program) &&
	       descriptor_send(worker, "", 1, multi->file) &&
	       socket_send(worker, multi->offsets, size) &&
	       socket_send(worker, multi->cookies, size) &&
	       socket_send(worker, multi->semaphores, size);
}

static int ask(int worker, void *with)
{
	struct asked *asked = with;
	uint64_t end_ns = clock_ns() + WAIT_MS * 1000000ULL;
	struct uprobe_answer answer = { 0 };
	int status;

	if (!send_all(worker, asked->multi))
		return -EPIPE;
	status = worker_receive_descriptor(worker, &answer, sizeof(answer), end_ns, &asked->fd);
	if (status)
		return status;
	if ((asked->fd >= 0) != (answer.status == 0)) {
		if (asked->fd >= 0)
			close(asked->fd);
		return -EPIPE;
	}
	return worker_told(answer.status);
}

int uprobe_multi_link(struct file_reader *reader, const struct uprobe_multi *multi, int *ret_fd)
{
	struct worker_turn turn = { .share = FILE_OF_ROOT, .whose = multi->whose };
	struct asked asked = { .multi = multi, .fd = -1 };
	int status;

	if (multi->count == 0 || multi->count > UPROBE_MULTI_MAX)
		return multi->count ? -E2BIG : -EINVAL;
	status = worker_ask(reader, &turn, ask, &asked);
	if (status == 0)
		*ret_fd = asked.fd;
	return status;
}

const char *uprobe_multi_strerror(int status)
{
	switch (-status) {
	case EACCES:
	case EPERM:
		return "collectd needs CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN";
	case EINVAL:
	case EIO:
	case KERNEL_ENOTSUPP:
		return "the kernel refuses it, as the file system may be, or the instruction there";
	case ENOMEM:
		return UPROBE_NO_MEMORY;
	case EPIPE:
		return "the process that makes links has ended";
	case ETIMEDOUT:
		return "the kernel takes too long for it";
	default:
		return file_strerror(status);
	}
}
