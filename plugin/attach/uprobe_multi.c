/* SPDX-License-Identifier: MIT */
/*
 * One link of a program to many locations of a file (uprobe.multi), for which libbpf 1.1 has no
 * call. The helper process makes it, as it opens perf events of single locations, see
 * uprobe_event.c.
 */
#include "uprobe_multi.h"

#include "helper/helper_process.h"
#include "trial_program.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

/* -EBADF, as a directory is no regular file: the kernel has got far enough to support such
 * links. */
static bool refuses_directory(int program)
{
	static const uint64_t offset;
	struct uprobe_multi_attr directory = { .program = (uint32_t)program,
					       .attach_type = UPROBE_MULTI_ATTACH_TYPE,
					       .path = (uint64_t)(uintptr_t) "/",
					       .offsets = (uint64_t)(uintptr_t)&offset,
					       .count = 1 };

	return uprobe_multi_create(&directory) == -EBADF;
}

bool uprobe_multi_is_supported(void)
{
	int program = trial_program_load(BPF_PROG_TYPE_KPROBE,
					 (enum bpf_attach_type)UPROBE_MULTI_ATTACH_TYPE, 0);
	bool supported = program >= 0 && refuses_directory(program);

	if (program >= 0)
		close(program);
	return supported;
}

void uprobe_multi_set(struct bpf_program *program)
{
	bpf_program__set_expected_attach_type(program,
					      (enum bpf_attach_type)UPROBE_MULTI_ATTACH_TYPE);
}

bool uprobe_multi_is_of(const struct bpf_program *program)
{
	return (unsigned)bpf_program__expected_attach_type(program) == UPROBE_MULTI_ATTACH_TYPE;
}
