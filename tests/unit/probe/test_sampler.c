/* SPDX-License-Identifier: MIT */
/*
 * When samplers run, and how they stay within their budget; the clocks and the iterators are
 * played.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/daemon.h"
#include "tests/unit/fake/probe.h"

#include "plugin/probe/sampler.h"
#include "plugin/util/clock.h"
#include "plugin/util/message.h"

#include <bpf/libbpf.h>
#include <errno.h>

#define MS 1000000ULL
#define SAMPLES_MAX 4

static uint64_t now_ns, cpu_ns, cost_ns[SAMPLES_MAX];
static unsigned runs[SAMPLES_MAX];
static struct sample samples[SAMPLES_MAX];
static int failure;
static uint64_t sampled_ns, sample_ns;
static struct probe played;

static uint64_t played_cpu(void)
{
	return cpu_ns;
}

static int played_run(const struct sample *sample, struct error *error)
{
	size_t i = (size_t)(sample - samples);

	runs[i]++;
	now_ns += cost_ns[i];
	cpu_ns += cost_ns[i];
	if (i == 0)
		sampled_ns += sample_ns;
	return failure ? error_set(error, failure, "it fails") : 0;
}

/* Plays `count` samplers of `hz` runs per second. */
static void play(struct sampler *sampler, struct sampled *items, size_t count, unsigned hz,
		 double percent)
{
	*sampler = (struct sampler){ .item = items,
				     .count = count,
				     .seed = { 1, 2, 3 },
				     .run = played_run,
				     .cpu_ns = played_cpu };
	now_ns = 1000 * NS_PER_S;
	cpu_ns = 0;
	sampled_ns = sample_ns = 0;
	for (size_t i = 0; i < count; i++) {
		runs[i] = 0;
		items[i] = (struct sampled){
			.name = "probe-program",
			.probe = &played,
			.sample = &samples[i],
			.sample_ns = i == 0 ? &sample_ns : NULL,
			.probe_fraction = percent / 100,
			.pace = { .hz = hz, .cpu_fraction = percent / 100 },
		};
	}
}

static void play_for(struct sampler *sampler, uint64_t seconds)
{
	uint64_t end_ns = now_ns + seconds * NS_PER_S;

	while (now_ns < end_ns) {
		uint64_t due_ns = sampler_step(sampler, now_ns);

		now_ns = due_ns > now_ns ? due_ns : now_ns;
	}
}

static void test_wanted(void)
{
	struct sampled items[1];
	struct sampler sampler;
	struct sampler_figures figures = { 0 };

	CASE("cheap: as often as it wants");
	cost_ns[0] = 10000;
	play(&sampler, items, 1, 100, 0.5);
	CHECK_INT(sampler_figures(&items[0], now_ns, &figures), false);
	play_for(&sampler, 100);
	CHECK_REAL(runs[0], 10000, 200);
	CHECK_INT(sampler_figures(&items[0], now_ns, &figures), true);
	CHECK_REAL(figures.hz, 100, 2);
	CHECK_REAL(figures.mean_s, 10e-6L, 1e-9L);
	CHECK_REAL(figures.percent, 0.1L, 0.002L);
	CASE("what it stands for is the time that has passed");
	CHECK_REAL((double)sampled_ns, 100e9L, 0.05e9L);
	CASE("nothing since");
	CHECK_INT(sampler_figures(&items[0], now_ns, &figures), false);
	CHECK_INT(sampler_figures(&items[0], now_ns + NS_PER_S, &figures), true);
	CHECK_REAL(figures.hz, 0, 0);
	CHECK_REAL(figures.mean_s, 0, 0);
}

