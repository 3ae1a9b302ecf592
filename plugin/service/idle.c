/* SPDX-License-Identifier: MIT */
/*
 * How long each CPU was idle, from the lines "cpuN USER NICE SYSTEM IDLE IOWAIT ..." of /proc/stat,
 * in clock ticks of 10 ms: 0.1 % of an interval of 10 s.
 */
#include "idle.h"

#include "bpf/lib/cpu_idle.h"
#include "util/clock.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define IDLE_MAP "cpu_idles"
#define STAT_SIZE_MAX (16U << 20)
#define IDLE_FIELD 3
#define IOWAIT_FIELD 4

int idle_prepare(const struct object *own, struct error *error)
{
	int status = bpf_map__set_max_entries(object_map(own, IDLE_MAP),
					      (uint32_t)libbpf_num_possible_cpus());

	return status ? error_set(error, status, "cannot size the maps: %s", strerror(-status)) : 0;
}

int idle_open(struct idle *idle, const struct object *own, struct error *error)
{
	const struct bpf_map *map = object_map(own, IDLE_MAP);
	int status = mapping_open(&idle->mapping, map, PROT_READ | PROT_WRITE);

	idle->count = bpf_map__max_entries(map);
	if (status == 0)
		idle->before_ns = calloc(idle->count, sizeof(*idle->before_ns));
	if (status == 0 && !idle->before_ns)
		status = -ENOMEM;
	if (status)
		return error_set(error, status, "cannot map %s: %s", IDLE_MAP, strerror(-status));
	idle->fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	return 0;
}

/* The number at *at, which moves behind it. */
static uint64_t parse_stat_number(const char **at, const char *end)
{
	uint64_t number = 0;

	for (; *at < end && isdigit((unsigned char)**at); ++*at)
		number = number * 10 + (uint64_t)(**at - '0');
	return number;
}

/* Of the fields behind "cpuN". */
static uint64_t parse_idle_ns(const char *at, const char *end)
{
	uint64_t ticks = 0;

	for (int field = 0; field <= IOWAIT_FIELD; field++) {
		uint64_t number;

		while (at < end && *at == ' ')
			at++;
		number = parse_stat_number(&at, end);
		if (field >= IDLE_FIELD)
			ticks += number;
	}
	return ticks * (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
}

static void set_cpu_idle(struct idle *idle, uint64_t cpu, uint64_t now_idle_ns, uint64_t elapsed_ns)
{
	struct cpu_idle *entry = (struct cpu_idle *)idle->mapping.start + cpu;
	uint64_t before_ns = idle->before_ns[cpu];

	idle->before_ns[cpu] = now_idle_ns;
	if (before_ns == UINT64_MAX)
		return;
	entry->idle_ns = now_idle_ns > before_ns ? now_idle_ns - before_ns : 0;
	if (entry->idle_ns > elapsed_ns)
		entry->idle_ns = elapsed_ns;
	entry->elapsed_ns = elapsed_ns;
}

/* CPUs without a line are offline. */
static void mark_cpus_offline(struct idle *idle, uint64_t begin, uint64_t end)
{
	struct cpu_idle *entries = idle->mapping.start;

	for (uint64_t cpu = begin; cpu < end; cpu++) {
		idle->before_ns[cpu] = UINT64_MAX;
		entries[cpu] = (struct cpu_idle){ 0 };
	}
}

void idle_parse(struct idle *idle, const char *text, size_t length, uint64_t now_ns)
{
	uint64_t elapsed_ns = idle->read_ns ? now_ns - idle->read_ns : 0, next = 0;
	const char *at = text, *end = text + length;

	while (at < end) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at)) ?: end;

		if (line_end - at > 3 && !memcmp(at, "cpu", 3) && isdigit((unsigned char)at[3])) {
			uint64_t cpu;

			at += 3;
			cpu = parse_stat_number(&at, line_end);
			if (cpu >= next && cpu < idle->count) {
				mark_cpus_offline(idle, next, cpu);
				set_cpu_idle(idle, cpu, parse_idle_ns(at, line_end), elapsed_ns);
				next = cpu + 1;
			}
		}
		at = line_end + 1;
	}
	mark_cpus_offline(idle, next, idle->count);
	idle->read_ns = now_ns;
}

void idle_read(struct idle *idle)
{
	ssize_t length =
		idle->before_ns ? kernel_text_read(idle->fd, &idle->text, STAT_SIZE_MAX) : 0;

	idle_parse(idle, idle->text.bytes, length > 0 ? (size_t)length : 0, clock_ns());
}

void idle_done(struct idle *idle)
{
	mapping_done(&idle->mapping);
	kernel_text_done(&idle->text);
	free(idle->before_ns);
	if (idle->before_ns && idle->fd >= 0)
		close(idle->fd);
	*idle = (struct idle){ 0 };
}
