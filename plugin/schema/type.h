/* SPDX-License-Identifier: MIT */
/* Types of BTF, which comes from a file that anybody may have written. */
#ifndef EBPF_TYPE_H
#define EBPF_TYPE_H

#include <bpf/btf.h>
#include <stddef.h>
#include <stdint.h>

/* The type behind typedefs, const and volatile; NULL: the chain is broken. */
static inline const struct btf_type *type_resolve(const struct btf *btf, uint32_t id)
{
	int resolved = btf__resolve_type(btf, id);

	return resolved < 0 ? NULL : btf__type_by_id(btf, (uint32_t)resolved);
}

#endif
