/* SPDX-License-Identifier: MIT */
/*
 * A probe for tests whose events contradict their tags: too short, too long, with rows that do not
 * exist, without the NUL of a string; one for each wake-up, including those of the thread that
 * reads them; and with Option "flood" more than anybody can read.
 *
 * Hooks: iter/task, and raw_tp sched_switch for the flood and the echo.
 */
#include "event.bpf.h"

struct odd {
	u32 row LABEL("service");
	char name[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024);
	__type(value, struct odd);
} odd SEC(".maps") EVENT("warning derive-odd odd: {name} in {row}");

struct drop {
	u64 number;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024);
	__type(value, struct drop);
} flood SEC(".maps") EVENT("okay derive-flood drop {number}");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024);
	__type(value, struct drop);
} echo SEC(".maps") EVENT("okay derive-echo echo {number}");

struct row {
	u64 walks METRIC("derive-walks");
	u64 sent METRIC("derive-sent");
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct row);
} rows SEC(".maps") SUBJECT("probe");

static struct row *row_at(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&rows, &zero);
}

SEC("iter/task")
int hostile_event_walk(struct bpf_iter__task *ctx)
{
	struct {
		struct odd odd;
		char more[64];
	} longer = { .odd = { .row = ~0U, .name = "<b>\n\x1b[31m%s%n\xff\xfe" } };
	struct row *row = row_at();

	if (ctx->task || !row)
		return 0;
	row->walks++;
	__builtin_memset(longer.odd.name + 12, 'x', 4);
	bpf_ringbuf_output(&odd, &longer, 4, 0);
	bpf_ringbuf_output(&odd, &longer, sizeof(longer.odd) - 1, 0);
	bpf_ringbuf_output(&odd, &longer, sizeof(longer), 0);
	return 0;
}

SEC("raw_tp/sched_switch")
OPTION("flood")
int hostile_event_flood(void *ctx)
{
	struct row *row = row_at();

	for (int i = 0; i < 16 && row; i++) {
		struct drop *drop = event_begin(&flood, sizeof(*drop));

		if (!drop)
			continue;
		drop->number = i;
		add(&row->sent, 1);
		event_send(drop);
	}
	return 0;
}

SEC("raw_tp/sched_switch")
int hostile_event_echo(void *ctx)
{
	struct drop *drop = event_begin(&echo, sizeof(*drop));

	if (drop) {
		drop->number = 0;
		event_send(drop);
	}
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
