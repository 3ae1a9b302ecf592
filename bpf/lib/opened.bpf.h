/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Records which code has opened the connections that are open now, for the folded files of the
 * view "opened": they show how many connections each stack has left open, and so who leaks them.
 *
 * A stack is read in the thread that connects or accepts, and stored once for all connections that
 * a process has opened with it; each connection stores which. A walk at each reading counts those
 * that have been open for longer than opened_after. Once a minute, or every opened_after seconds
 * if that is less, the counts are sent. They are a state: a record without value starts it.
 *
 * Frames are addresses, which are resolved when they are sent: the process that has opened a
 * connection which is still open usually lives. The kernel follows frame pointers and misses the
 * caller of libc's connect, which has none. On x86-64 that caller is searched for on the stack. This
 * fails with new libraries: collectd-ebpf(5) says "With glibc 2.41 or later (Debian 13), the function
 * that calls connect(2) is missing".
 *
 * Limits: OPENINGS_MAX stacks; further connections count for "[unknown]". There is no stack for
 * connections that were open before the probe ("[earlier]"), nor for accepted ones where the
 * kernel permits no fentry ("[accepted]").
 */
#ifndef OPENED_BPF_H
#define OPENED_BPF_H

#include "connection.bpf.h"
#include "stack.bpf.h"
#include "storage.bpf.h"

#define OPENINGS_MAX 2048
#define OPENED_FRAMES 64
#define OPENED_PERIOD 60 /* s */
#define OPENED_ROUNDS 3  /* walks after which a stack without connections is removed */
#define OPENED_WORDS 8   /* words of the stack that are searched for the leaf's caller */
#define OPENED_TEXT_SIZE 16
#define SECOND 1000000000ULL

const volatile bool option_opened;
const volatile u32 opened_after RANGE(1, 86400) = 60; /* s */

/* In opening_key.hash, for openings without a stack. */
enum opened_text {
	OPENED_UNKNOWN,
	OPENED_EARLIER,
	OPENED_ACCEPTED,
	OPENED_TEXTS,
};

struct opening_key {
	u64 hash;
	u32 service;
	u32 pid; /* 0: hash is one of enum opened_text */
};

struct opening {
	u32 seen;        /* last walk that has visited a connection of it */
	u32 found_at;    /* last walk that has counted its connections */
	u32 found, sent; /* number of connections; whether it has been sent */
	struct stack_head head;
	u64 frame[OPENED_FRAMES]; /* the first is free for a leaf whose caller was missing */
};

SPARSE_HASH(openings, struct opening_key, struct opening, OPENINGS_MAX) OPTION("opened");
TASK_STORAGE(opening_scratch, struct opening);

struct opened_record {
	struct stack_head head;
	struct stack_frame frame[OPENED_FRAMES];
};

PERCPU_ARRAY(opened_scratch, u32, struct opened_record, 1) OPTION("opened");
RINGBUF(opened, struct stack_head, 512 * 1024)
OPTION("opened") STACKS("opened unit=connections state");

static u32 opened_walk; /* number of the current walk */
static bool opened_counts;
static u64 opened_began_ns; /* time of the last walk that counted */

/* --- the stack of the opener --- */

#ifdef __TARGET_ARCH_x86
/* Does a call instruction end at this address? With a displacement, a register or memory as its
 * operand. */
static __noinline bool is_behind_call(u64 address)
{
	u8 code[8];

	if (bpf_probe_read_user(code, sizeof(code), (const void *)(address - sizeof(code))))
		return false;
	return code[3] == 0xe8 || (code[6] == 0xff && (code[7] & 0x38) == 0x10) ||
	       (code[5] == 0xff && (code[6] & 0x38) == 0x10) ||
	       (code[2] == 0xff && (code[3] & 0x38) == 0x10) ||
	       (code[1] == 0xff && (code[2] & 0x38) == 0x10);
}

static __noinline u64 caller_at(u64 at)
{
	u64 address = 0;

	bpf_probe_read_user(&address, sizeof(address), (const void *)at);
	return address && is_behind_call(address) ? address : 0;
}

/* Caller of the function in which a thread is, where that has made no frame; 0: not found. */
static __noinline u64 leaf_caller(struct task_struct *task)
{
	const struct pt_regs *regs = (const struct pt_regs *)bpf_task_pt_regs(task);
	u64 sp = user_stack_pointer(regs), bp = user_frame_pointer(regs);

#pragma unroll
	for (u32 i = 0; i < OPENED_WORDS; i++) {
		u64 at = sp + i * sizeof(u64), caller;

		if (at == bp)
			break;
		caller = caller_at(at);
		if (caller)
			return caller;
	}
	return 0;
}
#else
static __always_inline u64 leaf_caller(struct task_struct *task)
{
	return 0;
}
#endif

/* Reads the user stack into frame[1] and on; frames after the last one are 0. They are not moved:
 * frame[0] is only used if the missing caller of the leaf is inserted. */
static __noinline void opening_read_stack(struct opening *o, struct task_struct *task)
{
	u64 caller;
	long bytes;

	__builtin_memset(&o->head, 0, sizeof(o->head));
	stack_begin(&o->head, task);
	bytes = bpf_get_task_stack(task, &o->frame[1], sizeof(o->frame) - sizeof(o->frame[0]),
				   BPF_F_USER_STACK);
	o->frame[0] = 0;
	o->head.user_count = bytes > 0 ? bytes / sizeof(u64) + 1 : 0;
	if (bytes <= 0)
		return;
	caller = leaf_caller(task);
	if (!caller || caller == o->frame[2])
		return;
	o->frame[0] = o->frame[1];
	o->frame[1] = caller;
}

