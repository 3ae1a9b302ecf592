/* SPDX-License-Identifier: MIT */
/*
 * What an event costs without and with empty programs on its hooks, by kind of hook. For each line
 * of input, "KIND", a line "WITHOUT WITH": nanoseconds of CPU time per event. Only for the first of
 * a kind it is "COUNT NS RECKONED STATISTICS": runs of programs per event, what the kernel's run
 * statistics say of one, and what the engine takes these to cost an event. Where the kernel
 * offers no such hook the line begins with "unavailable".
 *
 * kinds OBJECT CPU [FEWER]
 *
 * FEWER: so many times fewer events at a time, where the CPU is slow.
 */
#include "events.h"
#include "plugin/probe/hook_cost.h"
#include "tests/unit/marker.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PROGRAMS_MAX 2
#define RUNS 3
#define SAMPLE_NS 100000

static uint64_t cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

/* --- events that only this program has --- */

static void make_names(long count)
{
	for (long i = 0; i < count; i++)
		prctl(PR_SET_NAME, "kinds");
}

static void make_other_calls(long count)
{
	for (long i = 0; i < count; i++)
		syscall(SYS_gettid);
}

/* Starts like usual functions, with an instruction that the kernel need not single-step. */
__attribute__((noinline, used, optimize("O0"))) static void called(void)
{
}

static void make_calls(long count)
{
	for (long i = 0; i < count; i++)
		called();
}

/* Starts with an instruction that it does. */
__attribute__((noipa, used, optimize("O2"))) static long single_stepped(long value)
{
	return value * 3;
}

static void make_single_stepped_calls(long count)
{
	for (long i = 0; i < count; i++)
		single_stepped(i);
}

__attribute__((noinline, used)) static void marked(void)
{
	MARKER("kinds", "marker", 0);
}

static void make_markers(long count)
{
	for (long i = 0; i < count; i++)
		marked();
}

static void spin(long count)
{
	for (volatile long i = 0; i < count; i++)
		;
}

/* Repeats work that takes as long as the time from one sample to the next. */
static void make_samples(long count)
{
	static long rounds;

	if (!rounds) {
		uint64_t begin_ns = cpu_ns();

		spin(10000000);
		rounds = (long)(10000000.0 * SAMPLE_NS / (double)(cpu_ns() - begin_ns));
	}
	for (long i = 0; i < count; i++)
		spin(rounds);
}

static void make(const char *event, long count)
{
	static const struct {
		const char *name;
		void (*make)(long count);
	} own[] = { { "name", make_names },
		    { "other call", make_other_calls },
		    { "call of a function", make_calls },
		    { "single-stepped call", make_single_stepped_calls },
		    { "marker", make_markers },
		    { "sample", make_samples } };

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (!strcmp(event, own[i].name))
			return own[i].make(count);
	if (!make_event(event, count, NULL))
		errx(1, "no such event: %s", event);
}

/* --- kinds of hooks --- */

struct kind {
	const char *name;
	const char *event;
	long count; /* the number of events that take some 10 ms */
	const char *programs[PROGRAMS_MAX];
	const char *function; /* in this program, if the hook is in it */
	unsigned more_ns;     /* what the engine takes in addition to the costs by section */
};

