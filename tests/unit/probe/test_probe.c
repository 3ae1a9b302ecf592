/* SPDX-License-Identifier: MIT */
/*
 * A real object in the real kernel: tests/bpf/sample.bpf.c counts values that the test passes to it
 * on all CPUs at once, and what is dispatched must match them. The option Object names its file.
 * Needs the right to load BPF programs.
 */
#include "tests/unit/fake/sample.h"

#include "tests/unit/messages.h"
#include "tests/unit/values.h"

#include "bpf/lib/hist.h"
#include "plugin/util/clock.h"
#include "tests/bpf/sample_event.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define COUNT 20000
#define THREADS 2
#define PROGRAMS_MAX 8
#define RENAMES 100

static uint64_t values[COUNT];

static double elapsed_s(void)
{
	return (double)probe.tables[0].elapsed_ns / 1e9;
}

/* Runs a program of the probe with a value. */
static void count_value(const char *program, uint64_t value)
{
	uint64_t arguments[] = { SAMPLE_EVENT, value };
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = arguments, .ctx_size_in = sizeof(arguments));
	int fd = bpf_program__fd(bpf_object__find_program_by_name(probe.object.bpf, program));

	if (bpf_prog_test_run_opts(fd, &run) != 0) {
		perror("BPF_PROG_TEST_RUN");
		exit(1);
	}
}

static void *count_part(void *first)
{
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET((unsigned)((uint64_t *)first - values) % (unsigned)sysconf(_SC_NPROCESSORS_ONLN),
		&cpu);
	pthread_setaffinity_np(pthread_self(), sizeof(cpu), &cpu);
	for (uint64_t *value = first; value < values + COUNT; value += THREADS) {
		count_value("sample_add", *value);
		count_value("sample_optional", *value);
	}
	return NULL;
}

/* Passes all values, from several CPUs at once. */
static void count_values(void)
{
	pthread_t threads[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, count_part, &values[i]) != 0)
			abort();
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* Hook sets that the kernel refuses, at load and at attach, cost one message each. */
static void test_hook_sets(void)
{
	CASE("hook sets");
	CHECK_UINT(probe.object.hook_set, 3);
	CHECK_UINT(daemon_messages(), 2);
	CHECK_INT(daemon_severity(0), LOG_NOTICE);
	CHECK_HAS(daemon_message(0),
		  "probe sample: hook set 1 is unavailable, trying the next: cannot load");
	CHECK_HAS(daemon_message(0), "no_such_tracepoint");
	CHECK_HAS(daemon_message(1),
		  "probe sample: hook set 2 is unavailable, trying the next: cannot attach");
	CHECK_HAS(daemon_message(1), "raw_tp/no_such_tracepoint");
}

static void *read_in_thread(void *unused)
{
	read_probe();
	return unused;
}

/* A reading starts when no other one has the lock of the services; the wait is not part of its
 * time. */
static void test_unassigned(void)
{
	uint64_t freed_ns;
	pthread_t thread;

	CASE("another reading is in progress");
	pthread_mutex_lock(&services.lock);
	if (pthread_create(&thread, NULL, read_in_thread, NULL) != 0)
		abort();
	usleep(50000);
	freed_ns = clock_ns();
	pthread_mutex_unlock(&services.lock);
	pthread_join(thread, NULL);
	CHECK_INT(probe.tables[0].read_ns > freed_ns, 1);
}

/* Variables that the engine sets in every object. */
static void test_variables(void)
{
	CASE("variables");
	read_probe();
	CHECK_REAL(daemon_gauge("sample/gauge-known_rows"), services.lifecycle.row_count, 0);
	CHECK_REAL(daemon_gauge("sample/gauge-known_slots"), services.lifecycle.process_row_count,
		   0);
	CHECK_REAL(daemon_gauge("sample/gauge-known_page"), sysconf(_SC_PAGESIZE), 0);
	CHECK_REAL(daemon_gauge("sample/gauge-known_cpus"), libbpf_num_possible_cpus(), 0);
	CHECK_REAL(daemon_gauge("sample/gauge-known_online"), sysconf(_SC_NPROCESSORS_ONLN), 0);
	/* Two ticks of a kernel with 1000 Hz, or of one that has stopped its ticks. */
	CHECK_REAL(daemon_gauge("sample/gauge-known_tick"), 1001e6, 999e6);
	CHECK_REAL(daemon_gauge("sample/gauge-known_slots_max"), services.lifecycle.row_count, 0);
	CHECK_REAL(daemon_gauge("sample/gauge-known_shards"),
		   rows_shards(libbpf_num_possible_cpus()), 0);
}

/* The first reading has counters, but no values that need a difference in time. */
static void test_first_reading(void)
{
	CASE("first reading");
	CHECK_REAL(daemon_gauge("sample/total_requests"), 0, 0);
	CHECK_REAL(daemon_gauge("sample/derive-walks"), 1, 0);
	CHECK_REAL(daemon_gauge("sample/gauge-amount"), DAEMON_NONE, 0);
	CHECK_REAL(daemon_gauge("sample/latency-size-average"), DAEMON_NONE, 0);
	CHECK_REAL(daemon_gauge("sample/response_time-percentile-50"), DAEMON_NONE, 0);
	CHECK_REAL(daemon_gauge("sample/bucket-response_time-0_0.016"), DAEMON_NONE, 0);
}

