/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Makes state in a socket or in a thread, at its first event. If two CPUs do so for the same owner
 * at once, the kernel refuses one of them: the owner's storage (for any map), and then the element
 * of the map, exist already. A further attempt returns the other CPU's element.
 */
#ifndef STORAGE_BPF_H
#define STORAGE_BPF_H

#include "kernel.bpf.h"

#define STORAGE_TRIES 3

/* NULL: no memory. */
static __always_inline void *socket_storage_make(void *map, struct sock *sk, void *value)
{
	void *made = NULL;

	for (int i = 0; i < STORAGE_TRIES && !made; i++)
		made = bpf_sk_storage_get(map, sk, value, BPF_SK_STORAGE_GET_F_CREATE);
	return made;
}

static __always_inline void *task_storage_make(void *map, struct task_struct *task)
{
	void *made = NULL;

	for (int i = 0; i < STORAGE_TRIES && !made; i++)
		made = bpf_task_storage_get(map, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return made;
}

#endif
