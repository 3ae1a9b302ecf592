/* SPDX-License-Identifier: MIT */
/*
 * The processes of a service, from the kernel's list.
 */
#include "service_process.h"

#include "scan.h"

#include "bpf/lib/services/service.h"

#include <errno.h>
#include <string.h>

struct service_processes {
	uint32_t row;
	pid_t *pids;
	size_t size, count;
};

static void add_service_process(void *to, const void *record)
{
	struct service_processes *list = to;
	struct listed_process process;

	memcpy(&process, record, sizeof(process));
	if (process.row != list->row)
		return;
	if (list->count < list->size)
		list->pids[list->count] = (pid_t)process.pid;
	list->count++;
}

/* 0: no such block. */
static uint32_t find_configured_row(const struct config *config, const char *service)
{
	for (size_t i = 0; i < config->service_count; i++)
		if (!strcmp(config->services[i].name, service))
			return SERVICE_FIRST + (uint32_t)i;
	return 0;
}

ssize_t service_processes_list(void *resolver, const char *service, pid_t *ret_pids, size_t size)
{
	const struct resolver *of = resolver;
	struct service_processes list = { .row = find_configured_row(of->config, service),
					  .pids = ret_pids,
					  .size = size };
	struct error ignored;
	int status;

	if (!list.row)
		return -ENOENT;
	status = scan_run(of->object, SCAN_PROCESSES, sizeof(struct listed_process),
			  add_service_process, &list, &ignored);
	return status ?: (ssize_t)list.count;
}

struct file_finder service_process_finder(struct resolver *resolver, struct file_helper *files)
{
	return (struct file_finder){ .files = files,
				     .processes = service_processes_list,
				     .of = resolver };
}
