/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Time off the CPU, by stack: in which system calls and where in the kernel the threads of
 * services are blocked, for flame graphs.
 *
 * View "waits": a sampler inspects all threads and reads the kernel stack of each that is blocked;
 * no event costs anything. Samples of one stack of one service are added up here and sent every
 * few seconds. The kernel can walk the user stack of the current thread only, so these stacks have
 * no user part.
 *
 * With Option "switches", view "switches": the user stack is read whenever a thread blocks, and
 * sent with the kernel stack when the thread gets a CPU again, if it was away for long enough.
 * Frames are addresses: build IDs would need, at a context switch, the lock of the process's
 * mappings, and an interrupt to release it. In addition the waits in futexes are counted.
 *
 * Waits of threads that have nothing to do are left out unless Option "idle" is set: in epoll,
 * accept, poll for another request, and any single very long wait without a request in hand. A
 * pool whose threads wait for work in a futex looks like one that waits for a lock.
 *
 * Hooks: iter/task, 10 times a second. With Option "switches": tp_btf sched_switch, at every
 * context switch of the machine; tp_btf task_newtask; the walk over tasks, which discovers the
 * threads that ran before.
 *
 * Limits: a stack that finds no room in the table during a sample is sent at once, up to a maximum
 * per sample. In the view "switches" a wait includes the wait for a CPU after it. A stack has at
 * most 64 frames of the kernel and 127 of the user, found by frame pointers.
 */
#include "attached.bpf.h"
#include "requests/blocked.bpf.h"
#include "run_counter.bpf.h"
#include "services/service_slot.bpf.h"
#include "requests/serving_socket.bpf.h"
#include "sample.bpf.h"
#include "stack.bpf.h"
#include "storage.bpf.h"
#include "walk.bpf.h"

#define NS "scale=1/1000000000"
#define SECOND_NS 1000000000ULL
#define STACKS_SEEN 512 /* stacks that are added up here; a power of two */
#define SENT_MAX 256    /* stacks sent by one sample because there is no room for them */
#define SEND_NS (5 * SECOND_NS)

const volatile bool option_idle;
const volatile bool option_switches;
/* A longer wait of a thread without a request in hand is idle. */
const volatile u32 longest_s RANGE(1, 86400) = 60;
/* The shortest wait of the view "switches". */
const volatile u32 least_us RANGE(0, 10000000) = 1000;

/* --- view "waits": samples --- */

RINGBUF(waits, struct stack_head, 512 * 1024) STACKS("waits unit=microseconds");

struct wait_stack {
	struct kernel_stack stack;
	u64 hash;
};

ARRAY(wait_stacks, struct wait_stack, STACKS_SEEN);

static struct wait_stack seen; /* the thread that is sampled; there is one sampler */
static u64 sent_ns;            /* when all were sent last */
static u32 sent;               /* during this sample */

static __always_inline bool is_idle(enum blocked what, bool in_hand, u64 wait_ns)
{
	if (option_idle)
		return false;
	return what == BLOCKED_EVENTS || what == BLOCKED_IDLE ||
	       (!in_hand && wait_ns > longest_s * SECOND_NS);
}

/* As socket_in_hand(), of any thread. *ret_began_ns: when the request began. */
static __noinline u64 in_hand_of(struct task_struct *task, u64 *ret_began_ns)
{
	u32 number;
	struct serving *s = serving_of(task, &number);

	*ret_began_ns = s ? s->began_ns : 0;
	return s ? socket_in_hand(s) : 0;
}

