/* SPDX-License-Identifier: MIT */
#ifndef EBPF_RUNTIME_TRUST_H
#define EBPF_RUNTIME_TRUST_H

#include <stdbool.h>
#include <sys/types.h>

/* Is the process root's, by all its user ids, and in no container and no user's session? */
bool runtime_process_is_trusted(pid_t pid);

/* The same, by its files status and cgroup of /proc/PID. */
bool runtime_trusts(const char *status, const char *cgroups);

#endif
