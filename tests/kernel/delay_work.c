/* SPDX-License-Identifier: MIT */
#include "delay_work.h"
#include "load.h"
#include "loopback.h"

#include <linux/perf_event.h>
#include <pthread.h>

#define FILE_SIZE (16 * MIB)
#define BLOCK 4096
#define SLICES 64
#define DIRECT_BLOCK MIB
#define MARKS 64

/* Shared by all processes of the server. */
struct shared {
	pthread_mutex_t mutex;
	uint32_t lock_us;
};

static struct delay_server server;
static struct shared *shared;
static char *mapped;
static int mapped_fd;

/* The latest clocks of the calling thread, a ring. */
static __thread struct mark {
	uint64_t wall_ns, queued_ns;
} marks[MARKS];
static __thread unsigned mark_count;

static __thread int schedstat_fd = -1, task_clock_fd = -1;
static __thread uint64_t seed;

static uint32_t below(uint32_t limit)
{
	seed = seed ?: clock_ns(CLOCK_MONOTONIC) ^ (uint64_t)gettid() << 40;
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 32) % limit;
}

/* --- clocks ----------------------------------------------------------------------------------- */

uint64_t work_queued_ns(void)
{
	char text[100] = "";
	unsigned long ns;

	if (schedstat_fd < 0)
		schedstat_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	if (pread(schedstat_fd, text, sizeof(text) - 1, 0) < 1 || sscanf(text, "%*u %lu", &ns) != 1)
		err(1, "schedstat");
	return ns;
}

/* Time of the calling thread on a virtual CPU, including steal time. The CPU time excludes steal time,
 * which is long when a guest accesses its disk. */
static uint64_t on_cpu_ns(void)
{
	struct perf_event_attr event = { .type = PERF_TYPE_SOFTWARE,
					 .size = sizeof(event),
					 .config = PERF_COUNT_SW_TASK_CLOCK };
	uint64_t ns;

	if (task_clock_fd < 0)
		task_clock_fd =
			syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (read(task_clock_fd, &ns, sizeof(ns)) != sizeof(ns))
		err(1, "task clock");
	return ns;
}

/* Reads all three clocks at one moment: repeats if the thread was off the CPU in between. */
void work_resume(struct work *work)
{
	uint64_t queued = work_queued_ns();

	do {
		work->queued_ns = queued;
		work->cpu_ns = on_cpu_ns();
		work->wall_ns = clock_ns(CLOCK_MONOTONIC);
		queued = work_queued_ns();
	} while (queued != work->queued_ns);
	marks[mark_count++ % MARKS] = (struct mark){ work->wall_ns, work->queued_ns };
}

/* i: 0 is the latest. */
static const struct mark *mark_at(unsigned i)
{
	return &marks[(mark_count - 1 - i) % MARKS];
}

uint64_t work_queued_since(uint64_t wall_ns)
{
	const struct mark *before, *after = mark_at(0), *latest = after;
	unsigned i = 1;

	while (i + 1 < MARKS && i < mark_count && mark_at(i)->wall_ns > wall_ns)
		after = mark_at(i++);
	before = mark_at(i);
	if (i == 1)
		return latest->queued_ns - before->queued_ns;
	return latest->queued_ns - after->queued_ns +
	       (after->queued_ns - before->queued_ns) * (after->wall_ns - wall_ns) /
		       (after->wall_ns - before->wall_ns);
}

void work_spent(struct work *work, enum part part)
{
	struct work was = *work;
	uint64_t cpu, queued, all;

	work_resume(work);
	cpu = work->cpu_ns - was.cpu_ns;
	queued = work->queued_ns - was.queued_ns;
	all = work->wall_ns - was.wall_ns;
	work->part_ns[PART_CPU] += cpu;
	work->part_ns[PART_RUNQUEUE] += queued;
	work->part_ns[part] += all - cpu - queued;
}

