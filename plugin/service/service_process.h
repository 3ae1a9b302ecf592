/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SERVICE_PROCESS_H
#define EBPF_SERVICE_PROCESS_H

#include "attach/attachment_list.h"
#include "resolve.h"

#include <stddef.h>
#include <sys/types.h>

/* Lists the processes of the service that has a Service block of this name. Writes at most `size` pids. Returns the number of processes, which may be larger; -ENOENT: there is no
 * such block; or an error of scan_run(). */
ssize_t service_processes_list(void *resolver, const char *service, pid_t *ret_pids, size_t size);

/* Finds files of services for programs that are attached to them, by this helper. */
struct file_finder service_process_finder(struct resolver *resolver, struct file_helper *files);

#endif
