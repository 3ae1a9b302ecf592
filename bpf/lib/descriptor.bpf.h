/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The file that a process has behind a descriptor.
 */
#ifndef DESCRIPTOR_BPF_H
#define DESCRIPTOR_BPF_H

#include "kernel/file.bpf.h"
#include "kernel/sched.bpf.h"

/* Where the process has it, 0: nowhere. A pointer that the verifier knows is followed at no cost,
 * what is read by a helper takes 25 ns each time. */
static u64 file_slot(const struct task_struct *task, u64 fd)
{
	const struct fdtable *table = task->files->fdt;

	return fd < table->max_fds ? (u64)table->fd + fd * sizeof(struct file *) : 0;
}

static const struct file *file_in(u64 slot)
{
	const struct file *file = NULL;

	bpf_probe_read_kernel(&file, sizeof(file), (const void *)slot);
	return file;
}

#endif
