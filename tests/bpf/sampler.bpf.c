/* SPDX-License-Identifier: MIT */
/*
 * A probe for tests that samples what the threads of services do. A test turns the tags of the last
 * two programs, which no test loads, into mistakes.
 *
 * Hooks: iter/task, 200 times a second.
 */
#include "sample.bpf.h"
#include "services/service.bpf.h"

struct states {
	u64 running_ns METRIC("percent-running per=seen_ns scale=100/1");
	u64 queued_ns METRIC("percent-queued per=seen_ns scale=100/1");
	u64 sleeping_ns METRIC("percent-sleeping per=seen_ns scale=100/1");
	u64 seen_ns;
	u64 seen METRIC("derive-seen");
};

MMAP_ARRAY(states, struct states, SERVICE_FIRST) SUBJECT("service");

SEC("iter/task")
SAMPLE("hz=200")
int sampler_scan(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct states *row;
	u32 service;

	if (!task)
		return 0;
	service = service_of(task);
	row = bpf_map_lookup_elem(&states, &service);
	if (!row || service < SERVICE_FIRST)
		return 0;
	add(&row->seen, 1);
	add(&row->seen_ns, sample_ns);
	switch (sample_state(task)) {
	case SAMPLE_RUNNING:
		add(&row->running_ns, sample_ns);
		break;
	case SAMPLE_QUEUED:
		add(&row->queued_ns, sample_ns);
		break;
	default:
		add(&row->sleeping_ns, sample_ns);
	}
	return 0;
}

#define SPOILT(text) __attribute__((btf_decl_tag("spoilt:" text)))

SEC("raw_tp/task_rename")
OPTION("never") SPOILT("hz=1") int sampler_no_iterator(void *ctx)
{
	return 0;
}

SEC("iter/task")
OPTION("never")
SAMPLE("hz=11")
__attribute__((btf_decl_tag("doubly:hz=22"))) int sampler_twice(struct bpf_iter__task *ctx)
{
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
