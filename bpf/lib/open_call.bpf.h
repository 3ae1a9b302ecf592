/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Calls of functions that a thread has open, for the probe functions. A call is known again at its
 * return by its frame on the stack: so calls may nest, also of one function, and what leaves functions
 * without a return, as longjmp(), exceptions and tail calls do, takes no room for long.
 */
#ifndef OPEN_CALL_BPF_H
#define OPEN_CALL_BPF_H

#include "attached.bpf.h"
#include "function.h"
#include "refused.bpf.h"
#include "storage.bpf.h"

#define OPEN_MAX 16
#define STACK_NEAR 16384 /* bytes, less than stacks of coroutines have */

struct open_call {
	u64 began_ns; /* 0: none is here */
	u64 frame;
	u16 function;
	u16 is_replaced; /* its return is seen whatever it calls last: the kernel has its address */
	u32 service;
	char argument[ARGUMENT_SIZE];
};

struct thread {
	struct open_call open[OPEN_MAX];
	u64 refused; /* open, too, but not among these */
};

TASK_STORAGE(threads, struct thread);

/* On one stack what lies below has been left. Coroutines have several, which lie further apart; so what
 * is far below goes only where its room is needed. The kernel's addresses are negative. */
static __always_inline bool is_deeper_frame(const struct open_call *call, u64 frame)
{
	return call->frame < frame && (s64)(call->frame ^ frame) >= 0;
}

static __always_inline bool is_near(const struct open_call *call, u64 frame)
{
	return frame - call->frame < STACK_NEAR;
}

/* What begins in the frame of a call has been called by it last (a tail call), or after it was left; or it
 * is the same call, of a function that several blocks count. */
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

/* Where to remember a call; NULL: too many are open. */
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

/* Where to remember a call of the thread; NULL, which counts as refused: too many are open. */
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

/* The address of the return is on the stack before the return, and after it is not. */
static __always_inline bool is_of_frame(const struct open_call *call, u64 frame)
{
	return frame - call->frame <= sizeof(u64);
}

/* The one that returns now; NULL: it began before the probe or by since_ns, or was one too many. Of
 * several the youngest: others have been left without a return, or end in a call of this one. */
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