static void test_budget(void)
{
	struct sampled items[2];
	struct sampler sampler;

	CASE("expensive: no more than its budget");
	cost_ns[0] = 2 * MS;
	play(&sampler, items, 1, 100, 0.5);
	play_for(&sampler, 1000);
	CHECK_REAL((double)cpu_ns, 5e9L, 0.1e9L);
	CHECK_REAL((double)sampled_ns, 1000e9L, 1e9L);
	CASE("the second of a probe has what the first leaves");
	cost_ns[0] = 10000;
	cost_ns[1] = 2 * MS;
	play(&sampler, items, 2, 100, 0.5);
	play_for(&sampler, 1000);
	CHECK_REAL(runs[0], 100000, 2000);
	CHECK_REAL((double)items[1].cpu_ns, 4e9L, 0.1e9L);
	CASE("at least a tenth");
	cost_ns[0] = 2 * MS;
	play(&sampler, items, 2, 100, 0.5);
	play_for(&sampler, 1000);
	CHECK_REAL((double)items[0].cpu_ns, 5e9L, 0.2e9L);
	CHECK_REAL((double)items[1].cpu_ns, 0.5e9L, 0.02e9L);
	CASE("it becomes dearer, and cheap again");
	cost_ns[0] = 10000;
	play(&sampler, items, 1, 100, 0.5);
	play_for(&sampler, 10);
	cost_ns[0] = 20 * MS;
	cpu_ns = 0;
	play_for(&sampler, 1000);
	CHECK_REAL((double)cpu_ns, 5e9L, 0.25e9L);
	cost_ns[0] = 10000;
	play_for(&sampler, 100);
	runs[0] = 0;
	play_for(&sampler, 100);
	CHECK_REAL(runs[0], 10000, 200);
}

/* A program that has nothing to see keeps its times without being run. */
static void test_when(void)
{
	uint32_t when = 0;
	struct sampled items[1];
	struct sampler sampler;

	CASE("nothing to see");
	cost_ns[0] = 10000;
	samples[0].when = &when;
	play(&sampler, items, 1, 100, 0.5);
	play_for(&sampler, 100);
	CHECK_UINT(runs[0], 0);
	CASE("that time is not counted later");
	when = 1;
	play_for(&sampler, 100);
	CHECK_REAL(runs[0], 10000, 200);
	CHECK_REAL((double)sampled_ns, 100e9L, 0.05e9L);
	samples[0].when = NULL;
}

/* A fixed period of 10 ms would sample work of the same period at one moment of it. */
static void test_jitter(void)
{
	unsigned seen[10] = { 0 };
	struct sampled items[1];
	struct sampler sampler;

	cost_ns[0] = 0;
	play(&sampler, items, 1, 100, 0.5);
	for (int i = 0; i < 10000; i++) {
		uint64_t due_ns = sampler_step(&sampler, now_ns), wait_ns = due_ns - now_ns;

		CASE("wait %d", i);
		CHECK_INT(wait_ns >= 5 * MS && wait_ns < 15 * MS, 1);
		now_ns = due_ns;
		seen[now_ns % (10 * MS) / MS]++;
	}
	for (unsigned i = 0; i < 10; i++) {
		CASE("ms %u of 10", i);
		CHECK_REAL(seen[i], 1000, 150);
	}
}

static void test_failure(void)
{
	struct sampled items[1];
	struct sampler sampler;

	CASE("a failure is logged once and retried every minute");
	daemon_clear();
	cost_ns[0] = 10000;
	failure = -ENOMEM;
	play(&sampler, items, 1, 100, 0.5);
	play_for(&sampler, 600);
	CHECK_REAL(runs[0], 11, 1);
	CHECK_UINT(daemon_messages(), 1);
	CHECK_TEXT(daemon_message(0),
		   "sampler probe-program: trying again once a minute at most: it fails");
	failure = 0;
	play_for(&sampler, 61);
	CHECK_UINT(daemon_messages(), 2);
	CHECK_TEXT(daemon_message(1), "sampler probe-program: works again");
	CASE("one that fails late keeps to its share, too");
	cost_ns[0] = 3 * NS_PER_S;
	failure = -EAGAIN;
	play(&sampler, items, 1, 100, 0.5);
	play_for(&sampler, 6000);
	CHECK_REAL((double)cpu_ns, 30e9L, 12e9L);
	failure = 0;
}

static void test_none(void)
{
	struct probe_config block = { 0 };
	struct probe probe;
	struct sampler sampler;

	CASE("no sampler, no thread");
	probe_of(&probe, "none", 10, &block);
	CHECK_INT(sampler_start(&sampler, &probe, 1, 0.5), 0);
	CHECK_INT(sampler.running, false);
	CHECK_UINT(sampler_step(&sampler, 5), UINT64_MAX);
	sampler_stop(&sampler);
	sampler_stop(&sampler);
}

/* Samplers of an object that is not loaded; the test runs none of them. */
static struct sample attached[2] = { { .hz = 200 }, { .hz = 11 } };

