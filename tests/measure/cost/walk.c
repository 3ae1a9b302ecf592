/* SPDX-License-Identifier: MIT */
/*
 * What the walk over tasks takes, beside one that looks at no task. For each line of input, one of
 * each, and a line with their CPU times in nanoseconds: "EMPTY WALK".
 *
 * walk EMPTY OWN PROBE...: objects with an empty walk, the engine's own, and those of probes, whose
 * iterators over tasks all take part in the walk.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WALK "service_walk"

/* The maps of the engine's object that probes use. */
static const char *const shared[] = { "service_tasks", "service_moves", "walks", "walk_visitors" };

static uint64_t cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

static struct bpf_object *opened(const char *path)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);

	if (!object)
		err(1, "%s", path);
	return object;
}

static void load(struct bpf_object *object, const char *path)
{
	if (bpf_object__load(object))
		err(1, "%s: load", path);
}

static bool is_walk(const struct bpf_program *program)
{
	return !strcmp(bpf_program__section_name(program), "iter/task");
}

static bool is_exit(const struct bpf_program *program)
{
	return !strcmp(bpf_program__section_name(program), "tp_btf/sched_process_exit");
}

static struct bpf_link *attached(const struct bpf_program *program)
{
	struct bpf_link *link = bpf_program__attach(program);

	if (!link)
		err(1, "%s: attach", bpf_program__name(program));
	return link;
}

static void share(struct bpf_object *probe, const struct bpf_object *own)
{
	for (size_t i = 0; i < sizeof(shared) / sizeof(*shared); i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(probe, shared[i]);
		int fd = bpf_object__find_map_fd_by_name(own, shared[i]);

		if (map && bpf_map__reuse_fd(map, fd))
			err(1, "%s", shared[i]);
	}
}

/* Adds a probe to the walk. Its hooks that do not concern sleeping threads are left out. */
static void join(const char *path, const struct bpf_object *own, uint32_t *count)
{
	int visitors = bpf_object__find_map_fd_by_name(own, "walk_visitors"), fd;
	struct bpf_object *probe = opened(path);
	struct bpf_program *program;

	share(probe, own);
	bpf_object__for_each_program(program, probe)
	{
		bpf_program__set_autoload(program, is_walk(program) || is_exit(program));
	}
	load(probe, path);
	bpf_object__for_each_program(program, probe)
	{
		if (!bpf_program__autoload(program))
			continue;
		fd = bpf_program__fd(program);
		if (!is_walk(program))
			attached(program);
		else if (bpf_map_update_elem(visitors, count, &fd, BPF_ANY) || ++*count == 0)
			err(1, "%s: join", bpf_program__name(program));
	}
}

static struct bpf_object *load_own(const char *path)
{
	struct bpf_object *own = opened(path);

	bpf_map__set_max_entries(bpf_object__find_map_by_name(own, "run_queues"),
				 (uint32_t)libbpf_num_possible_cpus());
	load(own, path);
	return own;
}

static struct bpf_link *load_empty(const char *path)
{
	struct bpf_object *object = opened(path);

	load(object, path);
	return attached(bpf_object__next_program(object, NULL));
}

static uint64_t walk_ns(const struct bpf_link *link)
{
	int fd = bpf_iter_create(bpf_link__fd(link));
	uint64_t begin = cpu_ns();
	char byte;

	if (fd < 0 || read(fd, &byte, 1) != 0)
		err(1, "cannot walk");
	begin = cpu_ns() - begin;
	close(fd);
	return begin;
}

int main(int argc, char **argv)
{
	struct bpf_link *empty, *walk;
	struct bpf_object *own;
	uint32_t visitors = 0;
	char line[16];

	if (argc < 4)
		errx(2, "usage: walk EMPTY OWN PROBE...");
	empty = load_empty(argv[1]);
	own = load_own(argv[2]);
	for (int i = 3; i < argc; i++)
		join(argv[i], own, &visitors);
	walk = attached(bpf_object__find_program_by_name(own, WALK));
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t empty_ns = walk_ns(empty);

		printf("%llu %llu\n", (unsigned long long)empty_ns,
		       (unsigned long long)walk_ns(walk));
		fflush(stdout);
	}
	return 0;
}