static void check_integers(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < COUNT; i++)
		sum += values[i];
	CASE("integers");
	CHECK_REAL(daemon_gauge("sample/total_requests"), COUNT, 0);
	CHECK_REAL(daemon_gauge("sample/derive-scaled"), sum * 3 / 2, 0);
	CHECK_REAL(daemon_gauge("sample/derive-wrapping"), (uint32_t)sum, 0);
	CHECK_REAL(daemon_gauge("sample/gauge-amount"), (double)sum / 1000 / elapsed_s(),
		   (double)sum / 1e12);
	CHECK_REAL(daemon_gauge("sample/derive-optional"), COUNT, 0);
	CHECK_REAL(daemon_gauge("sample/derive-walks"), 2, 0);
}

static void check_moments(void)
{
	long double mean = values_mean(values, COUNT), variance = values_variance(values, COUNT);

	CHECK_REAL(daemon_gauge("sample/latency-size-average"), mean, mean * 1e-12L);
	CHECK_REAL(daemon_gauge("sample/latency-size-variance"), variance, variance * 1e-12L);
	CHECK_REAL(daemon_gauge("sample/latency-size-cv"), sqrtl(variance) / mean, 1e-12L);
}

static void check_percentiles(void)
{
	static const unsigned permilles[] = { 500, 900, 950, 990, 999 };
	long double mean = values_mean(values, COUNT) / 1000;

	values_sort(values, COUNT);
	for (size_t i = 0; i < COUNT_OF(permilles); i++) {
		long double exact = values_percentile(values, COUNT, permilles[i]) / 1000.0L;
		char name[64];

		snprintf(name, sizeof(name), "sample/response_time-percentile-%g",
			 permilles[i] / 10.0);
		CASE("%s", name);
		CHECK_REAL(daemon_gauge(name), exact, exact / 32);
	}
	CASE("histogram");
	CHECK_REAL(daemon_gauge("sample/response_time-average"), mean, mean / 32);
}

/* Rates of the values between two powers of two. */
static void check_buckets(void)
{
	uint64_t lower = 0;

	for (unsigned power = HIST_BITS; power <= HIST_POWER_MAX; power++) {
		bool last = power == HIST_POWER_MAX;
		uint64_t upper = 1ULL << power, count = 0;
		char name[96];

		for (size_t i = 0; i < COUNT; i++)
			count += values[i] >= lower && (last || values[i] < upper);
		snprintf(name, sizeof(name), "sample/bucket-response_time-%g_%g",
			 (double)lower / 1000, last ? INFINITY : (double)upper / 1000);
		CASE("%s", name);
		CHECK_REAL(daemon_gauge(name), (double)count / elapsed_s(), 1e-6L);
		lower = upper;
	}
}

static void test_counting(void)
{
	values_fill(values, COUNT, VALUES_LOG_UNIFORM, 0x1p39);
	count_values();
	read_probe();
	check_integers();
	CASE("moments");
	check_moments();
	check_buckets();
	check_percentiles();
}

/* Squares that exceed 64 bits. */
static void test_large(void)
{
	CASE("moments of large values");
	values_fill(values, COUNT, VALUES_UNIFORM, 0x1p47);
	count_values();
	read_probe();
	check_moments();
	CHECK_REAL(daemon_gauge("sample/total_requests"), 2 * COUNT, 0);
}

static void test_few(void)
{
	CASE("one value");
	count_value("sample_add", 10);
	read_probe();
	CHECK_REAL(daemon_gauge("sample/gauge-level"), -5, 0);
	CHECK_REAL(daemon_gauge("sample/latency-size-samples"), COUNT + 1, 0);
	CHECK_REAL(daemon_gauge("sample/response_time-percentile-99"), 0.01L, 1e-15L);
	CASE("none");
	read_probe();
	CHECK_REAL(daemon_gauge("sample/gauge-level"), -5, 0);
	CHECK_REAL(daemon_gauge("sample/gauge-amount"), 0, 0);
	CHECK_REAL(daemon_gauge("sample/latency-size-samples"), 0, 0);
	CHECK_REAL(daemon_gauge("sample/response_time-percentile-99"), NAN, 0);
	CASE("immediately after another one");
	count_value("sample_add", 10);
	read_probe();
	count_value("sample_add", 10);
	read_probe_after(1);
	CHECK_UINT(daemon_dispatched(), 0);
	read_probe_after(0.5);
	CHECK_REAL(daemon_gauge("sample/total_requests"), 2 * COUNT + 3, 0);
	CHECK_REAL(daemon_gauge("sample/response_time-percentile-99"), 0.01L, 1e-15L);
	CASE("refused");
	CHECK_UINT(*probe.refused, 0);
	for (int i = 0; i < 3; i++)
		count_value("sample_add", 0);
	CHECK_UINT(*probe.refused, 3);
}

