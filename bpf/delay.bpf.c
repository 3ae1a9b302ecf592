/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Delays: what the threads of services wait for, and where the time of their requests goes.
 *
 * A sampler inspects each thread: it runs, waits for a CPU, or is blocked in a system call or a
 * page fault (blocked.bpf.h). No event costs anything.
 *
 * A thread with a request in hand (serving_thread.bpf.h) spends that request's time. By Little's
 * law, the time that all requests spend in a state, divided by the number of requests, is the mean
 * time of one request in that state. The request probe counts exactly how long requests wait in
 * sockets, for a CPU (woken.h) or for their thread, and are in progress in total, and, for threads
 * with one request in hand at a time, how long those run and wait for a CPU; samples only divide
 * the time for which they are blocked.
 * Event loops have several requests in hand, and threads of a pool respond to what another thread
 * has received: their time is that of the samples. Such a pool thread also waits in a futex for
 * work, so its futex time counts as lock time only as far as the requests have time that nothing
 * else accounts for. What is in no thread's hands is divided between upstreams, counted by the
 * request probe or estimated from the connections that are to respond (awaited.bpf.h), timers of
 * event loops (timer.bpf.h), locks, and a queue for the service's threads (split.bpf.h).
 *
 * With Option "by_syscall" the sampler also counts in which system calls threads sleep
 * (asleep.bpf.h).
 *
 * Hooks, 10 times a second: from Linux 6.2 on iter/bpf_map_elem for the threads that serve, and
 * iter/task only where all threads are of interest (thread_delay.bpf.h); a walk over the services at
 * each reading.
 *
 * Limits: nothing is reported of requests below 10 samples. A pool that hands its results back to
 * the thread that responds is not recognized as working for requests: its time is in no thread's
 * hands. Of a call that waits for several sockets, none of them the request's, a sample only shows
 * that it waits for others.
 */
#include "asleep.bpf.h"
#include "cputime.h"
#include "requests/delay_row.bpf.h"
#include "requests/follow.bpf.h"
#include "requests/split.bpf.h"
#include "requests/tail.bpf.h"
#include "requests/thread_delay.bpf.h"
#include "requests/upstream.bpf.h"

/* A window has so many samples, taken in so many passes, or lasts for two readings. Two requests that
 * are always open give more in 10 s. */
#define SAMPLES_MIN 150
#define PASSES_MIN 20
#define SAMPLES_FEW 10
#define READINGS_MAX 2
#define WINDOW_NS_MAX 1800000000000ULL

static u64 sampler_runs;  /* passes over the threads that serve */
static bool serving_only; /* these passes visit no other threads */

/* The part of the thread that is sampled. Read back from memory, it is any number to the verifier,
 * which then follows one path instead of one for each part. */
static volatile u32 part_now;

/* --- samples --- */

static enum part part_of(struct task_struct *task, u64 in_hand_sk, u64 began_ns)
{
	enum blocked blocked;

	switch (sample_state(task)) {
	case SAMPLE_RUNNING:
		return PART_CPU;
	case SAMPLE_QUEUED:
		return PART_RUNQUEUE;
	default:
		break;
	}
	blocked = blocked_on(task, in_hand_sk, began_ns);
	if (blocked < BLOCKED_DISK || blocked > BLOCKED_OTHER)
		return PART_NONE;
	return PART_BLOCKED + (blocked - BLOCKED_DISK);
}

/* Global: verified once. */
__noinline int count_delay(u32 service, u32 part)
{
	struct thread_delay_row *more = bpf_map_lookup_elem(&thread_delays, &service);
	struct delay_row *row = delay_row(service);

	if (row && part == PART_DISK)
		add(&row->disk, sample_ns);
	else if (more && part > PART_DISK)
		part_add(&more->memory, part - PART_MEMORY, PARTS - PART_MEMORY, sample_ns);
	return 0;
}

/* Of a response only the next send shows that it has not ended before this sample. */
static void keep_sample(struct task_struct *task, struct serving *s, u32 service, u32 part)
{
	if (!s->socket && (!s->responded || !is_of_response(task, part)))
		return;
	s->row = service;
	tail_sample(s, part, sample_ns / 1000);
	if (s->socket)
		tail_decide(s, bpf_ktime_get_ns());
}

/* s: NULL if the thread has never served. */
static void sample_part(struct task_struct *task, struct serving *s)
{
	part_now = part_of(task, s ? socket_in_hand(s) ?: s->responded : 0, s ? s->began_ns : 0);
}

static void count_request(struct task_struct *task, u32 service, struct serving *s,
			  struct followed *f)
{
	const struct service_request *r = service_request_of(service);
	struct samples *seen = service_samples_of(service);
	u32 part = part_now;
	bool waits;

