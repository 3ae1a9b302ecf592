/* SPDX-License-Identifier: MIT */
#ifndef EBPF_RUNTIME_PROCESS_H
#define EBPF_RUNTIME_PROCESS_H

#include "state_files.h"

/* Adds the directories of the container runtimes that run: by their arguments, by the bundles of conmon and of containerd's
 * shims, and the default ones as a runtime sees them that has a mount namespace or root directory of its own. Stops at
 * end_ns of clock_ns(). */
void runtime_processes_add(struct state_files *state, struct file_helper *files, uint64_t end_ns);

#endif