/* The iterator of a reading finds what the previous reading has written into rows. */
static void test_tail(void)
{
	long double exact;

	CASE("a percentile that the program reads");
	read_probe();
	CHECK_UINT(messages_with("as its maps have no room for them; total_events-refused_sample"),
		   1);
	values_fill(values, COUNT, VALUES_LOG_UNIFORM, 0x1p39);
	count_values();
	read_probe();
	CHECK_UINT(messages_with("total_events-refused_sample"), 0);
	/* All values were 0, so that the slowest 5 % begin at 1. */
	CHECK_REAL(daemon_gauge("sample/gauge-known_tail"), 1, 0);
	values_sort(values, COUNT);
	exact = values_percentile(values, COUNT, 950);
	read_probe();
	CHECK_REAL(daemon_gauge("sample/gauge-known_tail"), exact, exact / 32);
	read_probe();
	CHECK_REAL(daemon_gauge("sample/gauge-known_tail"), 0, 0);
}

/* Field 22 of /proc/self/stat. */
static unsigned long long start_ticks(void)
{
	unsigned long long ticks = 0;
	FILE *file = fopen("/proc/self/stat", "r");
	char line[1024] = "";
	const char *at;

	if (!file || !fgets(line, sizeof(line), file))
		abort();
	fclose(file);
	at = strrchr(line, ')');
	for (int field = 2; field < 22; field++)
		at = strchr(at + 1, ' ');
	ticks = strtoull(at, NULL, 10);
	return ticks;
}

/* By service and by process: this process renames itself, so that it belongs to the service. */
static void test_services(void)
{
	char before[16], name[128];

	CASE("no slot yet");
	CHECK_REAL(daemon_gauge("renamed/derive-slot_renames"), DAEMON_NONE, 0);
	CASE("renames");
	prctl(PR_GET_NAME, before);
	for (int i = 0; i < RENAMES; i++)
		prctl(PR_SET_NAME, i % 2 ? "sample_a" : "sample_b");
	read_probe();
	CHECK_REAL(daemon_gauge("renamed/derive-renames"), RENAMES, 0);
	CHECK_REAL(daemon_gauge("renamed/derive-slot_renames"), RENAMES, 0);
	snprintf(name, sizeof(name), "renamed-%d-%llu/derive-renames", (int)getpid(),
		 start_ticks());
	CASE("%s", name);
	CHECK_REAL(daemon_gauge(name), RENAMES, 0);
	prctl(PR_SET_NAME, "sample_a");
	read_probe();
	CHECK_REAL(daemon_gauge(name), RENAMES + 1, 0);
	prctl(PR_SET_NAME, before);
	usleep(50000); /* its last events may arrive until then */
	read_probe();  /* its last values */
	read_probe();
	read_probe();
	CHECK_REAL(daemon_gauge(name), DAEMON_NONE, 0);
	CHECK_REAL(daemon_gauge("renamed/derive-renames"), RENAMES + 1, 0);
}

/* Programs are freed shortly after their last descriptor is closed. */
static bool ends(uint32_t id)
{
	for (int i = 0; i < 200; i++) {
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			return errno == ENOENT;
		close(fd);
		usleep(20000);
	}
	return false;
}

static void test_nothing_left(void)
{
	uint32_t ids[PROGRAMS_MAX];
	struct bpf_program *program;
	size_t count = 0;

	CASE("nothing left");
	bpf_object__for_each_program(program, probe.object.bpf)
	{
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);

		if (bpf_program__fd(program) >= 0 &&
		    bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) == 0)
			ids[count++] = info.id;
	}
	CHECK_UINT(count, 4);
	CHECK_INT(services.lifecycle.subscribers.item[0].used, true);
	probe_done(&probe);
	probe_done(&probe);
	CHECK_INT(services.lifecycle.subscribers.item[0].used, false);
	for (size_t i = 0; i < count; i++)
		CHECK_INT(ends(ids[i]), true);
}

/* A mapping keeps its map in the kernel. */
static void check_no_mapping(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[4096];
	bool found = false;

	if (!file)
		abort();
	while (fgets(line, sizeof(line), file))
		found |= strstr(line, "bpf-map") != NULL;
	fclose(file);
	CASE("no map is left");
	CHECK_INT(found, false);
}

int main(void)
{
	struct error error = { "" };
	int status = sample_begin();

	if (status)
		return status;
	CASE("open");
	status = open_probe(config_probe(&config, "sample")->object, &error);
	CHECK_INT(status, 0);
	if (status) {
		printf("%s\n", error.text);
		return testing_end();
	}
	test_hook_sets();
	test_variables();
	test_first_reading();
	test_counting();
	test_large();
	test_few();
	test_tail();
	test_unassigned();
	test_services();
	test_nothing_left();
	services_done(&services);
	file_helper_done(&files);
	check_no_mapping();
	config_done(&config);
	daemon_clear();
	return testing_end();
}
