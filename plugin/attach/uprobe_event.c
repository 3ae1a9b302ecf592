/* SPDX-License-Identifier: MIT */
/*
 * A location in a program or library as a perf event. When the kernel inserts the breakpoint it
 * reads the file, which may hang: so the helper process opens the event, see helper/file.c, and
 * sends its descriptor. It names the file by the descriptor that the daemon sends, so the kernel
 * opens the same file that was examined.
 */
#include "uprobe_event.h"

#include "helper/descriptor.h"
#include "util/clock.h"
#include "util/kernel_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WAIT_MS 5000
#define PMU "/sys/bus/event_source/devices/uprobe/"

struct event_request {
	struct helper_request message;
	int file;
	int event;
};

static int request_event(int helper, void *with)
{
	struct event_request *request = with;
	struct uprobe_reply reply = { 0 };
	int status;

	if (!socket_send(helper, &request->message, sizeof(request->message)) ||
	    !descriptor_send(helper, "", 1, request->file))
		return -EPIPE;
	status = helper_receive_descriptor(helper, &reply, sizeof(reply),
					   clock_ns() + WAIT_MS * 1000000ULL, &request->event);
	if (status)
		return status;
	if ((request->event >= 0) == (reply.status == 0))
		return helper_file_error(reply.status);
	if (request->event >= 0)
		close(request->event);
	return -EPIPE;
}

static bool read_pmu_text(const char *path, char *text, size_t size)
{
	ssize_t length = kernel_file_read(path, text, size - 1);

	text[length > 0 ? length : 0] = '\0';
	return length > 0;
}

/* Fills in the kernel's numbers for uprobe events. */
static int set_pmu(struct helper_request *request, uint64_t semaphore, bool at_return)
{
	char type[32], bit[32];
	unsigned n, end;

	if (!read_pmu_text(PMU "type", type, sizeof(type)) ||
	    !read_pmu_text(PMU "format/retprobe", bit, sizeof(bit)) ||
	    sscanf(type, "%u", &request->pmu_type) != 1 || sscanf(bit, "config:%u", &n) != 1 ||
	    n > 63)
		return -ENODEV;
	request->config = at_return ? 1ULL << n : 0;
	if (!semaphore)
		return 0;
	if (!read_pmu_text(PMU "format/ref_ctr_offset", bit, sizeof(bit)) ||
	    sscanf(bit, "config:%u-%u", &n, &end) != 2 || n > 32 || end != n + 31)
		return -ENODEV;
	request->config |= semaphore << n;
	return 0;
}

static const char *event_refusal_reason(int status)
{
	switch (-status) {
	case ENODEV:
		return "the kernel is built without uprobes (CONFIG_UPROBE_EVENTS)";
	case EACCES:
	case EPERM:
		return "collectd needs CAP_PERFMON or CAP_SYS_ADMIN for it";
	case EINVAL:
		return "the kernel refuses it, as the file system may be, or the instruction there";
	case ENOMEM:
		return UPROBE_NO_MEMORY;
	case EPIPE:
		return "the process that opens it has ended";
	case ETIMEDOUT:
		return "the kernel does not answer, as the file system may be";
	case EBUSY:
		return "too many files of other file systems do not answer";
	default:
		return strerror(-status);
	}
}

int uprobe_event(struct file_helper *files, const struct symbol_file *file,
		 const struct symbol_location *location, bool at_return, int *ret_fd,
		 struct error *error)
{
	struct file_charge owner = { .budget = FILE_OF_ROOT, .owner = symbol_number(file) };
	struct event_request request = { .message = { .kind = HELPER_UPROBE,
						      .descriptor_count = 1,
						      .offset = location->offset },
					 .file = file->fd };
	int status = set_pmu(&request.message, location->semaphore, at_return);

	status = status ? status : helper_ask(files, &owner, request_event, &request);
	if (status)
		return error_set(error, status, "%s", event_refusal_reason(status));
	*ret_fd = request.event;
	return 0;
}
