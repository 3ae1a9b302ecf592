/* SPDX-License-Identifier: MIT */
/*
 * A program that does nothing. Loading and attaching it shows what the kernel supports.
 */
#include "trial_program.h"

#include <bpf/bpf.h>

int trial_program_load(enum bpf_prog_type type, enum bpf_attach_type attach_type, uint32_t btf_id)
{
	static const struct bpf_insn nothing[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K },
						   { .code = BPF_JMP | BPF_EXIT } };
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = attach_type,
		    .attach_btf_id = btf_id);

	return bpf_prog_load(type, "trial", "Dual MIT/GPL", nothing,
			     sizeof(nothing) / sizeof(*nothing), &options);
}
