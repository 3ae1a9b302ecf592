/* SPDX-License-Identifier: MIT */
/*
 * The helper process: what it does for the daemon.
 */
#ifndef EBPF_HELPER_PROCESS_H
#define EBPF_HELPER_PROCESS_H

#include <stdint.h>

#define UPROBE_MULTI_ATTACH_TYPE 48 /* BPF_TRACE_UPROBE_MULTI, since Linux 6.6 */

/* The part of union bpf_attr for BPF_LINK_CREATE, as Linux 6.6 has it. Addresses of arrays of
 * `count` numbers; semaphores may be 0. */
struct uprobe_multi_attr {
	uint32_t program, file, attach_type, flags;
	uint64_t path, offsets, semaphores, cookies;
	uint32_t count, uprobe_flags, pid, none;
};

/* Makes the link, for which libbpf 1.1 has no call. Returns its descriptor, which the caller
 * closes, or a negative errno. */
int uprobe_multi_create(struct uprobe_multi_attr *attr);

/* Serves requests until the daemon closes the socket, then ends the process. */
void helper_serve(int socket);

#endif