static __noinline u64 opening_hash(const struct opening *o)
{
	u64 hash = o->head.began_ns ^ o->head.image;

#pragma unroll
	for (u32 i = 0; i < OPENED_FRAMES; i++)
		if (i < o->head.user_count)
			hash = (hash ^ o->frame[i]) * 0x100000001b3ULL;
	return hash;
}

/* Runs in the thread that has opened the connection. */
static __noinline void note_opening(struct connection *c)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct opening *o = or_refused(task_storage_make(&opening_scratch, task)), *known;
	struct opening_key key = { .service = c->row };

	c->opening = 0;
	c->opener = 0;
	if (!o)
		return;
	opening_read_stack(o, task);
	if (!o->head.user_count)
		return;
	o->seen = opened_walk;
	o->head.service = c->row;
	key.pid = o->head.pid;
	key.hash = opening_hash(o);
	known = bpf_map_lookup_elem(&openings, &key);
	if (known)
		known->seen = opened_walk;
	else if (bpf_map_update_elem(&openings, &key, o, BPF_NOEXIST) &&
		 !or_refused(bpf_map_lookup_elem(&openings, &key)))
		return;
	c->opening = key.hash;
	c->opener = key.pid;
	c->opener_row = c->row;
}

/* --- the walk at each reading --- */

static const struct opening no_opening;

static __noinline struct opening *opening_of(const struct connection *c)
{
	struct opening_key key = { .hash = c->opening, .service = c->opener_row, .pid = c->opener };
	struct opening *o = key.pid ? bpf_map_lookup_elem(&openings, &key) : NULL;

	if (o)
		return o;
	key.hash = c->opening < OPENED_TEXTS && !c->opener ? c->opening : OPENED_UNKNOWN;
	if (!c->began_ns)
		key.hash = OPENED_EARLIER;
	key.pid = 0;
	key.service = c->row;
	o = bpf_map_lookup_elem(&openings, &key);
	if (o)
		return o;
	bpf_map_update_elem(&openings, &key, &no_opening, BPF_NOEXIST);
	return or_refused(bpf_map_lookup_elem(&openings, &key));
}

/* Counts a connection that a program has open, or is about to get. */
static __noinline int opened_count(const struct connection *c)
{
	struct opening *o = opening_of(c);
	u64 now = bpf_ktime_get_ns();

	if (!o)
		return 0;
	o->seen = opened_walk;
	if (!opened_counts || c->phase != CONNECTION_OPEN ||
	    now - c->began_ns < opened_after * SECOND)
		return 0;
	if (o->found_at != opened_walk) {
		o->found_at = opened_walk;
		o->found = 0;
		o->sent = false;
	}
	o->found++;
	return 0;
}

/* Runs at the first socket of the walk, if there is any. */
static __noinline int opened_begin(void)
{
	u64 now = bpf_ktime_get_ns(), period = opened_after;
	struct stack_head *begin;

	opened_walk++;
	if (period > OPENED_PERIOD)
		period = OPENED_PERIOD;
	opened_counts = now - opened_began_ns >= period * SECOND;
	if (!opened_counts)
		return 0;
	opened_began_ns = now;
	begin = event_begin(&opened, sizeof(*begin));
	if (!begin)
		return 0;
	__builtin_memset(begin, 0, sizeof(*begin));
	bpf_ringbuf_submit(begin, BPF_RB_NO_WAKEUP);
	return 0;
}

static const char opened_texts[OPENED_TEXTS][OPENED_TEXT_SIZE] = {
	[OPENED_UNKNOWN] = "[unknown]",
	[OPENED_EARLIER] = "[earlier]",
	[OPENED_ACCEPTED] = "[accepted]",
};

static __noinline bool opened_send_text(struct opened_record *record, u64 text)
{
	u64 size;

	if (text >= OPENED_TEXTS)
		return true;
	size = bpf_probe_read_kernel_str(record->frame, OPENED_TEXT_SIZE, opened_texts[text]);
	if (size > OPENED_TEXT_SIZE)
		return true;
	return !bpf_ringbuf_output(&opened, record, sizeof(record->head) + size, BPF_RB_NO_WAKEUP);
}

static __noinline void opened_put_frame(struct opened_record *record, u32 at, u64 address)
{
	if (at >= OPENED_FRAMES)
		return;
	record->frame[at].status = STACK_ADDRESS;
	record->frame[at].location = address;
}

static __noinline bool opened_send(const struct opening *o, const struct opening_key *key)
{
	u32 zero = 0, first = !o->frame[0];
	struct opened_record *record = bpf_map_lookup_elem(&opened_scratch, &zero);
	u64 count = 0;

	if (!record)
		return true;
	record->head = o->head;
	record->head.value = o->found;
	record->head.service = key->service;
	record->head.user_count = 0;
	if (!key->pid)
		return opened_send_text(record, key->hash);
	for (u32 i = 0; i < OPENED_FRAMES; i++)
		if (i >= first && i < o->head.user_count)
			opened_put_frame(record, i - first, o->frame[i]);
	count = o->head.user_count - first;
	record->head.user_count = count;
	asm volatile("if %0 <= %1 goto +1; %0 = %1" : "+r"(count) : "i"(OPENED_FRAMES));
	return !bpf_ringbuf_output(&opened, record,
				   sizeof(record->head) + count * sizeof(record->frame[0]),
				   BPF_RB_NO_WAKEUP);
}

static long opened_show(void *map, struct opening_key *key, struct opening *o, void *context)
{
	if (o->found && !o->sent)
		o->sent = opened_send(o, key);
	if (opened_walk - o->seen > OPENED_ROUNDS)
		bpf_map_delete_elem(&openings, key);
	return 0;
}

SEC("syscall")
OPTION("opened")
int tcp_opened(void *ctx)
{
	bpf_for_each_map_elem(&openings, opened_show, NULL, 0);
	return 0;
}

#endif
