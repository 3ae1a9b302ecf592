/* SPDX-License-Identifier: MIT */
/*
 * Work of known duration in software interrupts of the kind HRTIMER: from walk START on, a timer's
 * callback that runs SPINS times and spins for SPIN_NS each. It hooks nothing.
 */
#include "metric.bpf.h"

#define START 4
#define SPINS 800
#define SPIN_NS 500000
#define PAUSE_NS 2000000
#define CHECKS_MAX (1 << 20) /* clock reads: about 20 ms */
#define CLOCK_MONOTONIC 1

struct spin_row {
	u64 walks METRIC("derive-walks");
	u64 spins METRIC("derive-spins");
	u64 spun_ns METRIC("derive-spun");
};

MMAP_ARRAY(spins, struct spin_row, 1) SUBJECT("probe");

struct alarm {
	struct bpf_timer timer;
};

ARRAY(alarms, struct alarm, 1);

static long is_spun(u32 i, u64 *end_ns)
{
	return bpf_ktime_get_ns() >= *end_ns;
}

static int spin(void *map, u32 *key, struct alarm *alarm)
{
	u64 begin_ns = bpf_ktime_get_ns(), end_ns = begin_ns + SPIN_NS;
	u32 zero = 0;
	struct spin_row *row = bpf_map_lookup_elem(&spins, &zero);

	if (!row || row->spins >= SPINS)
		return 0;
	bpf_loop(CHECKS_MAX, is_spun, &end_ns, 0);
	row->spun_ns += bpf_ktime_get_ns() - begin_ns;
	row->spins++;
	bpf_timer_start(&alarm->timer, PAUSE_NS, 0);
	return 0;
}

SEC("iter/task")
int spin_walk(struct bpf_iter__task *ctx)
{
	u32 zero = 0;
	struct spin_row *row = bpf_map_lookup_elem(&spins, &zero);
	struct alarm *alarm = bpf_map_lookup_elem(&alarms, &zero);

	if (!row || !alarm || ctx->task)
		return 0;
	if (++row->walks != START)
		return 0;
	bpf_timer_init(&alarm->timer, &alarms, CLOCK_MONOTONIC);
	bpf_timer_set_callback(&alarm->timer, spin);
	bpf_timer_start(&alarm->timer, PAUSE_NS, 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
