/* SPDX-License-Identifier: MIT */
/*
 * A location in a program or library as a perf event. When the kernel inserts the breakpoint it
 * reads the file, which may hang: so the helper process opens the event, see helper/helper_request.c, and
 * sends its descriptor. It names the file by the descriptor that the daemon sends, so the kernel
 * opens the same file that was examined.
 */
#include "uprobe_event.h"

#include "object/diagnosis.h"
#include "util/kernel_file.h"

#include <errno.h>
#include <stdio.h>

#define PMU "/sys/bus/event_source/devices/uprobe/"

static bool read_pmu_text(const char *path, char *text, size_t size)
{
	ssize_t length = kernel_file_read(path, text, size - 1);

	text[length > 0 ? length : 0] = '\0';
	return length > 0;
}

/* Fills in the kernel's numbers for uprobe events. */
static int set_pmu(struct event_request *request, uint64_t semaphore, bool at_return)
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

int uprobe_event(struct file_helper *files, const struct symbol_file *file,
		 const struct symbol_location *location, bool at_return, int *ret_fd,
		 struct error *error)
{
	struct file_charge charge = { .budget = FILE_OF_ROOT, .owner = symbol_number(file) };
	struct event_request event = { .offset = location->offset };
	int status = set_pmu(&event, location->semaphore, at_return);

	status = status ?: helper_open_event(files, &charge, file->fd, &event, ret_fd);
	return status ? diagnosis_of_kind(HOOK_UPROBE, status, error) : 0;
}