static struct bpf_object *open_samplers(void)
{
	struct bpf_object *bpf = bpf_object__open(testing_built("tests/bpf/sampler.bpf.o"));

	if (!bpf)
		abort();
	attached[0].program = bpf_object__find_program_by_name(bpf, "sampler_scan");
	attached[1].program = bpf_object__find_program_by_name(bpf, "sampler_twice");
	return bpf;
}

static struct probe make_probe(const char *name, const struct probe_config *block,
			       struct bpf_object *bpf, size_t samplers)
{
	struct probe probe;

	probe_of(&probe, name, 10, block);
	probe_object(&probe, bpf);
	probe_samples(&probe, attached, samplers);
	return probe;
}

static void check_pace(const struct sampler *sampler, size_t i, double hz, long double percent)
{
	CASE("sampler %zu", i);
	CHECK_REAL(sampler->item[i].pace.hz, hz, 0);
	CHECK_REAL(100 * sampler->item[i].pace.cpu_fraction, percent, 1e-9L);
}

static void test_options(void)
{
	const struct probe_config none = { 0 }, fast = { .frequency_hz = 50.5 },
				  both = { .frequency_hz = 1000, .budget_percent = 3 };
	struct bpf_object *bpf = open_samplers();
	struct probe probes[] = {
		make_probe("none", &none, bpf, 1),
		make_probe("both", &both, bpf, 2),
		make_probe("fast", &fast, bpf, 1),
		make_probe("no_sampler", &none, bpf, 0),
	};
	struct sampler sampler;

	daemon_clear();
	CHECK_INT(sampler_open(&sampler, probes, 4, 0.5), 0);
	CHECK_UINT(sampler.count, 4);
	CHECK_TEXT(sampler.item[2].name, "both-sampler_twice");
	check_pace(&sampler, 0, 200, 0.25L);
	check_pace(&sampler, 1, 1000, 3);
	check_pace(&sampler, 2, 1000, 3);
	check_pace(&sampler, 3, 50.5, 0.25L);
	sampler_stop(&sampler);
	CASE("a budget without a frequency, one probe");
	CHECK_INT(sampler_open(&sampler, &probes[1], 1, 0.5), 0);
	check_pace(&sampler, 0, 1000, 3);
	sampler_stop(&sampler);
	CHECK_UINT(daemon_messages(), 0);
	bpf_object__close(bpf);
}

/* Both options are in one message, and the probe works. */
static void test_no_sampler(void)
{
	const struct probe_config blocks[] = {
		{ .frequency_hz = 50 },
		{ .budget_percent = 1 },
		{ .frequency_hz = 50, .budget_percent = 1 },
	};
	static const char *const wants[] = {
		"probe io: ignoring Frequency: it has no sampler",
		"probe io: ignoring Budget: it has no sampler",
		"probe io: ignoring Frequency and Budget: it has no sampler",
	};

	struct bpf_object *bpf = open_samplers();

	for (size_t i = 0; i < 3; i++) {
		struct probe probe = make_probe("io", &blocks[i], bpf, 0);
		struct sampler sampler;

		CASE("%s", wants[i]);
		daemon_clear();
		CHECK_INT(sampler_open(&sampler, &probe, 1, 0.5), 0);
		CHECK_UINT(daemon_messages(), 1);
		CHECK_TEXT(daemon_message(0), wants[i]);
		CHECK_INT(daemon_severity(0), LOG_WARNING);
		CHECK_UINT(sampler.count, 0);
		sampler_stop(&sampler);
	}
	bpf_object__close(bpf);
}

/* A probe that did not open, and the entry for an unreadable directory, which has no block. */
static void test_off(void)
{
	const struct probe_config block = { .frequency_hz = 50, .budget_percent = 1 };
	struct probe probes[] = { make_probe("off", &block, NULL, 0),
				  make_probe("object_directory", NULL, NULL, 0) };
	struct sampler sampler;

	CASE("probes that are off");
	daemon_clear();
	CHECK_INT(sampler_open(&sampler, probes, 2, 0.5), 0);
	CHECK_UINT(sampler.count, 0);
	CHECK_UINT(daemon_messages(), 0);
	sampler_stop(&sampler);
}

int main(void)
{
	message_to(daemon_record);
	test_wanted();
	test_budget();
	test_when();
	test_jitter();
	test_failure();
	test_none();
	test_options();
	test_no_sampler();
	test_off();
	return testing_end();
}
