/* SPDX-License-Identifier: MIT */
/*
 * bpf/lib/requests/split.bpf.h, compiled for user space: into which parts the time of requests is divided, given sums
 * and samples.
 */
#include "tests/unit/testing.h"

/* What the headers of the BPF side declare besides. */
#define METRIC_BPF_H
#define SERVICE_BPF_H
#define SERVICE_FIRST 1
#define ARRAY(name, type, size) static type name[size]
#define SHARED(layout)
#define bpf_map_lookup_elem(map, index) (&(*(map))[*(index)])
#define __noinline static

typedef uint64_t u64;
typedef uint32_t u32;

static inline u64 grown(u64 now, u64 before)
{
	return now > before ? now - before : 0;
}

/* It asks clang to unroll loops. */
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#include "bpf/lib/requests/split.bpf.h"

#define SECOND 1000000000ULL
#define SLACK 1000 /* ns, of divisions */

/* The parts of requests that were in progress for 10 s, none of it in hand unless samples say so. */
struct picture {
	u64 in[PARTS], queue_ns, async_ns;
};

static struct picture divide(const struct samples *seen, u64 upstream_ns)
{
	struct picture picture = {};
	struct in_hand none = {};

	divide_hand(picture.in, &none, seen->one_ns);
	picture.async_ns = fit_parts(picture.in, seen, 10 * SECOND, upstream_ns, &picture.queue_ns);
	return picture;
}

/* Checks these parts, and that the others are 0. */
static void check(const struct samples *seen, u64 upstream_ns, const struct picture *want)
{
	struct picture got = divide(seen, upstream_ns);
	u64 sum = got.queue_ns + got.async_ns;

	for (int i = 0; i < PARTS; i++) {
		CHECK_REAL(got.in[i], want->in[i], SLACK);
		sum += got.in[i];
	}
	CHECK_REAL(got.queue_ns, want->queue_ns, SLACK);
	CHECK_REAL(got.async_ns, want->async_ns, SLACK);
	CHECK_REAL(sum, 10 * SECOND, SLACK);
}

static void test_upstream(void)
{
	struct samples seen = { .idle_ns = 2 * SECOND, .requested = 400, .awaited = 300 };

	CASE("as many as the connections show");
	check(&seen, 0,
	      &(struct picture){ .in[PART_UPSTREAM] = 7.5 * SECOND, .async_ns = 2.5 * SECOND });
	CASE("as counted");
	check(&seen, 9 * SECOND,
	      &(struct picture){ .in[PART_UPSTREAM] = 9 * SECOND, .async_ns = SECOND });
	CASE("counted, of several at a time");
	check(&seen, 20 * SECOND, &(struct picture){ .in[PART_UPSTREAM] = 10 * SECOND });
	CASE("counted, and partly in a thread's hands");
	seen.one_ns[PART_UPSTREAM] = 4 * SECOND;
	check(&seen, 6 * SECOND,
	      &(struct picture){ .in[PART_UPSTREAM] = 6 * SECOND, .async_ns = 4 * SECOND });
}

static void test_upstream_of_many_threads(void)
{
	struct samples seen = { .idle_ns = 2 * SECOND,
				.requested = 100,
				.awaited = 100,
				.runner_ns = 8 * SECOND,
				.futex_ns = 6 * SECOND };

	CASE("idle threads of Go are no lock");
	check(&seen, 0, &(struct picture){ .in[PART_UPSTREAM] = 10 * SECOND });
	CASE("nor where the estimate is too small and no thread works");
	seen.awaited = 80;
	check(&seen, 0,
	      &(struct picture){ .in[PART_UPSTREAM] = 8 * SECOND, .async_ns = 2 * SECOND });
}

