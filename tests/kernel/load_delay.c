/* SPDX-License-Identifier: MIT */
/*
 * A server that does the work in each request and logs the parts of its time, in one of several
 * architectures; its clients, its upstream, and a competitor for the CPU.
 *
 * load_delay server ARCHITECTURE WORKERS CPU LOG FILE UPSTREAM   says its port. CPU: all its threads
 *     are on it, -1: on any. LOG is a struct delay_log. FILE is made, on a disk. UPSTREAM is a port.
 *     Architectures:
 *     thread      a thread for each connection
 *     prefork     WORKERS processes that accept, each one connection at a time
 *     pool        one thread waits for requests, WORKERS threads receive, work and answer
 *     loop        one event loop that does all of it, one request after the other
 *     loop_pool   an event loop receives, WORKERS threads work and answer
 *     loop_back   an event loop receives and answers, WORKERS threads work
 *     proxy       an event loop receives and answers, and asks UPSTREAM without waiting for it
 * load_delay alone THREADS LOG FILE UPSTREAM MIXTURE   the same work without requests
 * load_delay upstream   says its port, answers after as many microseconds as it is asked for
 * load_delay client PORT   on each line "CONNECTIONS THINK_US SECONDS MIXTURE" asks on so many
 *     connections at a time; answers {"requests", "response"} as it saw them
 * load_delay competitor CPU SPIN_US SLEEP_US
 */
#include "delay_peer.h"
#include "delay_work.h"
#include "load.h"
#include "loopback.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#define FD_MAX 1024

struct job {
	int fd;
	struct request request;
	struct work work;
};

static int thread_count;

/* --- one request ------------------------------------------------------------------------------ */

static void receive_first(struct job *job)
{
	uint64_t waited, queued;

	work_resume(&job->work);
	waited = job->work.wall_ns - job->request.sent_ns;
	queued = work_queued_since(job->request.sent_ns);
	if (queued > waited)
		queued = waited;
	job->work.part_ns[PART_RUNQUEUE] = queued;
	job->work.part_ns[PART_SOCKET] = waited - queued;
}

static bool receive_job(struct job *job)
{
	size_t got = 0;

	memset(&job->work, 0, sizeof(job->work));
	while (got < sizeof(job->request)) {
		ssize_t n =
			recv(job->fd, (char *)&job->request + got, sizeof(job->request) - got, 0);

		if (n <= 0)
			return false;
		if (got)
			work_spent(&job->work, PART_CLIENT);
		else
			receive_first(job);
		got += n;
	}
	return true;
}

/* The time since the clocks were set is the last part. */
static void respond(struct job *job, enum part part)
{
	uint64_t begin_ns;

	work_spent(&job->work, part);
	begin_ns = job->work.wall_ns;
	if (send(job->fd, &job->request, sizeof(job->request), MSG_NOSIGNAL) !=
	    sizeof(job->request))
		err(1, "send");
	work_log(&job->work, &job->request, clock_ns(CLOCK_MONOTONIC) - begin_ns);
}

static bool serve(int fd)
{
	struct job job = { .fd = fd };

	if (!receive_job(&job)) {
		close(fd);
		return false;
	}
	work_do(&job.work, &job.request);
	respond(&job, PART_OTHER);
	return true;
}

static int accept_one(int listener)
{
	int fd = accept(listener, NULL, NULL), one = 1;

	if (fd < 0)
		err(1, "accept");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static void start(void *(*function)(void *argument), intptr_t argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, (void *)argument))
		err(1, "pthread_create");
	pthread_detach(thread);
}

/* --- a thread or a process for each connection ------------------------------------------------ */

static void *serve_connection(void *argument)
{
	while (serve((int)(intptr_t)argument))
		;
	return NULL;
}

static void serve_by_thread(int listener)
{
	for (;;)
		start(serve_connection, accept_one(listener));
}

static void serve_by_prefork(int listener)
{
	for (int i = 0; i < thread_count; i++) {
		if (fork())
			continue;
		die_with_parent();
		for (;;)
			serve_connection((void *)(intptr_t)accept_one(listener));
	}
	wait(NULL);
	errx(1, "a worker has ended");
}

/* --- a queue of jobs -------------------------------------------------------------------------- */

struct queue {
	pthread_mutex_t mutex;
	pthread_cond_t filled;
	struct job jobs[CONNECTIONS];
	unsigned begin, end;
};

static struct queue queue = { .mutex = PTHREAD_MUTEX_INITIALIZER,
			      .filled = PTHREAD_COND_INITIALIZER };
