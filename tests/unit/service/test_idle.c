/* SPDX-License-Identifier: MIT */
/*
 * Idle time of CPUs, from texts in the form of /proc/stat.
 */
#include "tests/unit/testing.h"

#include "bpf/lib/cpu_idle.h"
#include "plugin/service/idle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPUS 4
#define S 1000000000ULL
#define ABSENT ((struct cpu_idle){ 0, 0 })

static struct idle idle;

static void begin(void)
{
	idle = (struct idle){ .count = CPUS, .fd = -1 };
	CHECK_INT(mapping_make(&idle.mapping, CPUS * sizeof(struct cpu_idle)), 0);
	idle.before_ns = calloc(CPUS, sizeof(*idle.before_ns));
}

static void read_idle(const char *text, uint64_t now_s)
{
	idle_parse(&idle, text, strlen(text), now_s * S);
}

static void check(const struct cpu_idle want[CPUS])
{
	const struct cpu_idle *got = idle.mapping.start;

	for (int i = 0; i < CPUS; i++) {
		CHECK_INT(got[i].idle_ns, want[i].idle_ns);
		CHECK_INT(got[i].elapsed_ns, want[i].elapsed_ns);
	}
}

/* The unit of these texts is 1/100 s. */
static uint64_t ticks(uint64_t count)
{
	return count * (S / (uint64_t)sysconf(_SC_CLK_TCK));
}

static void test_growth(void)
{
	CASE("growth of idle and iowait");
	begin();
	read_idle("cpu  9 9 9 9 9 9\ncpu0 1 2 3 1000 50 7 7\ncpu1 1 2 3 500 0 0 0\nintr 3 4\n", 10);
	read_idle("cpu  9 9 9 9 9 9\ncpu0 1 2 3 1100 60 7 7\ncpu1 1 2 3 500 0 0 0\nintr 3 4\n", 20);
	check((struct cpu_idle[CPUS]){ { ticks(110), 10 * S }, { 0, 10 * S }, ABSENT, ABSENT });
	idle_done(&idle);
}

static void test_limits(void)
{
	CASE("more than time has passed, and less than nothing");
	begin();
	read_idle("cpu0 0 0 0 100 0\ncpu1 0 0 0 100 0\n", 10);
	read_idle("cpu0 0 0 0 900 0\ncpu1 0 0 0 50 0\n", 11);
	check((struct cpu_idle[CPUS]){ { S, S }, { 0, S }, ABSENT, ABSENT });
	idle_done(&idle);
}

static void test_offline(void)
{
	CASE("CPUs that go offline and online");
	begin();
	read_idle("cpu0 0 0 0 100 0\ncpu2 0 0 0 100 0\n", 10);
	read_idle("cpu0 0 0 0 100 0\ncpu1 0 0 0 5 0\n", 20);
	check((struct cpu_idle[CPUS]){ { 0, 10 * S }, ABSENT, ABSENT, ABSENT });
	read_idle("cpu0 0 0 0 100 0\ncpu1 0 0 0 15 0\ncpu2 0 0 0 800 0\n", 30);
	check((struct cpu_idle[CPUS]){ { 0, 10 * S }, { ticks(10), 10 * S }, ABSENT, ABSENT });
	read_idle("", 40);
	check((struct cpu_idle[CPUS]){ ABSENT, ABSENT, ABSENT, ABSENT });
	idle_done(&idle);
}

static void test_other_texts(void)
{
	static const char *const TEXTS[] = { "cpu",
					     "cpu0",
					     "cpu7 1 2 3 4 5\n",
					     "cpu99999999999999999999 1\n",
					     "\n\n\n",
					     "cpux 1 2 3 4\n",
					     "cpu1 1\ncpu0 1 2 3 4 5 6\n" };

	CASE("texts of another kind");
	for (size_t i = 0; i < sizeof(TEXTS) / sizeof(*TEXTS); i++) {
		begin();
		read_idle(TEXTS[i], 10);
		idle_done(&idle);
	}
}

int main(void)
{
	test_growth();
	test_limits();
	test_offline();
	test_other_texts();
	return testing_end();
}
