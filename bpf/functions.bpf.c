/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Functions named by Function blocks: how often each service calls them, how long they take, which
 * calls fail, and what one of their arguments says.
 *
 * Hooks: uprobes at entries and at return instructions, or uretprobes, kprobes and kretprobes, each
 * attached singly or many at once, fentry and fexit, as the blocks say. One program serves all
 * functions of a kind: the cookie of the link holds the function's number and what is known about
 * the location. fentry and fexit need a copy of the program for each function.
 *
 * A return is matched to its call by the frame on the stack. Calls may therefore nest, also of the
 * same function. If longjmp() or an exception leaves a function without a return, the only trace is
 * an entry that is reused.
 *
 * Limits: 16 open calls of a thread are timed; further ones are counted, and counted as refused,
 * too. A call counts for the service that the process belongs to when the call begins. A call from
 * an interrupt counts for the process that is interrupted.
 */
#include "function_row.bpf.h"
#include "function.h"
#include "go_call.bpf.h"
#include "run_counter.bpf.h"
#include "open_call.bpf.h"
#include "preempt.bpf.h"
#include "refused.bpf.h"
#include "services/service.bpf.h"

/* --- configuration --- */

ARRAY(functions, struct function_block, FUNCTIONS_MAX);
ARRAY(argument_locations, struct function_argument, ARGUMENT_LOCATIONS_MAX);

/* Runs of the programs, of functions with a limit: entry 2n counts calls of function n, entry 2n +
 * 1 its returns. */
PERCPU_ARRAY(function_runs, u32, u64, FUNCTION_RUNS_MAX);

static __always_inline struct function_block *function_of(u64 cookie)
{
	u32 number = cookie;

	return bpf_map_lookup_elem(&functions, &number);
}

static __always_inline void count_function_run(const struct function_block *f, u32 number,
					       bool at_return)
{
	u32 index = 2 * number + at_return;
	u64 *runs;

	if (!(f->flags & FUNCTION_LIMITED))
		return;
	runs = bpf_map_lookup_elem(&function_runs, &index);
	if (runs)
		add(runs, 1);
}

static __always_inline bool function_counts_service(const struct function_block *f, u32 service)
{
	u32 block = service - SERVICE_FIRST;

	if (f->flags & FUNCTION_EVERY_SERVICE)
		return service_watched(service);
	return block < FUNCTION_SERVICES_MAX && f->services[block / 64] >> (block % 64) & 1;
}

/* --- arguments --- */

/* Truncates or sign-extends a value to its type. */
static __always_inline u64 narrowed(u64 value, const struct function_type *type)
{
	u32 shift = (64 - 8 * type->size) & 63;

	value <<= shift;
	return type->is_signed ? (u64)((s64)value >> shift) : value >> shift;
}

static __always_inline const struct function_argument *argument_of(const struct function_block *f,
								   u64 cookie)
{
	u32 location = cookie >> ARGUMENT_LOCATION_SHIFT & ARGUMENT_LOCATION_MASK;

	return location ? bpf_map_lookup_elem(&argument_locations, &location) : &f->argument;
}

/* Reads memory of the process or, if !is_user, of the kernel. */
static __always_inline bool read_memory(u64 at, bool is_user, u64 *ret_value)
{
	if (is_user)
		return bpf_probe_read_user(ret_value, sizeof(*ret_value), (void *)at) == 0;
	return bpf_probe_read_kernel(ret_value, sizeof(*ret_value), (void *)at) == 0;
}

static __always_inline bool read_argument(void *ctx, const struct function_argument *a,
					  bool is_user, u64 *ret_value)
{
	u64 value = a->value;

	if (a->source == FUNCTION_UNKNOWN)
		return false;
	if (a->source != FUNCTION_CONSTANT &&
	    bpf_probe_read_kernel(&value, sizeof(value), ctx + (u16)a->offset))
		return false;
	if (a->source == FUNCTION_MEMORY && !read_memory(value + a->value, is_user, &value))
		return false;
	*ret_value = narrowed(value, &a->type);
	return true;
}

