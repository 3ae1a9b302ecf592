/* SPDX-License-Identifier: MIT */
/*
 * When run statistics are sampled, and what a sample says. The linker replaces the kernel's calls
 * and the clock (--wrap): programs run at a constant rate, and are counted while somebody has the
 * statistics on.
 */
#include "tests/unit/testing.h"

#include "plugin/probe/run_statistics.h"
#include "plugin/util/clock.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define S(seconds) ((uint64_t)((seconds) * (double)NS_PER_S))
#define INTERVAL_S 10.0
#define HOUR_READINGS 360
#define FDS_MAX 1024

/* Runs per second and nanoseconds per run. */
static struct program {
	double rate, time_ns;
	double count;
} programs[] = {
	{ .rate = 50000, .time_ns = 300 },
	{ .rate = 40, .time_ns = 2000 },
	{ .rate = 0 },
};

static uint64_t now_ns, on_ns;
static int own = -1; /* the descriptor of ours that keeps the statistics on */
static unsigned requests;
static bool allowed, others;

static bool is_open(int fd)
{
	return fd >= 0 && fcntl(fd, F_GETFD) >= 0;
}

static unsigned open_files(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < FDS_MAX; fd++)
		count += is_open(fd);
	return count;
}

static void pass(uint64_t ns)
{
	now_ns += ns;
	on_ns += is_open(own) ? ns : 0;
	if (!is_open(own) && !others)
		return;
	for (size_t i = 0; i < COUNT_OF(programs); i++)
		programs[i].count += programs[i].rate * (double)ns / 1e9;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
	(void)clock;
	ret_now->tv_sec = (time_t)(now_ns / NS_PER_S);
	ret_now->tv_nsec = (long)(now_ns % NS_PER_S);
	return 0;
}

int __wrap_usleep(useconds_t us);
int __wrap_usleep(useconds_t us)
{
	pass(us * 1000ULL);
	return 0;
}

int __wrap_bpf_enable_stats(enum bpf_stats_type type);
int __wrap_bpf_enable_stats(enum bpf_stats_type type)
{
	CHECK_INT(type, BPF_STATS_RUN_TIME);
	requests++;
	own = allowed ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -EPERM;
	return own;
}

int __wrap_bpf_obj_get_info_by_fd(int fd, void *info, __u32 *size);
int __wrap_bpf_obj_get_info_by_fd(int fd, void *info, __u32 *size)
{
	struct bpf_prog_info *program = info;

	CHECK_UINT(*size, sizeof(*program));
	program->run_cnt = (uint64_t)programs[fd].count;
	/* Of whole runs, as the kernel counts them. */
	program->run_time_ns = (uint64_t)((double)program->run_cnt * programs[fd].time_ns);
	return 0;
}

static struct run_statistics begin(void)
{
	struct run_statistics runs;

	run_statistics_init(&runs, 1);
	runs.run = calloc(COUNT_OF(programs), sizeof(*runs.run));
	for (size_t i = 0; i < COUNT_OF(programs) && runs.run; i++) {
		runs.run[runs.count++].fd = (int)i;
		programs[i].count = 0;
	}
	now_ns = S(1000);
	on_ns = 0;
	requests = 0;
	allowed = true;
	others = false;
	return runs;
}

/* An interval, and what is left of a sample that began in it: what others do then is another case. */
static void read_once(struct run_statistics *runs, double interval_s)
{
	uint64_t end_ns = now_ns + S(interval_s);

	while (now_ns < end_ns || runs->began_ns) {
		uint64_t due_ns = run_statistics_step(runs, interval_s, now_ns);

		CHECK_INT(due_ns > now_ns, true);
		if (!runs->began_ns && due_ns > end_ns)
			due_ns = now_ns < end_ns ? end_ns : now_ns;
		pass(due_ns - now_ns);
	}
	CHECK_INT(is_open(own), false);
}

