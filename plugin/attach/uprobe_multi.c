/* SPDX-License-Identifier: MIT */
/*
 * One link of a program to many locations of a file (uprobe.multi), for which libbpf 1.1 has no
 * call. The helper process makes it, as it opens perf events of single locations, see
 * uprobe_event.c.
 */
#include "uprobe_multi.h"

#include "helper/descriptor.h"
#include "helper/helper_uprobe_multi.h"
#include "trial_program.h"
#include "uprobe_event.h"
#include "util/clock.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define WAIT_MS \
	10000               /* for each location the kernel visits all processes that have the file
		       * mapped */
#define KERNEL_ENOTSUPP 524 /* internal to the kernel, unknown to C libraries */

struct link_request {
	const struct uprobe_multi *links;
	int fd;
};

static bool send_all(int helper, const struct uprobe_multi *links)
{
	struct helper_request request = { .kind = HELPER_UPROBE_MULTI,
					  .count = (uint32_t)links->count,
					  .config = links->at_return ? UPROBE_MULTI_RETURN : 0 };
	size_t size = links->count * sizeof(uint64_t);

	return socket_send(helper, &request, sizeof(request)) &&
	       descriptor_send(helper, "", 1, links->program) &&
	       descriptor_send(helper, "", 1, links->file) &&
	       socket_send(helper, links->offsets, size) &&
	       socket_send(helper, links->cookies, size) &&
	       socket_send(helper, links->semaphores, size);
}

static int request_link(int helper, void *with)
{
	struct link_request *request = with;
	uint64_t end_ns = clock_ns() + WAIT_MS * 1000000ULL;
	struct uprobe_reply reply = { 0 };
	int status;

	if (!send_all(helper, request->links))
		return -EPIPE;
	status = helper_receive_descriptor(helper, &reply, sizeof(reply), end_ns, &request->fd);
	if (status)
		return status;
	if ((request->fd >= 0) != (reply.status == 0)) {
		if (request->fd >= 0)
			close(request->fd);
		return -EPIPE;
	}
	return helper_file_error(reply.status);
}

int uprobe_multi_link(struct file_helper *files, const struct uprobe_multi *links, int *ret_fd)
{
	struct file_charge owner = { .budget = FILE_OF_ROOT, .owner = links->owner };
	struct link_request request = { .links = links, .fd = -1 };
	int status;

	if (links->count == 0 || links->count > UPROBE_MULTI_MAX)
		return links->count ? -E2BIG : -EINVAL;
	status = helper_ask(files, &owner, request_link, &request);
	if (status == 0)
		*ret_fd = request.fd;
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

/* -EBADF, as a directory is no regular file: the kernel has got far enough to support such
 * links. */
static bool refuses_directory(int program)
{
	static const uint64_t offset;
	struct uprobe_multi_attr directory = { .program = (uint32_t)program,
					       .attach_type = UPROBE_MULTI_ATTACH_TYPE,
					       .path = (uint64_t)(uintptr_t) "/",
					       .offsets = (uint64_t)(uintptr_t)&offset,
					       .count = 1 };

	return uprobe_multi_create(&directory) == -EBADF;
}

bool uprobe_multi_is_supported(void)
{
	int program = trial_program_load(BPF_PROG_TYPE_KPROBE,
					 (enum bpf_attach_type)UPROBE_MULTI_ATTACH_TYPE, 0);
	bool supported = program >= 0 && refuses_directory(program);

	if (program >= 0)
		close(program);
	return supported;
}

void uprobe_multi_set(struct bpf_program *program)
{
	bpf_program__set_expected_attach_type(program,
					      (enum bpf_attach_type)UPROBE_MULTI_ATTACH_TYPE);
}

bool uprobe_multi_is_of(const struct bpf_program *program)
{
	return (unsigned)bpf_program__expected_attach_type(program) == UPROBE_MULTI_ATTACH_TYPE;
}