static __always_inline void label_string(char *label, u64 at, bool is_kernel)
{
	long length = is_kernel ? bpf_probe_read_kernel_str(label, ARGUMENT_SIZE, (void *)at)
				: bpf_probe_read_user_str(label, ARGUMENT_SIZE, (void *)at);

	if (length < 0)
		label[0] = ARGUMENT_OTHER;
	else if (length < 2 || (u8)label[0] < ARGUMENT_STRING)
		label[0] = '_';
}

static __always_inline void label_argument(struct function_key *key,
					   const struct function_type *type, u64 value)
{
	if (type->is_string) {
		label_string(key->argument, value, type->is_kernel);
		return;
	}
	key->argument[0] = type->is_signed ? ARGUMENT_SIGNED : ARGUMENT_UNSIGNED;
	*(u64 *)(key->argument + ARGUMENT_NUMBER_AT) = value;
}

/* --- counting --- */

/* Counters only grow, so negative values are skipped. */
static __always_inline void add_value(struct function_row *row, const struct function_key *key,
				      const struct function_block *f, u64 value, bool is_signed)
{
	if (is_signed && (s64)value < 0)
		return;
	if (f->flags & FUNCTION_SUM)
		add(&row->sum, value);
	else
		count_function_value(key, value);
}

/* --- calls and returns --- */

/* What is counted of the function at this location. */
static __always_inline u32 flags_of(const struct function_block *f, u64 cookie)
{
	u32 flags = f->flags;

	if (!(cookie & FUNCTION_CALLS_ONLY))
		return flags;
	if (flags & FUNCTION_RETURNED)
		flags &= ~(FUNCTION_SUM | FUNCTION_HISTOGRAM);
	return flags & ~FUNCTION_AT_RETURN;
}

/* Stores what count_return() needs. Every call is stored, whatever the block asks for, so that
 * calls that never return are counted as such. false: there is no room. */
static __noinline bool remember_call(void *ctx, const struct function_key *key, u64 frame,
				     u64 cookie, u32 flags)
{
	struct go_call go = {};
	struct open_call *call;

	if (cookie & FUNCTION_OF_GO && go_call(&go, ctx, key->function, frame))
		call = open_go_call(&go);
	else
		call = open_thread_call(bpf_get_current_task_btf(), key->function, frame);
	if (!call)
		return false;
	call->function = key->function;
	call->is_replaced = !!(flags & FUNCTION_REPLACED);
	call->service = key->service;
	call->frame = frame;
	__builtin_memcpy(call->argument, key->argument, sizeof(call->argument));
	call->began_ns = bpf_ktime_get_ns();
	return true;
}

static __noinline int count_call(void *ctx, u64 frame, u64 cookie, bool is_user)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct function_key key = { .service = service_of(task), .function = cookie };
	const struct function_argument *a = NULL;
	const struct function_block *f = function_of(cookie);
	struct function_row *row;
	bool is_read = false;
	u64 value = 0;
	u32 flags;

	if (!f)
		return 0;
	count_function_run(f, cookie, false);
	if (!function_counts_service(f, key.service))
		return 0;
	flags = flags_of(f, cookie);
	if (flags & (FUNCTION_SUM | FUNCTION_HISTOGRAM | FUNCTION_LABEL) &&
	    !(flags & FUNCTION_RETURNED))
		a = argument_of(f, cookie);
	if (a)
		is_read = read_argument(ctx, a, is_user, &value);
	if (a && flags & FUNCTION_LABEL) {
		if (is_read)
			label_argument(&key, &a->type, value);
		else
			key.argument[0] = ARGUMENT_OTHER;
	}
	row = function_row_or_other(&key, flags, f->values_max);
	if (!row)
		return 0;
	add(&row->calls, 1);
	if (a && is_read && !(flags & FUNCTION_LABEL))
		add_value(row, &key, f, value, a->type.is_signed);
	if (flags & FUNCTION_AT_RETURN && remember_call(ctx, &key, frame, cookie, flags))
		add((u64 *)&row->unreturned, 1);
	return 0;
}