/* clang-format off */
static const struct kind kinds[] = {
	{ "tp_btf", "name", 50000, { "rename_tp_btf" }, NULL, 0 },
	{ "raw_tp", "name", 50000, { "rename_raw_tp" }, NULL, 0 },
	{ "tracepoint", "name", 50000, { "rename_tracepoint" }, NULL, 0 },
	{ "fentry", "name", 50000, { "rename_fentry" }, NULL, 0 },
	{ "fexit", "name", 50000, { "rename_fexit" }, NULL, 0 },
	{ "kprobe", "name", 50000, { "rename_kprobe" }, NULL, 0 },
	{ "kretprobe", "name", 50000, { "rename_kretprobe" }, NULL, 0 },
	{ "tp_btf/sys", "syscall", 50000, { "call_tp_btf_enter", "call_tp_btf_exit" }, NULL, 0 },
	{ "raw_tp/sys", "syscall", 50000, { "call_raw_tp_enter", "call_raw_tp_exit" }, NULL, 0 },
	{ "syscalls", "syscall", 50000, { "call_tracepoint_enter", "call_tracepoint_exit" }, NULL, 0 },
	{ "other call", "other call", 50000, { "call_tracepoint_enter", "call_tracepoint_exit" }, NULL, 0 },
	{ "uprobe", "call of a function", 20000, { "user_uprobe" }, "called", 0 },
	{ "uprobe/step", "single-stepped call", 2000, { "user_uprobe" }, "single_stepped", HOOK_SINGLE_STEP_NS },
	{ "uretprobe", "call of a function", 10000, { "user_uretprobe" }, "called", 0 },
	{ "usdt", "marker", 20000, { "user_marker" }, "marked", 0 },
	{ "perf_event", "sample", 200, { "sample_perf_event" }, NULL, 0 },
	{ "softirq", "datagram", 6000, { "softirq_entry", "softirq_exit" }, NULL, 0 },
	{ "sched_switch", "switch", 6000, { "sched_switch" }, NULL, 0 },
	{ "sched_wakeup", "switch", 6000, { "sched_wakeup" }, NULL, 0 },
};
/* clang-format on */

#define KINDS (sizeof(kinds) / sizeof(*kinds))

static long fewer = 1;

/* The number of events that are made at a time. */
static long count_of(const struct kind *kind)
{
	return kind->count > fewer ? kind->count / fewer : 1;
}

/* Loads the programs of a kind. Returns NULL and sets errno if the kernel refuses them. */
static struct bpf_object *loaded(const struct kind *kind, const char *path)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	struct bpf_program *program;
	int status;

	if (!object)
		err(1, "%s", path);
	bpf_object__for_each_program(program, object)
	{
		const char *name = bpf_program__name(program);
		bool wanted = false;

		for (int i = 0; i < PROGRAMS_MAX && kind->programs[i]; i++)
			wanted |= !strcmp(name, kind->programs[i]);
		bpf_program__set_autoload(program, wanted);
	}
	status = bpf_object__load(object);
	if (status == 0)
		return object;
	bpf_object__close(object);
	errno = -status;
	return NULL;
}

static struct bpf_link *attach_to_samples(const struct bpf_program *program)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.sample_period = SAMPLE_NS };
	int event = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return event < 0 ? NULL : bpf_program__attach_perf_event(program, event);
}

static struct bpf_link *attach(const struct kind *kind, const struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options, .func_name = kind->function,
		    .retprobe = !strcmp(bpf_program__section_name(program), "uretprobe"));

	if (bpf_program__type(program) == BPF_PROG_TYPE_PERF_EVENT)
		return attach_to_samples(program);
	if (kind->function)
		return bpf_program__attach_uprobe_opts(program, getpid(), "/proc/self/exe", 0,
						       &options);
	return bpf_program__attach(program);
}

static void detach(struct bpf_link **links, int count)
{
	while (count--)
		bpf_link__destroy(links[count]);
}

/* Attaches all programs. Returns their number, or -1 with errno if one cannot be attached. */
static int attach_all(const struct kind *kind, const struct bpf_object *object,
		      struct bpf_link **ret_links)
{
	int count = 0;

	for (; count < PROGRAMS_MAX && kind->programs[count]; count++) {
		const char *name = kind->programs[count];
		const struct bpf_program *program = bpf_object__find_program_by_name(object, name);

		ret_links[count] = program ? attach(kind, program) : NULL;
		if (!ret_links[count]) {
			int error = errno;

			detach(ret_links, count);
			errno = error;
			return -1;
		}
	}
	return count;
}

/* --- costs --- */