static void log_vain(uint64_t ns)
{
	__atomic_fetch_add(&server.log->vain_ns, ns, __ATOMIC_RELAXED);
}

void work_wait(struct work *work, const struct work *since)
{
	uint64_t pushed_ns = work->wall_ns, queued, all;

	work_resume(work);
	all = work->wall_ns - pushed_ns;
	queued = work->queued_ns - since->queued_ns;
	if (queued > all) {
		log_vain(queued - all);
		queued = all;
	}
	work->part_ns[PART_RUNQUEUE] += queued;
	work->part_ns[PART_ASYNC] += all - queued;
}

void work_vain(uint64_t queued_ns)
{
	log_vain(work_queued_ns() - queued_ns);
}

void work_log(const struct work *work, const struct request *request, uint64_t send_ns)
{
	struct delay_log *log = server.log;

	for (int i = 0; i < PARTS; i++)
		__atomic_fetch_add(&log->part_ns[i], work->part_ns[i], __ATOMIC_RELAXED);
	__atomic_fetch_add(&log->send_ns, send_ns, __ATOMIC_RELAXED);
	__atomic_fetch_add(&log->response_ns, work->wall_ns - request->sent_ns, __ATOMIC_RELAXED);
	__atomic_fetch_add(&log->requests, 1, __ATOMIC_RELEASE);
}

/* --- the mutex -------------------------------------------------------------------------------- */

/* The mutex is free for a ninth of the time, so that a random arrival waits for about lock_us. */
static void *lock_and_sleep(void *unused)
{
	struct work work = { 0 };

	work_resume(&work);
	for (;;) {
		uint64_t locked_ns = __atomic_load_n(&shared->lock_us, __ATOMIC_RELAXED) * 2000ULL;

		if (locked_ns) {
			pthread_mutex_lock(&shared->mutex);
			work_spent(&work, PART_LOCK);
			sleep_ns(locked_ns);
			pthread_mutex_unlock(&shared->mutex);
		}
		sleep_ns(locked_ns / 8 ?: 1000000);
		work_spent(&work, PART_SLEEP);
		for (int i = 0; i < PARTS; i++)
			server.log->aside_ns[i] = work.part_ns[i];
	}
	return unused;
}

static void lock_for(uint32_t us)
{
	__atomic_store_n(&shared->lock_us, us, __ATOMIC_RELAXED);
	pthread_mutex_lock(&shared->mutex);
	pthread_mutex_unlock(&shared->mutex);
}

static void make_mutex(void)
{
	pthread_mutexattr_t attributes;
	pthread_t thread;

	shared = need(mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	if (pthread_mutex_init(&shared->mutex, &attributes) ||
	    pthread_create(&thread, NULL, lock_and_sleep, NULL))
		err(1, "mutex");
}

/* --- the disk --------------------------------------------------------------------------------- */

/* The file is written, because unwritten extents are not read from the disk. */
static void make_file(void)
{
	static char block[BLOCK];

	mapped_fd = open(server.file, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (mapped_fd < 0)
		err(1, "%s", server.file);
	memset(block, 1, sizeof(block));
	for (uint64_t at = 0; at < FILE_SIZE; at += BLOCK)
		if (write(mapped_fd, block, BLOCK) != BLOCK)
			err(1, "%s", server.file);
	if (fsync(mapped_fd))
		err(1, "%s", server.file);
	mapped = need(mmap(NULL, FILE_SIZE, PROT_READ, MAP_SHARED, mapped_fd, 0));
	madvise(mapped, FILE_SIZE, MADV_RANDOM);
}

/* Large blocks: with waits of microseconds, context switches would take as long as the reads. */
static void read_for(uint32_t us)
{
	static __thread char *block;
	static __thread int fd = -1;
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + us * 1000ULL;

	if (fd < 0) {
		fd = open(server.file, O_RDONLY | O_DIRECT | O_CLOEXEC);
		block = aligned_alloc(BLOCK, DIRECT_BLOCK);
	}
	do {
		if (pread(fd, block, DIRECT_BLOCK,
			  (off_t)below(FILE_SIZE / DIRECT_BLOCK) * DIRECT_BLOCK) != DIRECT_BLOCK)
			err(1, "%s", server.file);
	} while (clock_ns(CLOCK_MONOTONIC) < end_ns);
}

/* Each thread has its own slice, because a page that others have mapped stays in memory. */
static void fault_for(uint32_t us)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + us * 1000ULL;
	off_t slice = (off_t)(gettid() % SLICES) * (FILE_SIZE / SLICES);

	do {
		off_t at = slice + (off_t)below(FILE_SIZE / SLICES / BLOCK) * BLOCK;

		madvise(mapped + at, BLOCK, MADV_DONTNEED);
		posix_fadvise(mapped_fd, at, BLOCK, POSIX_FADV_DONTNEED);
		if (!*(volatile char *)(mapped + at))
			errx(1, "%s is empty", server.file);
	} while (clock_ns(CLOCK_MONOTONIC) < end_ns);
}

/* --- others ----------------------------------------------------------------------------------- */

int upstream_connect(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr = { htonl(INADDR_LOOPBACK) },
				       .sin_port = htons(server.upstream_port) };

	return loopback_connect(&address);
}