static __always_inline bool is_error(const struct function_block *f, u64 returned)
{
	bool is_signed = f->error_type.is_signed;
	u64 value = narrowed(returned, &f->error_type), limit = f->error_value;
	bool less = is_signed ? (s64)value < (s64)limit : value < limit;

	switch (f->comparison) {
	case FUNCTION_LESS:
		return less;
	case FUNCTION_LESS_OR_EQUAL:
		return less || value == limit;
	case FUNCTION_GREATER:
		return !less && value != limit;
	case FUNCTION_GREATER_OR_EQUAL:
		return !less;
	case FUNCTION_EQUAL:
		return value == limit;
	default:
		return value != limit;
	}
}

struct ended_call {
	u64 taken_ns;
	u32 service;
	u32 is_known; /* true: the other members are set */
	char argument[ARGUMENT_SIZE];
};

static __always_inline void end_call(struct open_call *call, struct ended_call *ret_ended)
{
	ret_ended->taken_ns = bpf_ktime_get_ns() - call->began_ns;
	ret_ended->service = call->service;
	ret_ended->is_known = true;
	__builtin_memcpy(ret_ended->argument, call->argument, sizeof(ret_ended->argument));
	call->began_ns = 0;
}

static __always_inline bool end_go_call(const struct go_call *go, u64 since_ns,
					struct ended_call *ret_ended)
{
	struct open_call *call = bpf_map_lookup_elem(&go_calls, go);

	if (!call || call->began_ns <= since_ns || !is_since_attached(call->began_ns))
		return false;
	end_call(call, ret_ended);
	bpf_map_delete_elem(&go_calls, go);
	return true;
}

static __always_inline bool end_thread_call(u32 function, u64 frame, u64 since_ns,
					    struct ended_call *ret_ended)
{
	struct thread *thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), NULL, 0);
	struct open_call *call = thread ? returning_call(thread, function, frame, since_ns) : NULL;

	if (call) {
		end_call(call, ret_ended);
		return true;
	}
	if (!thread || !thread->refused)
		return false;
	thread->refused--;
	return true;
}

/* Finds the counted call of this return. There is none if the call began before the probe was
 * attached, or if a child returns from what its parent called. */
static __noinline bool is_ended(void *ctx, u64 frame, u64 cookie, const struct function_block *f,
				struct ended_call *ret_ended)
{
	struct go_call go = {};

	if (cookie & FUNCTION_OF_GO && go_call(&go, ctx, cookie, frame))
		return end_go_call(&go, f->since_ns, ret_ended);
	return end_thread_call(cookie, frame, f->since_ns, ret_ended);
}

static __noinline int count_return(void *ctx, u64 frame, u64 cookie, u64 returned)
{
	struct function_key key = { .service = service_of(bpf_get_current_task_btf()),
				    .function = cookie };
	const struct function_block *f = function_of(cookie);
	struct ended_call ended = {};
	struct function_row *row;

	if (!f)
		return 0;
	count_function_run(f, cookie, true);
	if (!function_counts_service(f, key.service) || !is_ended(ctx, frame, cookie, f, &ended))
		return 0;
	if (!ended.is_known && f->flags & FUNCTION_LABEL)
		return 0;
	if (ended.is_known)
		key.service = ended.service;
	__builtin_memcpy(key.argument, ended.argument, sizeof(key.argument));
	row = function_row_or_other(&key, f->flags, f->values_max);
	if (!row)
		return 0;
	if (f->flags & FUNCTION_ERRORS)
		add(&row->errors, is_error(f, returned));
	if (f->flags & FUNCTION_RETURNED)
		add_value(row, &key, f, narrowed(returned, &f->argument.type),
			  f->argument.type.is_signed);
	if (ended.is_known)
		add((u64 *)&row->unreturned, -1);
	if (ended.is_known && f->flags & FUNCTION_LATENCY) {
		add(&row->time_ns, ended.taken_ns);
		count_function_latency(&key, ended.taken_ns, f->values_max);
	}
	return 0;
}

