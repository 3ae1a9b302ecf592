/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Hardware interrupts: how many the CPUs have handled on each line, and how long that took; with
 * Option "cpus" for each CPU.
 *
 * Hooks: tp_btf irq_handler_entry and irq_handler_exit, which do not nest on a CPU. With Option
 * "vectors", on x86-64: tp_btf local_timer_entry, reschedule_entry, call_function_entry,
 * call_function_single_entry and irq_work_entry, and their exits, for what CPUs send to themselves
 * and to each other.
 *
 * Limits: on a shared line each handler counts under its own name, also a handler that finds that
 * its device did not interrupt; lines whose handlers have the same name are one series. Work that a
 * driver does in a thread is not included. Time that the hypervisor steals is included.
 */
#include "run_counter.bpf.h"
#include "kernel/irq.bpf.h"
#include "refused.bpf.h"
#include "span.bpf.h"

#define NS "scale=1/1000000000"
#define LINE_NAME_LEN 32

struct hardirq_key {
	char line[LINE_NAME_LEN] LABEL("string");
};

struct hardirq_row {
	u64 count METRIC("irq-hardirq") UNIT("interrupts")
		HELP("Hardware interrupts: of each line");
	u64 time_ns METRIC("total_time_in_ms-hardirq scale=1/1000000") UNIT("milliseconds")
		HELP("Time in hardware interrupts: from start to end of their handlers");
};

PERCPU_HASH(hardirqs, struct hardirq_key, struct hardirq_row, 1024)
SUBJECT("key") BY_CPU("cpus");

/* For all CPUs together: only one CPU handles a line at a time. */
struct duration_row {
	struct hist duration METRIC("duration-hardirq " NS) UNIT("seconds")
		HELP("Duration of a hardware interrupt: from start to end of its handler");
};

HASH(hardirq_durations, struct hardirq_key, struct duration_row, 256) SUBJECT("key");

CPU_SPANS(hardirq_spans);

static const struct hardirq_row no_interrupts;
static const struct duration_row no_durations;

static struct hardirq_row *hardirq_row(const struct hardirq_key *key)
{
	struct hardirq_row *row = bpf_map_lookup_elem(&hardirqs, key);

	if (row)
		return row;
	bpf_map_update_elem(&hardirqs, key, &no_interrupts, BPF_NOEXIST);
	return or_refused(bpf_map_lookup_elem(&hardirqs, key));
}

static struct duration_row *duration_row(const struct hardirq_key *key)
{
	struct duration_row *row = bpf_map_lookup_elem(&hardirq_durations, key);

	if (row)
		return row;
	bpf_map_update_elem(&hardirq_durations, key, &no_durations, BPF_NOEXIST);
	return or_refused(bpf_map_lookup_elem(&hardirq_durations, key));
}

static void begin_interrupt(void)
{
	struct span *span = cpu_span_make(&hardirq_spans);

	if (span)
		span_begin(span);
}

/* An interrupt that began before the probe was attached is not counted. */
static void end_interrupt(const struct hardirq_key *key)
{
	struct span *span = cpu_span(&hardirq_spans);
	struct duration_row *durations;
	struct hardirq_row *row;
	u64 taken_ns;

	if (!span)
		return;
	taken_ns = span_end(span);
	row = hardirq_row(key);
	durations = duration_row(key);
	if (row) {
		row->count++;
		row->time_ns += taken_ns;
	}
	if (durations)
		hist_add(&durations->duration, taken_ns);
}

SEC("tp_btf/irq_handler_entry")
RUN_COUNTER(0) int BPF_PROG(hardirq_begin)
{
	run_counter_add(0);
	begin_interrupt();
	return 0;
}

SEC("tp_btf/irq_handler_exit")
RUN_COUNTER(1) int BPF_PROG(hardirq_end, int number, struct irqaction *action)
{
	struct hardirq_key key = {};

	run_counter_add(1);
	bpf_probe_read_kernel_str(key.line, sizeof(key.line), action->name);
	end_interrupt(&key);
	return 0;
}

#ifdef __TARGET_ARCH_x86
enum vector { LOCAL_TIMER, RESCHEDULE, CALL_FUNCTION, CALL_FUNCTION_SINGLE, IRQ_WORK };

static const struct hardirq_key vectors[] = {
	[LOCAL_TIMER] = { "local_timer" },     [RESCHEDULE] = { "reschedule" },
	[CALL_FUNCTION] = { "call_function" }, [CALL_FUNCTION_SINGLE] = { "call_function_single" },
	[IRQ_WORK] = { "irq_work" },
};

#define VECTOR(name, vector, entry_counter, exit_counter)                        \
	SEC("tp_btf/" #name "_entry")                                            \
	OPTION("vectors") RUN_COUNTER(entry_counter) int name##_begin(void *ctx) \
	{                                                                        \
		run_counter_add(entry_counter);                                  \
		begin_interrupt();                                               \
		return 0;                                                        \
	}                                                                        \
	SEC("tp_btf/" #name "_exit")                                             \
	OPTION("vectors") RUN_COUNTER(exit_counter) int name##_end(void *ctx)    \
	{                                                                        \
		run_counter_add(exit_counter);                                   \
		end_interrupt(&vectors[vector]);                                 \
		return 0;                                                        \
	}

VECTOR(local_timer, LOCAL_TIMER, 2, 3)
VECTOR(reschedule, RESCHEDULE, 4, 5)
VECTOR(call_function, CALL_FUNCTION, 6, 7)
VECTOR(call_function_single, CALL_FUNCTION_SINGLE, 8, 9)
VECTOR(irq_work, IRQ_WORK, 10, 11)
#endif

char LICENSE[] SEC("license") DEFAULT(off) HELP("Hardware interrupts: by line") = "Dual MIT/GPL";
