/* SPDX-License-Identifier: MIT */
/*
 * Programs for many functions of the kernel at once (kprobe.multi).
 */
#include "kprobe_multi.h"

#include "trial_program.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <unistd.h>

bool kprobe_multi_is_supported(void)
{
	const char *none = "no such function";
	LIBBPF_OPTS(bpf_link_create_opts, options, .kprobe_multi.syms = &none,
		    .kprobe_multi.cnt = 1);
	int program = trial_program_load(BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_MULTI, 0);
	int link = program < 0 ? program
			       : bpf_link_create(program, 0, BPF_TRACE_KPROBE_MULTI, &options);

	if (program >= 0)
		close(program);
	/* -ESRCH: the kernel has looked the name up, so it supports the link. */
	return link == -ESRCH;
}

bool kprobe_multi_is_of(const struct bpf_program *program)
{
	return bpf_program__type(program) == BPF_PROG_TYPE_KPROBE &&
	       bpf_program__expected_attach_type(program) == BPF_TRACE_KPROBE_MULTI;
}
