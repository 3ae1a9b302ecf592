/* SPDX-License-Identifier: MIT */
/*
 * A probe for tests that counts what the threads of services are blocked on, by thread name. The
 * name says what the thread has in hand: hNN_... means the socket of descriptor 500 + NN, lNN_... the
 * same, of a request that began later than anything that the thread has done.
 *
 * Hooks: iter/task, 50 times a second.
 */
#include "requests/blocked.bpf.h"
#include "sample.bpf.h"
#include "services/service.bpf.h"

#define SOCKET_FD 500

struct seen_key {
	char thread[TASK_COMM_LEN] LABEL("string");
	enum blocked what LABEL("enum");
};

struct seen_row {
	u64 seen METRIC("derive-seen");
};

HASH(seen, struct seen_key, struct seen_row, 1024) SUBJECT("key");

static u64 socket_in_hand(struct task_struct *task, const char *name)
{
	u32 tens = name[1] - '0', ones = name[2] - '0';

	if ((name[0] != 'h' && name[0] != 'l') || tens > 9 || ones > 9)
		return 0;
	return (u64)socket_of(task, SOCKET_FD + tens * 10 + ones);
}

SEC("iter/task")
SAMPLE("hz=50")
int blocked_sample(struct bpf_iter__task *ctx)
{
	struct seen_row first = { 1 }, *row;
	struct task_struct *task = ctx->task;
	struct seen_key key = {};

	if (!task || service_of(task) < SERVICE_FIRST || sample_state(task) != SAMPLE_ASLEEP)
		return 0;
	BPF_CORE_READ_STR_INTO(&key.thread, task, comm);
	key.what = blocked_on(task, socket_in_hand(task, key.thread),
			      key.thread[0] == 'l' ? ~0ULL : task->start_time);
	row = bpf_map_lookup_elem(&seen, &key);
	if (row)
		row->seen++;
	else
		bpf_map_update_elem(&seen, &key, &first, BPF_NOEXIST);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
