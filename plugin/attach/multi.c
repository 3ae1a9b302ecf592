/* SPDX-License-Identifier: MIT */
#include "multi.h"

#include "uprobe_multi.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <unistd.h>

/* A program that does nothing, or a negative number. */
static int load(enum bpf_attach_type type)
{
	static const struct bpf_insn nothing[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K },
						   { .code = BPF_JMP | BPF_EXIT } };
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = type);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "trial", "Dual MIT/GPL", nothing,
			     sizeof(nothing) / sizeof(*nothing), &options);
}

bool multi_has_files(void)
{
	int program = load((enum bpf_attach_type)UPROBE_MULTI_ATTACH_TYPE);
	bool has = program >= 0 && uprobe_multi_is_known(program);

	if (program >= 0)
		close(program);
	return has;
}

bool multi_has_kernel(void)
{
	const char *none = "no such function";
	LIBBPF_OPTS(bpf_link_create_opts, options, .kprobe_multi.syms = &none,
		    .kprobe_multi.cnt = 1);
	int program = load(BPF_TRACE_KPROBE_MULTI);
	int link = program < 0 ? program
			       : bpf_link_create(program, 0, BPF_TRACE_KPROBE_MULTI, &options);

	if (program >= 0)
		close(program);
	/* It has been looked for. */
	return link == -ESRCH;
}

void multi_set_of_files(struct bpf_program *program)
{
	bpf_program__set_expected_attach_type(program,
					      (enum bpf_attach_type)UPROBE_MULTI_ATTACH_TYPE);
}

bool multi_is_of_files(const struct bpf_program *program)
{
	return (unsigned)bpf_program__expected_attach_type(program) == UPROBE_MULTI_ATTACH_TYPE;
}

bool multi_is_of_kernel(const struct bpf_program *program)
{
	return bpf_program__type(program) == BPF_PROG_TYPE_KPROBE &&
	       bpf_program__expected_attach_type(program) == BPF_TRACE_KPROBE_MULTI;
}