	if (!r || !seen)
		return;
	count_serving(seen, task, s, f, part);
	waits = part == PART_NONE && is_in_epoll(task);
	f->idle_ns = part == PART_NONE && !waits ? bpf_ktime_get_ns() : 0;
	if (waits)
		count_in_epoll(seen, task, r->tail_ns);
	keep_sample(task, s, service, part);
}

static void sample_serving(struct task_struct *task, struct serving *s, struct followed *f)
{
	u32 service = service_of(task);

	if (s->task != (u64)task || task->flags & PF_EXITING || !service_watched(service))
		return;
	sample_part(task, s);
	count_request(task, service, s, f);
}

static long sample_serving_next(u32 i, u64 *now)
{
	struct serving *s = serving_at(i + 1);
	struct followed *f = s && s->pid ? followed_thread(i + 1, s->pid) : NULL;
	struct task_struct *task;

	if (!f || !is_sampled(s, f, *now))
		return 0;
	task = bpf_task_from_pid(s->pid);
	if (!task)
		return 0;
	sample_serving(task, s, f);
	bpf_task_release(task);
	return 0;
}

SEC("iter/bpf_map_elem")
ITER_MAP(servings_end)
SAMPLE("hz=10")
HOOK_SET(1)
int serving_threads(struct bpf_iter__bpf_map_elem *ctx)
{
	u64 now = bpf_ktime_get_ns();
	u32 *end = ctx->value;

	needs_task_from_pid();
	if (!end)
		return 0;
	sampler_runs++;
	serving_only = true;
	bpf_loop(*end, sample_serving_next, &now, 0);
	all_threads_due = option_by_syscall || thread_delays_due();
	return 0;
}

SEC("iter/task")
SAMPLE("hz=10")
WHEN(all_threads_due)
HOOK_SET(1)
HOOK_SET(2)
int all_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct followed *f = NULL;
	struct serving *s;
	u32 service, number;

	if (ctx->meta->seq_num == 0 && !serving_only)
		sampler_runs++;
	if (!task || task->flags & (PF_KTHREAD | PF_EXITING))
		return 0;
	service = service_of(task);
	if (!service_watched(service))
		return 0;
	s = serving_of(task, &number);
	sample_part(task, s);
	count_delay(service, part_now);
	if (collects_upstreams && part_now == PART_UPSTREAM)
		upstream_count(task, service, sample_ns);
	if (s && !serving_only)
		f = followed_thread(number, s->pid);
	if (f)
		count_request(task, service, s, f);
	if (option_by_syscall)
		asleep_count(task, service, s && socket_in_hand(s) && part_now < PARTS);
	return 0;
}

/* --- readings --- */

/* Global: verified once. The verifier of Linux 6.1 follows each of the branches that are inlined. */
__noinline u64 request_grown(u64 now, u64 before)
{
	return grown(now, before);
}

/* Of the service that is shown now, too large for the stack: what its requests took up to the latest
 * reading, and in the window. */
static struct service_request latest, growth;
static struct slow_samples latest_slow;

static void note_window_growth(const struct service_request *begin)
{
	const u64 *n = (const u64 *)&latest, *b = (const u64 *)begin;
	u64 *g = (u64 *)&growth;

#pragma unroll
	for (int i = 0; i < (int)(sizeof(latest) / sizeof(*n)); i++)
		g[i] = request_grown(n[i], b[i]);
}

/* Steps of show_requests(). Global, so that their stacks follow one another: inlined in one
 * function, they need more than there is. */
__noinline int delay_divide_hand(u32 service)
{
	struct delay_row *row = delay_row(service);

	if (row)
		divide_hand(&row->in_cpu, &growth.hand, growth.samples.one_ns);
	return 0;
}

__noinline int delay_fit_parts(u32 service)
{
	u64 progress_ns = grown(growth.sums.in_progress_ns, growth.sums.send_wait_ns);
	struct delay_row *row = delay_row(service);

	if (row)
		row->in_async = fit_parts(&row->in_cpu, &growth.samples, progress_ns,
					  growth.sums.upstream_ns, &row->in_queue);
	return 0;
}

static void show_requests(struct delay_row *row, u32 service, u64 elapsed_ns)
{
	const struct request_sums *sums = &growth.sums;

	delay_divide_hand(service);
	delay_fit_parts(service);
	row->in_socket = divide_socket(&row->in_cpu, &growth.hand, sums->waiting_ns);
	/* If no request was completed: those that are open. */
	row->requests =
		sums->exchanges
			?: (sums->in_progress_ns + sums->waiting_ns) / (elapsed_ns ?: 1) + 1;
}

