/* SPDX-License-Identifier: MIT */
#ifndef EBPF_HELPER_UPROBE_MULTI_H
#define EBPF_HELPER_UPROBE_MULTI_H

#include <stdint.h>

#define UPROBE_MULTI_ATTACH_TYPE 48 /* BPF_TRACE_UPROBE_MULTI, since Linux 6.6 */
#define UPROBE_MULTI_RETURN 1       /* BPF_F_UPROBE_MULTI_RETURN */
#define UPROBE_MULTI_MAX 65536      /* locations of one link */

/* The part of union bpf_attr for BPF_LINK_CREATE, as Linux 6.6 has it. Addresses of arrays of
 * `count` numbers; semaphores may be 0. */
struct uprobe_multi_attr {
	uint32_t program, file, attach_type, flags;
	uint64_t path, offsets, semaphores, cookies;
	uint32_t count, uprobe_flags, pid, none;
};

/* Makes the link. Returns its descriptor, which the caller closes, or a negative errno. */
int uprobe_multi_create(struct uprobe_multi_attr *attr);

#endif