static void ask_upstream(uint32_t us)
{
	static __thread int fd = -1;

	if (fd < 0)
		fd = upstream_connect();
	if (send(fd, &us, sizeof(us), MSG_NOSIGNAL) != sizeof(us) ||
	    recv(fd, &us, sizeof(us), MSG_WAITALL) != sizeof(us))
		err(1, "upstream");
}

struct pipes {
	int to[2], from[2];
};

static void *echo(void *argument)
{
	struct pipes *pipes = argument;
	uint32_t us;

	while (read(pipes->to[0], &us, sizeof(us)) == sizeof(us)) {
		sleep_ns(us * 1000ULL);
		if (write(pipes->from[1], &us, sizeof(us)) != sizeof(us))
			err(1, "pipe");
	}
	return NULL;
}

static void ask_by_pipe(uint32_t us)
{
	static __thread struct pipes *pipes;
	pthread_t thread;

	if (!pipes) {
		pipes = calloc(1, sizeof(*pipes));
		if (!pipes || pipe(pipes->to) || pipe(pipes->from) ||
		    pthread_create(&thread, NULL, echo, pipes))
			err(1, "pipe");
	}
	if (write(pipes->to[1], &us, sizeof(us)) != sizeof(us) ||
	    read(pipes->from[0], &us, sizeof(us)) != sizeof(us))
		err(1, "pipe");
}

static void spin_for(uint32_t us)
{
	spin_ns(us * 1000ULL);
}

static void sleep_for(uint32_t us)
{
	sleep_ns(us * 1000ULL);
}

/* --- all of it -------------------------------------------------------------------------------- */

static const struct {
	void (*function)(uint32_t us);
	enum part part;
} actions[PHASES] = {
	[PHASE_SPIN] = { spin_for, PART_OTHER },
	[PHASE_LOCK] = { lock_for, PART_LOCK },
	[PHASE_DISK] = { read_for, PART_DISK },
	[PHASE_UPSTREAM] = { ask_upstream, PART_UPSTREAM },
	[PHASE_SLEEP] = { sleep_for, PART_SLEEP },
	[PHASE_PIPE] = { ask_by_pipe, PART_PIPE },
	[PHASE_FAULT] = { fault_for, PART_DISK },
};

void work_do(struct work *work, const struct request *request)
{
	for (int i = 0; i < PHASES; i++) {
		if (!request->phase_us[i] || !actions[i].function)
			continue;
		actions[i].function(request->phase_us[i]);
		work_spent(work, actions[i].part);
	}
}

void work_init(const struct delay_server *all)
{
	server = *all;
	make_file();
	make_mutex();
}