static struct queue done = { .mutex = PTHREAD_MUTEX_INITIALIZER,
			     .filled = PTHREAD_COND_INITIALIZER };

static void push(struct queue *q, const struct job *job)
{
	pthread_mutex_lock(&q->mutex);
	q->jobs[q->end++ % CONNECTIONS] = *job;
	pthread_cond_signal(&q->filled);
	pthread_mutex_unlock(&q->mutex);
}

/* Another thread that has just become free may take the job meanwhile. */
static void wait_for_job(struct queue *q, struct work *since)
{
	pthread_cond_wait(&q->filled, &q->mutex);
	if (q->begin != q->end)
		return;
	work_vain(since->queued_ns);
	work_resume(since);
}

/* since: the thread's clocks when it started to wait for the job. */
static struct job pop(struct queue *q, struct work *since)
{
	struct job job;

	work_resume(since);
	pthread_mutex_lock(&q->mutex);
	while (q->begin == q->end)
		wait_for_job(q, since);
	job = q->jobs[q->begin++ % CONNECTIONS];
	pthread_mutex_unlock(&q->mutex);
	return job;
}

static struct job dequeue_job(struct queue *q)
{
	struct work since;
	struct job job = pop(q, &since);

	work_wait(&job.work, &since);
	return job;
}

static void queue_job(struct queue *q, struct job *job, enum part part)
{
	work_spent(&job->work, part);
	push(q, job);
}

/* --- event loops ------------------------------------------------------------------------------ */

static int poll_fd, done_fd;

static void watch(int fd, int how, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	if (epoll_ctl(poll_fd, how, fd, &event))
		err(1, "epoll_ctl");
}

/* Calls the function with each ready descriptor. Connections are watched for these events. */
static void loop(int listener, uint32_t events, void (*ready)(int fd))
{
	watch(listener, EPOLL_CTL_ADD, EPOLLIN);
	for (;;) {
		struct epoll_event event[CONNECTIONS];
		int n = epoll_wait(poll_fd, event, CONNECTIONS, -1);

		for (int i = 0; i < n; i++) {
			if (event[i].data.fd == listener)
				watch(accept_one(listener), EPOLL_CTL_ADD, events);
			else
				ready(event[i].data.fd);
		}
	}
}

static void serve_ready(int fd)
{
	serve(fd);
}

static void serve_by_loop(int listener)
{
	loop(listener, EPOLLIN, serve_ready);
}

static void *serve_ready_connections(void *unused)
{
	for (;;) {
		struct work since;
		struct job job = pop(&queue, &since);

		if (serve(job.fd))
			watch(job.fd, EPOLL_CTL_MOD, EPOLLIN | EPOLLONESHOT);
	}
	return unused;
}

static void push_connection(int fd)
{
	push(&queue, &(struct job){ .fd = fd });
}

static void serve_by_pool(int listener)
{
	for (int i = 0; i < thread_count; i++)
		start(serve_ready_connections, 0);
	loop(listener, EPOLLIN | EPOLLONESHOT, push_connection);
}

static void *work_and_respond(void *unused)
{
	for (;;) {
		struct job job = dequeue_job(&queue);

		work_do(&job.work, &job.request);
		respond(&job, PART_OTHER);
		work_vain(job.work.queued_ns); /* since just before the send of the response */
	}
	return unused;
}

static void *work_and_give_back(void *unused)
{
	for (;;) {
		struct job job = dequeue_job(&queue);

		work_do(&job.work, &job.request);
		queue_job(&done, &job, PART_OTHER);
		eventfd_write(done_fd, 1);
	}
	return unused;
}

static void respond_to_done(void)
{
	eventfd_t count;

	eventfd_read(done_fd, &count);
	while (count--) {
		struct job job = dequeue_job(&done);

		respond(&job, PART_OTHER);
	}
}

static void receive_or_respond(int fd)
{
	struct job job = { .fd = fd };

	if (fd == done_fd)
		respond_to_done();
	else if (receive_job(&job))
		queue_job(&queue, &job, PART_OTHER);
	else
		close(fd);
}

static void serve_by_loop_pool(int listener)
{
	for (int i = 0; i < thread_count; i++)
		start(work_and_respond, 0);
	loop(listener, EPOLLIN, receive_or_respond);
}

static void serve_by_loop_back(int listener)
{
	done_fd = eventfd(0, 0);
	watch(done_fd, EPOLL_CTL_ADD, EPOLLIN);
	for (int i = 0; i < thread_count; i++)
		start(work_and_give_back, 0);
	loop(listener, EPOLLIN, receive_or_respond);
}

