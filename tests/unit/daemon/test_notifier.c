/* SPDX-License-Identifier: MIT */
/*
 * The thread that reads ring buffers: it reads each once there is something in one, and where it
 * cannot start, that is an error. The rings are played: a ring is an eventfd that the test writes.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/probe.h"

#include "plugin/daemon/notifier.h"

#include <errno.h>
#include <semaphore.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define RINGS 2
#define NEVER SIZE_MAX
#define WAIT_S 60

static size_t allocations, failing = NEVER;
static int fds[RINGS];
static size_t opened, closed;
static sem_t consumed;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
	bool fails = failing != NEVER && allocations++ == failing;

	return fails ? NULL : __real_calloc(count, size);
}

int __wrap_bpf_map__fd(const struct bpf_map *map);
int __wrap_bpf_map__fd(__attribute__((unused)) const struct bpf_map *map)
{
	return 0;
}

struct ring_buffer *__wrap_ring_buffer__new(int map, ring_buffer_sample_fn sample, void *context,
					    const struct ring_buffer_opts *options);
struct ring_buffer *__wrap_ring_buffer__new(__attribute__((unused)) int map,
					    __attribute__((unused)) ring_buffer_sample_fn sample,
					    __attribute__((unused)) void *context,
					    __attribute__((unused))
					    const struct ring_buffer_opts *options)
{
	return (struct ring_buffer *)&fds[opened++];
}

int __wrap_ring_buffer__epoll_fd(const struct ring_buffer *ring);
int __wrap_ring_buffer__epoll_fd(const struct ring_buffer *ring)
{
	return *(const int *)ring;
}

int __wrap_ring_buffer__consume(struct ring_buffer *ring);
int __wrap_ring_buffer__consume(struct ring_buffer *ring)
{
	uint64_t written;

	if (read(*(int *)ring, &written, sizeof(written)) == sizeof(written))
		sem_post(&consumed);
	return 0;
}

void __wrap_ring_buffer__free(struct ring_buffer *ring);
void __wrap_ring_buffer__free(__attribute__((unused)) struct ring_buffer *ring)
{
	closed++;
}

static int start(struct notifier *notifier)
{
	static struct event events[RINGS];
	static struct services services;
	static struct probe probe;

	*notifier = (struct notifier){ 0 };
	probe_of(&probe, "oom", 10, NULL);
	probe_events(&probe, events, RINGS);
	opened = closed = 0;
	return notifier_start(notifier, &services, &probe, 1);
}

static void test_rings(void)
{
	struct timespec end;
	struct notifier notifier;
	uint64_t one = 1;

	CHECK_INT(start(&notifier), 0);
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += WAIT_S;
	for (size_t i = 0; i < RINGS; i++) {
		CASE("ring %zu", i);
		CHECK_INT(write(fds[i], &one, sizeof(one)), sizeof(one));
		CHECK_INT(sem_timedwait(&consumed, &end), 0);
	}
	notifier_stop(&notifier);
	CHECK_UINT(opened, RINGS);
	CHECK_UINT(closed, RINGS);
}

static void test_memory(void)
{
	struct notifier notifier;
	int status = -ENOMEM;

	for (size_t i = 0; status; i++) {
		CASE("allocation %zu fails", i);
		allocations = 0;
		failing = i;
		status = start(&notifier);
		notifier_stop(&notifier);
		CHECK_INT(status, allocations > failing ? -ENOMEM : 0);
		CHECK_UINT(opened, closed);
	}
	CHECK_INT(failing >= 2, 1);
	failing = NEVER;
}

int main(void)
{
	for (size_t i = 0; i < RINGS; i++)
		fds[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	sem_init(&consumed, 0, 0);
	test_rings();
	test_memory();
	return testing_end();
}
