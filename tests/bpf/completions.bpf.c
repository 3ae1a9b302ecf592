/* SPDX-License-Identifier: MIT */
/*
 * Bytes of block requests by the process that their completion interrupts, which is not the one
 * that submitted them.
 */
#include "kernel/block.bpf.h"
#include "services/service.bpf.h"

struct interrupted_row {
	u64 bytes METRIC("derive-interrupted");
};

MMAP_ARRAY(interrupted, struct interrupted_row, 1) SUBJECT("service");

SEC("tp_btf/block_rq_complete")
int BPF_PROG(interrupt, struct request *rq, u8 error, u32 bytes)
{
	u32 service = service_of(bpf_get_current_task_btf());
	struct interrupted_row *row = bpf_map_lookup_elem(&interrupted, &service);

	if (row)
		add(&row->bytes, bytes);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
