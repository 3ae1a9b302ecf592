/* SPDX-License-Identifier: MIT */
/*
 * The processes of a service, from the kernel's list.
 */
#include "member.h"

#include "scan.h"

#include "bpf/lib/service.h"

#include <errno.h>
#include <string.h>

struct members {
	uint32_t row;
	pid_t *pids;
	size_t size, count;
};

static void add_member(void *to, const void *record)
{
	struct members *members = to;
	struct listed_process process;

	memcpy(&process, record, sizeof(process));
	if (process.row != members->row)
		return;
	if (members->count < members->size)
		members->pids[members->count] = (pid_t)process.pid;
	members->count++;
}

/* 0: no such block. */
static uint32_t find_configured_row(const struct config *config, const char *service)
{
	for (size_t i = 0; i < config->service_count; i++)
		if (!strcmp(config->services[i].name, service))
			return SERVICE_FIRST + (uint32_t)i;
	return 0;
}

ssize_t members_list(void *resolver, const char *service, pid_t *ret_pids, size_t size)
{
	const struct resolver *of = resolver;
	struct members members = { .row = find_configured_row(of->config, service),
				   .pids = ret_pids,
				   .size = size };
	struct error ignored;
	int status;

	if (!members.row)
		return -ENOENT;
	status = scan_run(of->object, SCAN_MEMBERS, sizeof(struct listed_process), add_member,
			  &members, &ignored);
	return status ?: (ssize_t)members.count;
}

struct file_finder members_finder(struct resolver *resolver)
{
	return (struct file_finder){ .files = resolver->files,
				     .processes = members_list,
				     .of = resolver };
}
