/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Open calls of functions of a thread, for the probe functions. At its return a call is recognized
 * by its frame on the stack: calls may nest, also of one function, and calls that end without a
 * return (longjmp(), exceptions, tail calls) do not occupy an entry for long.
 */
#ifndef OPEN_CALL_BPF_H
#define OPEN_CALL_BPF_H

#include "attached.bpf.h"
#include "function.h"
#include "refused.bpf.h"
#include "storage.bpf.h"

#define OPEN_MAX 16
#define STACK_NEAR 16384 /* bytes, less than the stacks of coroutines have */

struct open_call {
	u64 began_ns; /* 0: the entry is free */
	u64 frame;
	u16 function;
	u16 is_replaced; /* its return address, by the kernel: its return is always seen */
	u32 service;
	char argument[ARGUMENT_SIZE];
};

struct thread {
	struct open_call open[OPEN_MAX];
	u64 refused; /* calls that are open but found no entry */
};

TASK_STORAGE(threads, struct thread);

/* On one stack, frames below have been left. Coroutines have several stacks, which lie further
 * apart: a call far below is only dropped when its entry is needed. Addresses of the kernel are
 * negative. */
static __always_inline bool is_deeper_frame(const struct open_call *call, u64 frame)
{
	return call->frame < frame && (s64)(call->frame ^ frame) >= 0;
}

static __always_inline bool is_near(const struct open_call *call, u64 frame)
{
	return frame - call->frame < STACK_NEAR;
}

/* A call that starts in the frame of another is its tail call, or comes after the other was left,
 * or is the same call, of a function that several blocks count. */
static __always_inline bool may_be_left(const struct open_call *call, u64 frame)
{
	return is_deeper_frame(call, frame) || (call->frame == frame && !call->is_replaced);
}

static __noinline int forget_left_calls(struct thread *thread, u32 function, u64 frame)
{
	bool any = false;

	for (u32 i = 0; i < OPEN_MAX; i++) {
		struct open_call *call = &thread->open[i];

		if (may_be_left(call, frame) && is_near(call, frame) &&
		    (call->frame != frame || call->function == function))
			call->began_ns = 0;
		any |= call->began_ns != 0;
	}
	if (!any)
		thread->refused = 0;
	return 0;
}

/* The entry for a new call; NULL: too many are open. */
static __noinline struct open_call *free_open_call(struct thread *thread, u64 frame)
{
	for (u32 i = 0; i < OPEN_MAX; i++)
		if (!thread->open[i].began_ns)
			return &thread->open[i];
	for (u32 i = 0; i < OPEN_MAX; i++)
		if (may_be_left(&thread->open[i], frame))
			return &thread->open[i];
	return NULL;
}

/* The entry for a new call of the thread. NULL, which counts as refused: too many are open. */
static __always_inline struct open_call *open_thread_call(struct task_struct *task, u32 function,
							  u64 frame)
{
	struct thread *thread = task_storage_make(&threads, task);
	struct open_call *call;

	if (!thread)
		return or_refused(NULL);
	forget_left_calls(thread, function, frame);
	call = free_open_call(thread, frame);
	if (!call)
		thread->refused++;
	return or_refused(call);
}

/* Before the return the address of the return is on the stack, after it not any more. */
static __always_inline bool is_of_frame(const struct open_call *call, u64 frame)
{
	return frame - call->frame <= sizeof(u64);
}

/* The call that returns now. NULL: it started before the probe or since_ns, or found no entry. Of
 * several matching calls the latest returns: the others have ended without a return, or in a tail
 * call of this one. */
static __noinline struct open_call *returning_call(struct thread *thread, u32 function, u64 frame,
						   u64 since_ns)
{
	struct open_call *found = NULL;
	u64 began_ns = since_ns > attached_ns ? since_ns : attached_ns;

	for (u32 i = 0; i < OPEN_MAX; i++) {
		struct open_call *call = &thread->open[i];

		if (call->began_ns <= began_ns || call->function != function ||
		    !is_of_frame(call, frame))
			continue;
		found = call;
		began_ns = call->began_ns;
	}
	return found;
}

#endif
