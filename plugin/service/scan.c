/* SPDX-License-Identifier: MIT */
/*
 * The kernel's walk over processes: it lists processes for the engine, and carries out the engine's
 * assignments.
 */
#include "scan.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

int scan_run(struct object *object, enum scan_mode mode, size_t size,
	     void (*add)(void *to, const void *record), void *to, struct error *error)
{
	int status;

	object_set(object, "scan_mode", mode);
	status = object_walk(object, size, add, to, error);
	object_set(object, "scan_mode", SCAN_NONE);
	return status;
}

static void delete_assignments(int fd, const struct scan_order *orders, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		bpf_map_delete_elem(fd, &orders[i].pid);
}

int scan_assign(struct object *object, const struct scan_order *orders, size_t count,
		struct error *error)
{
	int fd = bpf_map__fd(object_map(object, "assignments")), status = 0;
	size_t done = 0;

	while (done < count && status == 0) {
		size_t i = done;

		while (i < count &&
		       bpf_map_update_elem(fd, &orders[i].pid, &orders[i].assignment, BPF_ANY) == 0)
			i++;
		if (i == done)
			return error_set(error, -errno, "cannot send an assignment: %s",
					 strerror(errno));
		status = scan_run(object, SCAN_NONE, 0, NULL, NULL, error);
		delete_assignments(fd, orders, done, i);
		done = i;
	}
	return status;
}