/* --- uprobes and kprobes --- */

#define COUNT_CALL(number, is_user) \
	run_counter_add(number);    \
	return count_call(ctx, PT_REGS_SP(ctx), bpf_get_attach_cookie(ctx), is_user)

#define COUNT_RETURN(number)     \
	run_counter_add(number); \
	return count_return(ctx, PT_REGS_SP(ctx), bpf_get_attach_cookie(ctx), PT_REGS_RC(ctx))

SEC("uprobe")
RUN_COUNTER(0) int function_call(struct pt_regs *ctx)
{
	on_stack_of_thread();
	COUNT_CALL(0, true);
}

SEC("uretprobe")
RUN_COUNTER(1) int function_return(struct pt_regs *ctx)
{
	on_stack_of_thread();
	COUNT_RETURN(1);
}

SEC("kprobe")
RUN_COUNTER(2) int function_call_kernel(struct pt_regs *ctx)
{
	COUNT_CALL(2, false);
}

SEC("kretprobe")
RUN_COUNTER(3) int function_return_kernel(struct pt_regs *ctx)
{
	COUNT_RETURN(3);
}

SEC("kprobe.multi")
RUN_COUNTER(4) int function_call_kprobe_multi(struct pt_regs *ctx)
{
	COUNT_CALL(4, false);
}

SEC("kretprobe.multi")
RUN_COUNTER(5) int function_return_kprobe_multi(struct pt_regs *ctx)
{
	COUNT_RETURN(5);
}

/* --- fentry and fexit: a copy for each function --- */

/* Both programs of a function get the same context, which is on the stack. The verifier allows no
 * arithmetic on a context pointer, so its address is copied. */
static __always_inline u64 frame_of(const u64 *ctx)
{
	u64 frame = 0;

	bpf_probe_read_kernel(&frame, sizeof(frame), &ctx);
	return frame;
}

#define COPY(n, call_number, return_number)                                                    \
	SEC("fentry")                                                                          \
	RUN_COUNTER(call_number) int function_entry_##n(u64 *ctx)                              \
	{                                                                                      \
		run_counter_add(call_number);                                                  \
		return count_call(ctx, frame_of(ctx), bpf_get_attach_cookie(ctx), false);      \
	}                                                                                      \
                                                                                               \
	SEC("fexit")                                                                           \
	RUN_COUNTER(return_number) int function_exit_##n(u64 *ctx)                             \
	{                                                                                      \
		u64 returned = 0;                                                              \
                                                                                               \
		run_counter_add(return_number);                                                \
		bpf_get_func_ret(ctx, &returned);                                              \
		return count_return(ctx, frame_of(ctx), bpf_get_attach_cookie(ctx), returned); \
	}

COPY(0, 6, 7)
COPY(1, 8, 9)
COPY(2, 10, 11)
COPY(3, 12, 13)
COPY(4, 14, 15)
COPY(5, 16, 17)
COPY(6, 18, 19)
COPY(7, 20, 21)
COPY(8, 22, 23)
COPY(9, 24, 25)
COPY(10, 26, 27)
COPY(11, 28, 29)
COPY(12, 30, 31)
COPY(13, 32, 33)
COPY(14, 34, 35)
COPY(15, 36, 37)

char LICENSE[] SEC("license") DEFAULT(off)
	HELP("Functions: of programs and of the kernel, named by Function blocks") = "Dual MIT/GPL";
