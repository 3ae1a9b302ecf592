/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Rows of the probe functions: by service, function and, where that is a label, the value of an
 * argument. Callers choose the values, so the number of rows of each function is limited; further
 * values count under "other".
 */
#ifndef FUNCTION_ROW_BPF_H
#define FUNCTION_ROW_BPF_H

#include "function.h"
#include "map.bpf.h"
#include "metric.bpf.h"
#include "refused.bpf.h"

#define NS "scale=1/1000000000"
#define FUNCTION_AT_RETURN (FUNCTION_LATENCY | FUNCTION_ERRORS | FUNCTION_RETURNED)

struct function_key {
	u32 service LABEL("service");
	u32 function LABEL("function");
	char argument[ARGUMENT_SIZE] LABEL("argument");
};

/* How many values of its argument a function has rows for. Each function has its own limit, so that
 * it cannot use up the rows of another. */
struct value_counts {
	u32 calls, latencies;
};

ARRAY(function_values, struct value_counts, FUNCTIONS_MAX);

/* The last four members say which of those before the function has. */
struct function_row {
	u64 calls METRIC("total_operations-function rank") UNIT("calls")
		HELP("Calls: of functions, by name");
	u64 errors METRIC("errors-function where=has_errors") UNIT("calls")
		HELP("Calls that failed: by their return value");
	u64 time_ns METRIC("total_time_in_ms-function where=has_time scale=1/1000000")
		UNIT("milliseconds") HELP("Time in functions: from call to return");
	u64 sum METRIC("derive-argument where=has_sum") UNIT("of the argument")
		HELP("Sum of an argument: or of the return value");
	s64 unreturned METRIC("count-unreturned where=has_returns") UNIT("calls") HELP(
		"Calls not seen to return: still running, or left by an exception, longjmp(), a tail call or the end of the thread");
	u32 has_errors, has_time, has_sum, has_returns;
};

PERCPU_HASH(calls, struct function_key, struct function_row, FUNCTION_ROWS) SUBJECT("key");

struct function_latency_row {
	struct hist latency METRIC("latency-function " NS) UNIT("seconds")
		HELP("Latency of functions: from call to return");
};

SPARSE_HASH(latencies, struct function_key, struct function_latency_row, FUNCTION_LATENCIES)
SUBJECT("key");

struct argument_row {
	struct hist value METRIC("gauge-argument least") UNIT("of the argument")
		HELP("An argument: its value, or the return value");
};

SPARSE_HASH(arguments, struct function_key, struct argument_row, FUNCTION_LATENCIES) SUBJECT("key");

static const struct function_latency_row no_function_latency;
static const struct argument_row no_argument;

static __always_inline bool has_value(const struct function_key *key)
{
	return key->argument[0] != ARGUMENT_NONE && key->argument[0] != ARGUMENT_OTHER;
}

static __always_inline void set_other_value(struct function_key *key)
{
	__builtin_memset(key->argument, 0, sizeof(key->argument));
	key->argument[0] = ARGUMENT_OTHER;
}

/* Makes a row, if the function has room for one more value. Another CPU may have made it first:
 * then that row is there. */
static __noinline int make_function_row(const struct function_key *key, u32 flags, u32 values_max)
{
	struct value_counts *counts = bpf_map_lookup_elem(&function_values, &key->function);
	struct function_row new = {};

	if (!counts || (has_value(key) && counts->calls >= values_max))
		return 0;
	new.has_errors = !!(flags & FUNCTION_ERRORS);
	new.has_time = !!(flags & FUNCTION_LATENCY);
	new.has_sum = !!(flags & FUNCTION_SUM);
	new.has_returns = !!(flags & FUNCTION_AT_RETURN);
	if (bpf_map_update_elem(&calls, key, &new, BPF_NOEXIST) == 0 && has_value(key))
		__sync_fetch_and_add(&counts->calls, 1);
	return 0;
}

static __always_inline struct function_row *function_row(const struct function_key *key, u32 flags,
							 u32 values_max)
{
	struct function_row *row = bpf_map_lookup_elem(&calls, key);

	if (row)
		return row;
	make_function_row(key, flags, values_max);
	return bpf_map_lookup_elem(&calls, key);
}

/* A call whose value finds no room counts under "other". */
static __noinline struct function_row *function_row_or_other(struct function_key *key, u32 flags,
							     u32 values_max)
{
	struct function_row *row = function_row(key, flags, values_max);

	if (row || !has_value(key))
		return or_refused(row);
	set_other_value(key);
	return or_refused(function_row(key, flags, values_max));
}

static __noinline int make_function_latency_row(const struct function_key *key, u32 values_max)
{
	struct value_counts *counts = bpf_map_lookup_elem(&function_values, &key->function);

	if (!counts ||
	    (has_value(key) && counts->latencies >= values_max / FUNCTION_LATENCY_DIVISOR))
		return 0;
	if (bpf_map_update_elem(&latencies, key, &no_function_latency, BPF_NOEXIST) == 0 &&
	    has_value(key))
		__sync_fetch_and_add(&counts->latencies, 1);
	return 0;
}

static __always_inline struct function_latency_row *function_latency_row(
	const struct function_key *key, u32 values_max)
{
	struct function_latency_row *row = bpf_map_lookup_elem(&latencies, key);

	if (row)
		return row;
	make_function_latency_row(key, values_max);
	return bpf_map_lookup_elem(&latencies, key);
}

/* A value without room counts under "other". */
static __noinline int count_function_latency(struct function_key *key, u64 taken_ns, u32 values_max)
{
	struct function_latency_row *row = function_latency_row(key, values_max);

	if (!row && has_value(key)) {
		set_other_value(key);
		row = function_latency_row(key, values_max);
	}
	if (or_refused(row))
		hist_add(&row->latency, taken_ns);
	return 0;
}

static __noinline int count_function_value(const struct function_key *key, u64 value)
{
	struct argument_row *row = bpf_map_lookup_elem(&arguments, key);

	if (!row) {
		bpf_map_update_elem(&arguments, key, &no_argument, BPF_NOEXIST);
		row = or_refused(bpf_map_lookup_elem(&arguments, key));
	}
	if (row)
		hist_add(&row->value, value);
	return 0;
}

#endif