static __always_inline u64 mix_hash(u64 hash, u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

/* Hash of all that must be equal for waits to be added up. Global: verified once. */
__noinline u64 wait_hash(void)
{
	const struct stack_head *head = &seen.stack.head;
	const u64 *comm = (const u64 *)head->comm;
	u64 hash = mix_hash(mix_hash(mix_hash(head->service, head->syscall), comm[0]), comm[1]);

	for (u32 i = 0; i < STACK_KERNEL_MAX && i < head->kernel_count; i++)
		hash = mix_hash(hash, seen.stack.frame[i]);
	return hash;
}

static __always_inline void send_other(struct wait_stack *other)
{
	if (sent++ < SENT_MAX)
		stack_send_kernel(&waits, &other->stack);
	else
		add(&events_dropped, 1);
}

static void add_wait(u64 us)
{
	u32 at = seen.hash % STACKS_SEEN;
	struct wait_stack *w = bpf_map_lookup_elem(&wait_stacks, &at);

	if (!w)
		return;
	if (w->hash == seen.hash && w->stack.head.service == seen.stack.head.service) {
		w->stack.head.value += us;
		return;
	}
	if (w->stack.head.value)
		send_other(w);
	seen.stack.head.value = us;
	bpf_map_update_elem(&wait_stacks, &at, &seen, BPF_ANY);
}

static long send_wait(void *map, const u32 *at, struct wait_stack *w, void *context)
{
	if (w->stack.head.value) {
		stack_send_kernel(&waits, &w->stack);
		w->stack.head.value = 0;
	}
	return 0;
}

static void send_waits(void)
{
	u64 now = bpf_ktime_get_ns();

	sent = 0;
	if (now - sent_ns < SEND_NS)
		return;
	sent_ns = now;
	bpf_for_each_map_elem(&wait_stacks, send_wait, NULL, 0);
}

/* Time since the thread last got a CPU. */
static __always_inline u64 wait_so_far(struct task_struct *task)
{
	struct task_struct *sampler = bpf_get_current_task_btf();

	return grown(sampler->sched_info.last_arrival, task->sched_info.last_arrival);
}

/* True also if the thread was blocked when the sampler started: short waits end while the sampler
 * inspects others, and a thread that is woken on the sampler's CPU has to wait for it with an
 * unchanged stack. A thread outside of a system call was preempted on another CPU. */
static __always_inline bool is_blocked(struct task_struct *task)
{
	struct task_struct *sampler = bpf_get_current_task_btf();
	struct pt_regs *regs;

	switch (sample_state(task)) {
	case SAMPLE_ASLEEP:
		return true;
	case SAMPLE_RUNNING:
		return false;
	default:
		regs = (struct pt_regs *)bpf_task_pt_regs(task);
		return call_number(regs) != ~0U &&
		       task->sched_info.last_queued > sampler->sched_info.last_arrival;
	}
}

static void offcpu_sample_thread(struct task_struct *task, u32 service)
{
	u64 began_ns, in_hand_sk = in_hand_of(task, &began_ns);
	enum blocked what = blocked_on(task, in_hand_sk, began_ns);

	if (what == BLOCKED_NOT || is_idle(what, in_hand_sk, wait_so_far(task)))
		return;
	stack_begin(&seen.stack.head, task);
	seen.stack.head.service = service;
	stack_of_kernel(&seen.stack, task);
	if (!seen.stack.head.kernel_count) /* it has got a CPU meanwhile */
		return;
	seen.hash = wait_hash();
	add_wait(sample_ns / 1000);
}

SEC("iter/task")
SAMPLE("hz=10")
int offcpu_sample(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	u32 service;

	if (ctx->meta->seq_num == 0)
		send_waits();
	if (!task || task->flags & (PF_KTHREAD | PF_EXITING) || !is_blocked(task))
		return 0;
	service = service_of(task);
	if (service_watched(service))
		offcpu_sample_thread(task, service);
	return 0;
}

/* --- view "switches" --- */

RINGBUF(switches, struct stack_head, 1024 * 1024)
STACKS("switches unit=microseconds") OPTION("switches");

struct offcpu_row {
	struct hist lock METRIC("latency-lock_wait " NS) UNIT("seconds")
		HELP("Lock wait: blocked on a futex as mutexes use it (FUTEX_WAIT, FUTEX_LOCK_PI)");
	struct hist condition METRIC("latency-condition_wait " NS) UNIT("seconds") HELP(
		"Condition wait: blocked on a futex as condition variables, semaphores and Java's locks use it (FUTEX_WAIT_BITSET)")
		DEFAULT(off);
};

MMAP_ARRAY(offcpu_services, struct offcpu_row, 1)
SUBJECT("service via=row_slots owners=slot_owners sharded") OPTION("switches");

/* The current wait of a thread. */
struct waiter {
	struct slot_cache cache;
	u64 since_ns; /* 0: it runs, or is of no watched service */
	u32 state;
	u32 user_count;
	u64 user[STACK_USER_MAX];
};

TASK_STORAGE(waiters, struct waiter);

struct switch_stack {
	struct kernel_stack kernel;
	struct stack_frame
		user[STACK_USER_MAX]; /* starts directly after the last frame of the kernel */
};

PERCPU_ARRAY(switch_stacks, u32, struct switch_stack, 1) OPTION("switches");

/* The histogram that counts the waits of this call; NULL: none. */
static __always_inline struct hist *futex_waits(struct offcpu_row *row, const struct pt_regs *regs)
{
	if (call_number(regs) != CALL_FUTEX_NUMBER || regs_32_bit(regs))
		return NULL;
	switch (call_argument(regs, 2) & FUTEX_COMMAND) {
	case FUTEX_WAIT:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return &row->lock;
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
		return &row->condition;
	default:
		return NULL;
	}
}

static __always_inline void count_futex(struct waiter *w, struct task_struct *task, u64 ns)
{
	u32 index = slot_index(w->cache.slot);
	struct offcpu_row *row = bpf_map_lookup_elem(&offcpu_services, &index);
	struct hist *waits =
		row ? futex_waits(row, (struct pt_regs *)bpf_task_pt_regs(task)) : NULL;

	if (waits)
		hist_add(waits, ns);
}

/* Appends the user's frames to those of the kernel. Returns the size of the record. */
static __always_inline u64 add_user(struct switch_stack *stack, const struct waiter *w)
{
	u64 kernel = stack->kernel.head.kernel_count, user = 0;
	struct stack_frame *frame;

	asm volatile("" : "+r"(kernel));
	if (kernel > STACK_KERNEL_MAX)
		return 0;
	frame = (void *)&stack->kernel.frame[kernel];
	for (; user < STACK_USER_MAX && user < w->user_count; user++) {
		frame[user] = (struct stack_frame){ .status = STACK_ADDRESS };
		frame[user].location = w->user[user];
	}
	stack->kernel.head.user_count = user;
	return sizeof(stack->kernel.head) + kernel * sizeof(u64) + user * sizeof(*frame);
}

static __noinline void send_switch(struct waiter *w, struct task_struct *task, u64 ns)
{
	u32 zero = 0;
	struct switch_stack *stack = bpf_map_lookup_elem(&switch_stacks, &zero);
	u64 size;

	if (!stack)
		return;
	stack_begin(&stack->kernel.head, task);
	stack->kernel.head.service = w->cache.row;
	stack->kernel.head.value = ns / 1000;
	stack_of_kernel(&stack->kernel, task);
	size = add_user(stack, w);
	asm volatile("" : "+r"(size));
	if (size && size <= sizeof(*stack))
		stack_send(&switches, stack, size);
}

static __always_inline void note_wait(void *ctx, struct task_struct *task, u64 now)
{
	struct waiter *w = bpf_task_storage_get(&waiters, task, NULL, 0);
	long bytes;

	if (!w || !slot_cache_watched(&w->cache, task))
		return;
	bytes = bpf_get_stack(ctx, w->user, sizeof(w->user), BPF_F_USER_STACK);
	w->user_count = bytes > 0 ? bytes / sizeof(w->user[0]) : 0;
	w->state = task->__state;
	w->since_ns = now;
}

static __always_inline void finish_thread_wait(struct task_struct *task, u64 now)
{
	struct waiter *w = bpf_task_storage_get(&waiters, task, NULL, 0);
	u64 since_ns = w ? w->since_ns : 0, ns = grown(now, since_ns), in_hand_sk, began_ns;

	if (!is_since_attached(since_ns))
		return;
	w->since_ns = 0;
	count_futex(w, task, ns);
	if (ns < least_us * 1000ULL)
		return;
	in_hand_sk = in_hand_of(task, &began_ns);
	if (!is_idle(blocked_by(task, w->state, in_hand_sk, began_ns), in_hand_sk, ns))
		send_switch(w, task, ns);
}

/* Runs with the run queue's lock held: no storage may be created here. */
SEC("tp_btf/sched_switch")
OPTION("switches")
RUN_COUNTER(0)
int BPF_PROG(offcpu_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u64 now;

	run_counter_add(0);
	now = bpf_ktime_get_ns();
	if (!preempt && prev->__state && !(prev->flags & (PF_KTHREAD | PF_EXITING)))
		note_wait(ctx, prev, now);
	if (!(next->flags & (PF_KTHREAD | PF_EXITING)))
		finish_thread_wait(next, now);
	return 0;
}

SEC("tp_btf/task_newtask")
OPTION("switches") RUN_COUNTER(1) int BPF_PROG(offcpu_new, struct task_struct *task)
{
	run_counter_add(1);
	if (!(task->flags & PF_KTHREAD))
		or_refused(task_storage_make(&waiters, task));
	return 0;
}

SEC("iter/task")
OPTION("switches") WALK int offcpu_walk(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task && !(task->flags & (PF_KTHREAD | PF_EXITING)) &&
	    !bpf_task_storage_get(&waiters, task, NULL, 0))
		or_refused(task_storage_make(&waiters, task));
	return walk_on(ctx);
}

char LICENSE[] SEC("license") DEFAULT(off)
	HELP("Time off the CPU: stacks of blocked threads, and how long they wait for locks") =
		"Dual MIT/GPL";
