/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Open calls of Go functions, for the probe functions. A goroutine moves between threads, and its
 * stack moves when it grows; the distance of a call's frame from the end of that stack stays the
 * same. Since 1.17 Go has the goroutine in a register (cmd/compile/abi-internal.md); it starts
 * with the bounds of its stack (runtime/runtime2.go).
 *
 * A call that does not return, for instance because of a panic, stays in the map. The next call of
 * the function at that depth overwrites it, or it is evicted when the map is full.
 */
#ifndef GO_CALL_BPF_H
#define GO_CALL_BPF_H

#include "function.h"
#include "map.bpf.h"
#include "open_call.bpf.h"
#include "refused.bpf.h"

#define GO_CALLS_MAX 8192

#if defined(__TARGET_ARCH_x86)
#define GOROUTINE_AT bpf_core_field_offset(struct pt_regs, r14)
#else
#define GOROUTINE_AT bpf_core_field_offset(struct user_pt_regs, regs[28])
#endif

struct go_call {
	u64 goroutine;
	u64 depth; /* bytes */
	u32 process;
	u32 function;
};

LRU_HASH(go_calls, struct go_call, struct open_call, GO_CALLS_MAX);

static const struct open_call no_open_call;

/* false: the register contains something else, as in assembly functions. */
static __always_inline bool go_call(struct go_call *call, void *ctx, u32 function, u64 frame)
{
	u64 stack[2];

	if (bpf_probe_read_kernel(&call->goroutine, sizeof(call->goroutine), ctx + GOROUTINE_AT) ||
	    bpf_probe_read_user(stack, sizeof(stack), (void *)call->goroutine) ||
	    frame < stack[0] || frame >= stack[1])
		return false;
	call->depth = stack[1] - frame;
	call->process = bpf_get_current_pid_tgid() >> 32;
	call->function = function;
	return true;
}

static __always_inline struct open_call *open_go_call(const struct go_call *call)
{
	bpf_map_update_elem(&go_calls, call, &no_open_call, BPF_ANY);
	return or_refused(bpf_map_lookup_elem(&go_calls, call));
}

#endif