static void test_sleep(void)
{
	struct samples seen = { .idle_ns = 2 * SECOND,
				.requested = 100,
				.epoll_ns = { 0, 2 * SECOND },
				.timer_ns = { 0, 2 * SECOND } };

	CASE("an event loop waits for a timer");
	check(&seen, 0, &(struct picture){ .in[PART_SLEEP] = 10 * SECOND });
	CASE("after an upstream");
	check(&seen, 4 * SECOND,
	      &(struct picture){ .in[PART_UPSTREAM] = 4 * SECOND, .in[PART_SLEEP] = 6 * SECOND });
	CASE("it also ticks without requests");
	seen.epoll_ns[0] = seen.timer_ns[0] = SECOND;
	check(&seen, 0, &(struct picture){ .async_ns = 10 * SECOND });
	CASE("half of the time");
	seen.timer_ns[0] = SECOND / 2;
	check(&seen, 0, &(struct picture){ .in[PART_SLEEP] = 5 * SECOND, .async_ns = 5 * SECOND });
}

static void test_runners(void)
{
	struct samples seen = { .runner_ns = 8 * SECOND,
				.futex_ns = 4 * SECOND,
				.idle_ns = 2 * SECOND,
				.busy_ns = 2 * SECOND,
				.many_ns[PART_CPU] = 2 * SECOND };

	CASE("one works, others could");
	check(&seen, 0,
	      &(struct picture){ .in[PART_CPU] = 2 * SECOND, .in[PART_LOCK] = 8 * SECOND });
	CASE("all work");
	seen.idle_ns = 0;
	check(&seen, 0, &(struct picture){ .in[PART_CPU] = 2 * SECOND, .queue_ns = 8 * SECOND });
}

static void test_pool(void)
{
	struct samples seen = { .pool_ns = 8 * SECOND,
				.futex_ns = 4 * SECOND,
				.idle_ns = 2 * SECOND,
				.many_ns[PART_SLEEP] = 2 * SECOND };

	CASE("workers wait, and requests for workers");
	check(&seen, 0,
	      &(struct picture){ .in[PART_SLEEP] = 2 * SECOND,
				 .in[PART_LOCK] = 4 * SECOND,
				 .queue_ns = 4 * SECOND });
	CASE("with timeouts, too");
	seen.timed_futex_ns = 12 * SECOND;
	check(&seen, 0,
	      &(struct picture){ .in[PART_SLEEP] = 2 * SECOND,
				 .in[PART_LOCK] = 2 * SECOND,
				 .in[PART_TIMED_WAIT] = 6 * SECOND });
}

static void test_loop(void)
{
	struct samples seen = { .busy_ns = 2 * SECOND, .many_ns[PART_CPU] = 2 * SECOND };

	CASE("a busy loop");
	check(&seen, 0, &(struct picture){ .in[PART_CPU] = 2 * SECOND, .queue_ns = 8 * SECOND });
	CASE("busy half of the time");
	seen.busy_ns = seen.idle_ns = SECOND;
	check(&seen, 0, &(struct picture){ .in[PART_CPU] = 2 * SECOND, .async_ns = 8 * SECOND });
	CASE("busy most of the time");
	seen.busy_ns = 3 * SECOND;
	check(&seen, 0,
	      &(struct picture){
		      .in[PART_CPU] = 2 * SECOND, .queue_ns = 4 * SECOND, .async_ns = 4 * SECOND });
	CASE("more samples than time");
	seen.many_ns[PART_LOCK] = 18 * SECOND;
	check(&seen, 0, &(struct picture){ .in[PART_CPU] = SECOND, .in[PART_LOCK] = 9 * SECOND });
}

static void test_socket(void)
{
	struct in_hand hand = { .woken_ns = 3 * SECOND };
	u64 in[PARTS] = { [PART_RUNQUEUE] = SECOND };

	CASE("requests whose threads wait for a CPU");
	CHECK_UINT(divide_socket(in, &hand, 5 * SECOND), 2 * SECOND);
	CHECK_UINT(in[PART_RUNQUEUE], 4 * SECOND);
	CASE("these have waited for longer than all have waited that were counted so far");
	CHECK_UINT(divide_socket(in, &hand, SECOND), 0);
	CHECK_UINT(in[PART_RUNQUEUE], 5 * SECOND);
}

int main(void)
{
	test_upstream();
	test_upstream_of_many_threads();
	test_sleep();
	test_runners();
	test_pool();
	test_loop();
	test_socket();
	return testing_end();
}
