/* SPDX-License-Identifier: MIT */
/*
 * A probe for tests, as an administrator may write one. It counts values that the test passes by
 * BPF_PROG_TEST_RUN, with the functions that every probe uses, and renames of processes by service
 * (twice: in rows and in slots) and by process.
 *
 * Hooks: raw_tp task_rename, for events with the test's own first argument; iter/task, to check
 * that readings walk; for the renames three hook sets, of which only the last works: one that does
 * not load, one that does not attach, tp_btf task_rename.
 */
#include "refused.bpf.h"
#include "services/service.bpf.h"

#include "sample_event.h"

const volatile u32 process_rows_max = 1;
const volatile u64 page_size = 1;
const volatile u64 tick_ns_max = 0;
const volatile u32 cpus_possible = 0;
const volatile u32 slots_max = 1;
const volatile u32 shards = 1;

u32 cpus_online;

struct sample_row {
	u64 events METRIC("total_requests");
	u64 scaled METRIC("derive-scaled scale=3/2");
	u32 wrapping METRIC("derive-wrapping");
	u64 amount METRIC("gauge-amount rate scale=1/1000");
	s64 level METRIC("gauge-level scale=1/2");
	struct moments size METRIC("latency-size");
	struct hist time METRIC("response_time scale=1/1000 tail=time_tail");
	u64 optional METRIC("derive-optional");
	u64 walks METRIC("derive-walks");
	u64 untagged;
	u64 time_tail;
	u32 known_rows METRIC("gauge-known_rows");
	u32 known_slots METRIC("gauge-known_slots");
	u64 known_page METRIC("gauge-known_page");
	u32 known_cpus METRIC("gauge-known_cpus");
	u32 known_online METRIC("gauge-known_online");
	u64 known_tick METRIC("gauge-known_tick");
	u32 known_slots_max METRIC("gauge-known_slots_max");
	u32 known_shards METRIC("gauge-known_shards");
	u64 known_tail METRIC("gauge-known_tail");
};

MMAP_ARRAY(sample, struct sample_row, 1) SUBJECT("probe");

struct rename_row {
	u64 renames METRIC("derive-renames rank");
};

MMAP_ARRAY(sample_services, struct rename_row, 1) SUBJECT("service");
MMAP_ARRAY(sample_processes, struct rename_row, 1) SUBJECT("process");

/* The same in slots: only services that rename have a row. */
struct slot_row {
	u64 renames METRIC("derive-slot_renames");
};

MMAP_ARRAY(sample_slots, struct slot_row, 1)
SUBJECT("service via=row_slots owners=slot_owners sharded");

MMAP_ARRAY(row_slots, u32, 1);
MMAP_ARRAY(slot_owners, u32, 1);

static struct sample_row *sample_row(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&sample, &zero);
}

SEC("raw_tp/task_rename")
int sample_add(struct bpf_raw_tracepoint_args *event)
{
	struct sample_row *row = sample_row();
	u64 value = event->args[1];

	if (!row || event->args[0] != SAMPLE_EVENT)
		return 0;
	add(&row->events, 1);
	add(&row->scaled, value);
	__sync_fetch_and_add(&row->wrapping, (u32)value);
	add(&row->amount, value);
	row->level = -(s64)value;
	moments_add(&row->size, value);
	hist_add(&row->time, value);
	if (value == 0)
		refuse();
	return 0;
}

SEC("raw_tp/task_rename")
OPTION("optional")
int sample_optional(struct bpf_raw_tracepoint_args *event)
{
	struct sample_row *row = sample_row();

	if (row && event->args[0] == SAMPLE_EVENT)
		add(&row->optional, 1);
	return 0;
}

SEC("iter/task")
int sample_walk(struct bpf_iter__task *ctx)
{
	struct sample_row *row = sample_row();

	if (!row || ctx->task)
		return 0;
	row->walks++;
	row->known_rows = service_rows;
	row->known_slots = process_rows_max;
	row->known_page = page_size;
	row->known_cpus = cpus_possible;
	row->known_online = cpus_online;
	row->known_tick = tick_ns_max;
	row->known_slots_max = slots_max;
	row->known_shards = shards;
	row->known_tail = row->time_tail;
	return 0;
}

SEC("tp_btf/no_such_tracepoint")
HOOK_SET(1)
int BPF_PROG(sample_no_load, struct task_struct *task)
{
	return 0;
}

SEC("raw_tp/no_such_tracepoint")
HOOK_SET(2)
int sample_no_attach(void *event)
{
	return 0;
}

static void count_rename(void *map, u32 at)
{
	struct rename_row *row = bpf_map_lookup_elem(map, &at);

	if (row)
		add(&row->renames, 1);
}

/* The slot of a service, claimed on first use; 0: none is free. */
static u32 slot_of(u32 service)
{
	u32 *slot = bpf_map_lookup_elem(&row_slots, &service);

	if (!slot || *slot)
		return slot ? *slot : 0;
	for (u32 i = 1; i < slots_max && i < 16; i++) {
		u32 *owner = bpf_map_lookup_elem(&slot_owners, &i);

		if (owner && !__sync_val_compare_and_swap(owner, 0, service + 1)) {
			*slot = i;
			return i;
		}
	}
	return 0;
}

static void count_in_slot(u32 service)
{
	u32 at = slot_of(service) * shards + bpf_get_smp_processor_id() % shards;
	struct slot_row *row = bpf_map_lookup_elem(&sample_slots, &at);

	if (row)
		add(&row->renames, 1);
}

SEC("tp_btf/task_rename")
HOOK_SET(3)
int BPF_PROG(sample_rename, struct task_struct *task)
{
	struct service_task *st = service_task(task->group_leader);

	if (!st)
		return 0;
	count_rename(&sample_services, st->row);
	count_in_slot(st->row);
	if (st->process_row)
		count_rename(&sample_processes, st->process_row);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