static __always_inline void begin_window(struct delay_row *row, u64 now)
{
	row->window.begin = latest;
	row->window.since_ns = now;
	row->window.sampler_runs = sampler_runs;
}

/* Time from one pass of the sampler to the next, on average. */
static u64 sampler_period(u64 elapsed_ns, u64 passes)
{
	return elapsed_ns / (passes ?: 1) ?: 1;
}

/* Does a window end that has these samples, passes of the sampler and readings? */
static bool is_window_complete(u64 samples, u64 passes, u64 readings)
{
	if (readings >= READINGS_MAX)
		return samples >= SAMPLES_FEW;
	return samples >= SAMPLES_MIN && passes >= PASSES_MIN;
}

static void update_window(struct delay_row *row, u32 service, bool quiet, u64 now)
{
	u64 elapsed_ns = now - row->window.since_ns, samples;
	u64 passes = sampler_runs - row->window.sampler_runs;

	note_window_growth(&row->window.begin);
	/* Of open requests, whichever thread had them in hand. */
	samples = (growth.sums.in_progress_ns + growth.sums.waiting_ns) /
		  sampler_period(elapsed_ns, passes);
	if (!quiet && is_window_complete(samples, passes, growth.readings)) {
		show_requests(row, service, elapsed_ns);
		row->samples = samples * row->requests;
	} else if (quiet || elapsed_ns > WINDOW_NS_MAX) {
		row->requests = 0;
	} else {
		/* The values are those of the window before. */
		if (growth.readings > READINGS_MAX)
			row->requests = 0;
		return;
	}
	begin_window(row, now);
}

static void show_slow(struct delay_row *row)
{
	u64 *shown = &row->slow_cpu, sum = 0;

	for (int i = 0; i < PARTS; i++) {
		shown[i] = latest_slow.ns[i] - row->window.slow_begin.ns[i];
		sum += shown[i];
	}
	row->slow = sum;
}

static void update_slow(struct delay_row *row, bool quiet, u64 now)
{
	u64 slow_ns = latest_slow.all_ns - row->window.slow_begin.all_ns;
	u64 readings = latest.readings - row->window.slow_readings;
	u64 passes = sampler_runs - row->window.slow_runs;
	u64 elapsed_ns = now - row->window.slow_since_ns;

	if (!quiet &&
	    is_window_complete(slow_ns / sampler_period(elapsed_ns, passes), passes, readings)) {
		show_slow(row);
	} else if (quiet || elapsed_ns > WINDOW_NS_MAX) {
		row->slow = 0;
	} else {
		if (readings > READINGS_MAX)
			row->slow = 0;
		return;
	}
	row->window.slow_runs = sampler_runs;
	row->window.slow_readings = latest.readings;
	row->window.slow_begin = latest_slow;
	row->window.slow_since_ns = now;
}

/* Was there no request at any time between the two readings? */
static bool is_quiet(const struct request_sums *now, const struct request_sums *before)
{
	return now->exchanges == before->exchanges && now->waiting_ns == before->waiting_ns &&
	       now->in_progress_ns == before->in_progress_ns;
}

/* Without the request probe, or after the row's service has gone, the last values would stay for
 * ever. */
static void forget_late(struct delay_row *row, u64 now)
{
	if (now - row->window.reading_ns <= READINGS_MAX * row->window.interval_ns)
		return;
	row->requests = 0;
	row->slow = 0;
}

__noinline int delay_show(u32 service)
{
	struct service_request *r = service_request_of(service);
	struct slow_samples *slow = slow_samples_of(service);
	struct delay_row *row = delay_row(service);
	u64 now = bpf_ktime_get_ns();
	bool quiet;

	if (!r || !slow || !row)
		return 0;
	if (r->readings == row->window.readings) {
		forget_late(row, now);
		return 0;
	}
	row->window.interval_ns = now - row->window.reading_ns;
	row->window.reading_ns = now;
	latest = *r;
	latest_slow = *slow;
	quiet = is_quiet(&latest.sums, &row->window.sums);
	row->window.readings = latest.readings;
	row->window.sums = latest.sums;
	update_window(row, service, quiet, now);
	update_slow(row, quiet, now);
	return 0;
}

static long delay_show_next(void *map, u32 *row, void *requests, void *context)
{
	delay_show(*row);
	return 0;
}

SEC("syscall")
int delay_services(void *ctx)
{
	bpf_for_each_map_elem(&service_requests, delay_show_next, NULL, 0);
	return 0;
}

char LICENSE[] SEC("license")
	HELP("Delays: what threads wait for, and where the time of requests goes") = "Dual MIT/GPL";