static void check_values(const struct run_statistics *runs)
{
	CHECK_INT(run_statistics_is_recent(runs), true);
	for (size_t i = 0; i < COUNT_OF(programs); i++) {
		CHECK_REAL(runs->run[i].rate, programs[i].rate, 6);
		CHECK_REAL(runs->run[i].mean_s, programs[i].time_ns / 1e9, 1e-10);
	}
}

/* Values exist from the first interval on; samples are taken every five minutes, on average. */
static void test_rare(void)
{
	struct run_statistics runs = begin();
	unsigned files = open_files();

	CASE("no other user of the statistics");
	CHECK_INT(run_statistics_is_recent(&runs), false);
	for (unsigned i = 0; i < HOUR_READINGS; i++) {
		read_once(&runs, INTERVAL_S);
		check_values(&runs);
	}
	CHECK_INT(requests >= 9 && requests <= 20, true);
	CHECK_INT(on_ns <= requests * S(0.2), true);
	CHECK_UINT(open_files(), files);
	run_statistics_done(&runs);
}

/* A sample is a part of the interval. */
static void test_short_interval(void)
{
	struct run_statistics runs = begin();

	CASE("an interval of 0.1 s");
	read_once(&runs, 0.1);
	CHECK_UINT(on_ns, S(0.025));
	CHECK_INT(run_statistics_is_recent(&runs), true);
	run_statistics_done(&runs);
}

static void test_others(void)
{
	struct run_statistics runs = begin();

	CASE("another program has them on");
	others = true;
	pass(S(1));
	for (unsigned i = 0; i < HOUR_READINGS; i++) {
		read_once(&runs, INTERVAL_S);
		check_values(&runs);
	}
	CHECK_UINT(requests, 0);
	CASE("and has them off again");
	others = false;
	for (unsigned i = 0; i < HOUR_READINGS; i++) {
		read_once(&runs, INTERVAL_S);
		check_values(&runs);
	}
	CHECK_INT(requests >= 9, true);
	run_statistics_done(&runs);
}

/* Others have the statistics on during a part of each interval: a sample that finds them off again is
 * followed by one of its own. */
static void test_now_and_then(void)
{
	struct run_statistics runs = begin();

	CASE("now and then");
	read_once(&runs, INTERVAL_S);
	CHECK_UINT(requests, 1);
	for (unsigned i = 0; i < HOUR_READINGS; i++) {
		others = true;
		pass(S(1));
		others = false;
		read_once(&runs, INTERVAL_S);
	}
	CHECK_INT(requests >= 9 && requests <= 20, true);
	check_values(&runs);
	run_statistics_done(&runs);
}

static void test_no_right(void)
{
	struct run_statistics runs = begin();

	CASE("without CAP_SYS_ADMIN");
	allowed = false;
	for (unsigned i = 0; i < HOUR_READINGS; i++)
		read_once(&runs, INTERVAL_S);
	CHECK_INT(run_statistics_is_recent(&runs), false);
	CHECK_INT(requests >= 9 && requests <= 20, true);
	CASE("that others have");
	others = true;
	for (unsigned i = 0; i < HOUR_READINGS; i++)
		read_once(&runs, INTERVAL_S);
	check_values(&runs);
	run_statistics_done(&runs);
}

/* A program that does not run keeps its mean. */
static void test_pause(void)
{
	struct run_statistics runs = begin();
	double rate = programs[0].rate;

	CASE("a program rests");
	read_once(&runs, INTERVAL_S);
	programs[0].rate = 0;
	for (unsigned i = 0; i < HOUR_READINGS; i++)
		read_once(&runs, INTERVAL_S);
	check_values(&runs);
	programs[0].rate = rate;
	run_statistics_done(&runs);
}

int main(void)
{
	test_rare();
	test_short_interval();
	test_others();
	test_now_and_then();
	test_no_right();
	test_pause();
	return testing_end();
}