/* By descriptor of a connection to the upstream: the job that waits for it. */
static struct job passed_on[FD_MAX];
static bool is_upstream[FD_MAX];
static int upstream_of[FD_MAX]; /* by descriptor of a client's connection; 0: none yet */

static int upstream_for(int client)
{
	if (!upstream_of[client]) {
		upstream_of[client] = upstream_connect();
		if (upstream_of[client] >= FD_MAX)
			errx(1, "too many connections");
		is_upstream[upstream_of[client]] = true;
		watch(upstream_of[client], EPOLL_CTL_ADD, EPOLLIN);
	}
	return upstream_of[client];
}

static void pass_on(struct job *job)
{
	uint32_t us = job->request.phase_us[PHASE_UPSTREAM];
	int fd = upstream_for(job->fd);

	job->request.phase_us[PHASE_UPSTREAM] = 0;
	work_do(&job->work, &job->request);
	passed_on[fd] = *job;
	if (send(fd, &us, sizeof(us), MSG_NOSIGNAL) != sizeof(us))
		err(1, "upstream");
}

static void pass_back(int fd)
{
	struct job *job = &passed_on[fd];
	uint32_t us;

	if (recv(fd, &us, sizeof(us), MSG_WAITALL) != sizeof(us))
		err(1, "upstream");
	job->work.part_ns[PART_UPSTREAM] += clock_ns(CLOCK_MONOTONIC) - job->work.wall_ns;
	work_resume(&job->work);
	respond(job, PART_OTHER);
}

static void pass(int fd)
{
	struct job job = { .fd = fd };

	if (fd < FD_MAX && is_upstream[fd])
		pass_back(fd);
	else if (fd < FD_MAX && receive_job(&job))
		pass_on(&job);
	else
		close(fd);
}

static void serve_by_proxy(int listener)
{
	loop(listener, EPOLLIN, pass);
}

/* --- programs --------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*run)(int listener);
} architectures[] = {
	{ "thread", serve_by_thread },       { "prefork", serve_by_prefork },
	{ "pool", serve_by_pool },           { "loop", serve_by_loop },
	{ "loop_pool", serve_by_loop_pool }, { "loop_back", serve_by_loop_back },
	{ "proxy", serve_by_proxy },
};

static void init(const char *log, const char *file, const char *upstream)
{
	work_init(&(struct delay_server){ .log = log_open(log, sizeof(struct delay_log), 0),
					  .file = file,
					  .upstream_port = atoi(upstream) });
}

static void server_run(char **argv)
{
	struct sockaddr_in address;
	int listener = loopback_listen(CONNECTIONS, &address);
	char line[100];

	thread_count = atoi(argv[1]);
	if (atoi(argv[2]) >= 0)
		stay_on_cpu(atoi(argv[2]));
	init(argv[3], argv[4], argv[5]);
	poll_fd = epoll_create1(0);
	sprintf(line, "%u\n", ntohs(address.sin_port));
	say(line);
	for (size_t i = 0; i < sizeof(architectures) / sizeof(*architectures); i++)
		if (!strcmp(argv[0], architectures[i].name))
			architectures[i].run(listener);
	errx(2, "what is '%s'?", argv[0]);
}

static struct mixture mixture;

static void *work_on(void *unused)
{
	for (;;) {
		struct job job = { 0 };

		mixture_draw(&mixture, &job.request);
		work_resume(&job.work);
		job.request.sent_ns = job.work.wall_ns;
		work_do(&job.work, &job.request);
		work_log(&job.work, &job.request, 0);
	}
	return unused;
}

/* The first thread works, too. */
static void alone_run(char **argv)
{
	init(argv[1], argv[2], argv[3]);
	mixture_parse(&mixture, argv[4]);
	for (int i = 1; i < atoi(argv[0]); i++)
		start(work_on, 0);
	work_on(NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	die_with_parent();
	if (argc == 8 && !strcmp(what, "server"))
		server_run(argv + 2);
	else if (argc == 7 && !strcmp(what, "alone"))
		alone_run(argv + 2);
	else if (argc == 2 && !strcmp(what, "upstream"))
		upstream_run();
	else if (argc == 3 && !strcmp(what, "client"))
		client_run(atoi(argv[2]));
	else if (argc == 5 && !strcmp(what, "competitor"))
		competitor_run(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
	errx(2, "usage: load_delay server|alone|upstream|client|competitor ...");
}