/* The cost of an event in the run with the least disturbance. */
static double event_ns(const struct kind *kind)
{
	double best = 0;

	for (int i = 0; i < RUNS; i++) {
		uint64_t begin_ns = cpu_ns();
		double taken;

		make(kind->event, count_of(kind));
		taken = (double)(cpu_ns() - begin_ns) / (double)count_of(kind);
		if (i == 0 || taken < best)
			best = taken;
	}
	return best;
}

/* The kernel's run statistics, summed over all programs. */
static void runs(const struct kind *kind, const struct bpf_object *object, uint64_t *ret_count,
		 uint64_t *ret_ns)
{
	*ret_count = *ret_ns = 0;
	for (int i = 0; i < PROGRAMS_MAX && kind->programs[i]; i++) {
		const struct bpf_program *program =
			bpf_object__find_program_by_name(object, kind->programs[i]);
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);

		if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
			err(1, "%s", kind->programs[i]);
		*ret_count += info.run_cnt;
		*ret_ns += info.run_time_ns;
	}
}

/* The engine's estimate of the cost of an event, without the programs' own work. */
static unsigned reckoned_ns(const struct kind *kind, const struct bpf_object *object)
{
	unsigned ns = kind->more_ns;

	for (int i = 0; i < PROGRAMS_MAX && kind->programs[i]; i++)
		ns += hook_cost_ns(bpf_program__section_name(
			bpf_object__find_program_by_name(object, kind->programs[i])));
	return ns;
}

static void report_runs(const struct kind *kind, const struct bpf_object *object)
{
	int statistics = bpf_enable_stats(BPF_STATS_RUN_TIME);
	uint64_t count, ns;

	if (statistics < 0)
		err(1, "run statistics");
	make(kind->event, count_of(kind));
	runs(kind, object, &count, &ns);
	close(statistics);
	printf("%.3f %.1f %u %d\n", (double)count / (double)count_of(kind),
	       count ? (double)ns / (double)count : 0, reckoned_ns(kind, object),
	       HOOK_STATISTICS_NS);
}

/* Every other round measures without programs first. */
static void report_costs(const struct kind *kind, const struct bpf_object *object, unsigned round)
{
	double without = round % 2 ? event_ns(kind) : 0, with;
	struct bpf_link *links[PROGRAMS_MAX];
	int count = attach_all(kind, object, links);

	if (count < 0) {
		printf("unavailable: attach: %s\n", strerror(errno));
		return;
	}
	if (round == 0) {
		report_runs(kind, object);
		detach(links, count);
		return;
	}
	with = event_ns(kind);
	detach(links, count);
	if (round % 2 == 0)
		without = event_ns(kind);
	printf("%.2f %.2f\n", without, with);
}

static size_t kind_number(const char *name)
{
	for (size_t i = 0; i < KINDS; i++)
		if (!strcmp(kinds[i].name, name))
			return i;
	errx(2, "no such kind: %s", name);
}

int main(int argc, char **argv)
{
	struct bpf_object *objects[KINDS] = { NULL };
	unsigned rounds[KINDS] = { 0 };
	char line[64];

	if (argc != 3 && argc != 4)
		errx(2, "usage: kinds OBJECT CPU [FEWER]");
	stay_on(atoi(argv[2]));
	fewer = argc == 4 ? atol(argv[3]) : 1;
	libbpf_set_print(NULL);
	make_samples(1); /* calibrates the length of a round, with nothing attached */
	while (fgets(line, sizeof(line), stdin)) {
		size_t i;

		line[strcspn(line, "\n")] = '\0';
		i = kind_number(line);
		if (!objects[i])
			objects[i] = loaded(&kinds[i], argv[1]);
		if (!objects[i])
			printf("unavailable: load: %s\n", strerror(errno));
		else
			report_costs(&kinds[i], objects[i], rounds[i]++);
		fflush(stdout);
	}
	return 0;
}
