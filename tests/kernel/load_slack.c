/* SPDX-License-Identifier: MIT */
/*
 * A server whose use of its threads is known, and its clients, a child under another command name.
 *
 * load_slack LOG pool|polled|latched|loop CPU   a thread for each connection that sleeps with the
 *     request in hand, as it is, or with a poll before each receive, or in an epoll that watches an
 *     eventfd, or one thread that takes others meanwhile; all on CPU alone, -1: on any. On each line
 *     "CONNECTIONS SPIN_US SLEEP_US PERIOD_US SECONDS" each client asks once in a period for this much
 *     of a CPU and then this much sleep; with a period of 0 it sends a part of a request at once and
 *     the rest after SECONDS. It answers {"requests"}. LOG is an array of struct response.
 */
#include "load.h"
#include "loopback.h"

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#define CONNECTIONS 16
#define RESPONSES 200000

struct response {
	uint64_t end_ns;  /* time of day after the send; 0: not sent yet */
	uint64_t hand_ns; /* time from the receive to the send */
};

struct request {
	uint64_t spin_ns, sleep_ns;
	uint64_t received_ns; /* of the server, as the following variables */
	int fd;
};

static struct response *responses;
static uint32_t response_count;
static int cpu;
static bool polls, latched;

/* --- the server ------------------------------------------------------------------------------- */

static bool receive(int fd, struct request *ret_request)
{
	size_t got = 0;

	while (got < sizeof(*ret_request)) {
		struct pollfd pollfd = { .fd = fd, .events = POLLIN };
		ssize_t n;

		if (polls && poll(&pollfd, 1, -1) < 0)
			err(1, "poll");
		n = recv(fd, (char *)ret_request + got, sizeof(*ret_request) - got, 0);
		if (n <= 0)
			return false;
		got += n;
	}
	ret_request->received_ns = clock_ns(CLOCK_MONOTONIC);
	ret_request->fd = fd;
	spin_ns(ret_request->spin_ns);
	return true;
}

static void give(const struct request *request)
{
	uint32_t at = __atomic_fetch_add(&response_count, 1, __ATOMIC_RELAXED);

	if (send(request->fd, request, sizeof(*request), MSG_NOSIGNAL) != sizeof(*request))
		err(1, "send");
	if (at >= RESPONSES)
		errx(1, "the log is full");
	responses[at].hand_ns = clock_ns(CLOCK_MONOTONIC) - request->received_ns;
	__atomic_store_n(&responses[at].end_ns, clock_ns(CLOCK_REALTIME), __ATOMIC_RELEASE);
}

static void watch(int poll_fd, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (fd < 0 || epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &event))
		err(1, "epoll_ctl");
}

/* Waits like a process of PostgreSQL for another's lock. */
static void wait_for_latch(int latch, uint64_t ns)
{
	struct epoll_event event;

	if (epoll_wait(latch, &event, 1, (int)(ns / 1000000)))
		err(1, "epoll_wait");
}

static int latch_open(void)
{
	int latch = epoll_create1(0);

	watch(latch, eventfd(0, 0));
	return latch;
}

static void *serve_one(void *argument)
{
	int fd = (int)(intptr_t)argument, latch = latched ? latch_open() : -1;
	struct request request;

	while (receive(fd, &request)) {
		if (latched && request.sleep_ns)
			wait_for_latch(latch, request.sleep_ns);
		else if (request.sleep_ns)
			sleep_ns(request.sleep_ns);
		give(&request);
	}
	close(fd);
	return NULL;
}

static void serve_by_pool(int listener)
{
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		pthread_t thread;

		if (fd < 0 || pthread_create(&thread, NULL, serve_one, (void *)(intptr_t)fd))
			err(1, "pthread_create");
		pthread_detach(thread);
	}
}

/* Sends due responses. Returns the milliseconds until the next; -1: none. */
static int give_due(struct request *pending, uint32_t *count)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), least = UINT64_MAX;

	for (uint32_t i = 0; i < *count;) {
		uint64_t due = pending[i].received_ns + pending[i].spin_ns + pending[i].sleep_ns;

		if (due <= now) {
			give(&pending[i]);
			pending[i] = pending[--*count];
			continue;
		}
		least = due < least ? due : least;
		i++;
	}
	return *count ? (int)((least - now) / 1000000 + 1) : -1;
}

static void serve_by_loop(int listener)
{
	static struct request pending[CONNECTIONS];
	int poll_fd = epoll_create1(0);
	uint32_t count = 0;

	watch(poll_fd, listener);
	for (;;) {
		struct epoll_event event;

		if (epoll_wait(poll_fd, &event, 1, give_due(pending, &count)) != 1)
			continue;
		if (event.data.fd == listener)
			watch(poll_fd, accept(listener, NULL, NULL));
		else if (receive(event.data.fd, &pending[count]))
			count++;
		else
			close(event.data.fd);
	}
}

/* --- the clients ------------------------------------------------------------------------------ */

static struct {
	unsigned connections, spin_us, sleep_us, period_us;
	double seconds;
	uint64_t begin_ns, end_ns, requests;
} order;

/* Sends a part of the request now and the remainder at the end. */
static void *ask_slowly(void *argument)
{
	int fd = (int)(intptr_t)argument;
	struct request request = { 0 };

	if (send(fd, &request, 1, 0) != 1)
		err(1, "ask");
	sleep_ns(order.end_ns - clock_ns(CLOCK_MONOTONIC));
	if (send(fd, (char *)&request + 1, sizeof(request) - 1, 0) != sizeof(request) - 1 ||
	    recv(fd, &request, sizeof(request), 0) != sizeof(request))
		err(1, "ask");
	__atomic_fetch_add(&order.requests, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void *ask(void *argument)
{
	int fd = (int)(intptr_t)argument;
	struct request request = { 0 };
	uint64_t next_ns = order.begin_ns + (uint64_t)fd * 7919000 % (order.period_us * 1000ULL);

	while (clock_ns(CLOCK_MONOTONIC) < order.end_ns) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC);

		if (next_ns > now)
			sleep_ns(next_ns - now);
		next_ns += order.period_us * 1000ULL;
		request.spin_ns = order.spin_us * 1000ULL;
		request.sleep_ns = order.sleep_us * 1000ULL;
		if (send(fd, &request, sizeof(request), 0) != sizeof(request) ||
		    recv(fd, &request, sizeof(request), 0) != sizeof(request))
			err(1, "ask");
		__atomic_fetch_add(&order.requests, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void ask_all(const struct sockaddr_in *address)
{
	pthread_t thread[CONNECTIONS];
	int fd[CONNECTIONS];
	char line[100];

	for (int i = 0; i < CONNECTIONS; i++)
		fd[i] = loopback_connect(address);
	for (;;) {
		hear(line, sizeof(line));
		if (sscanf(line, "%u %u %u %u %lf", &order.connections, &order.spin_us,
			   &order.sleep_us, &order.period_us, &order.seconds) != 5 ||
		    order.connections > CONNECTIONS)
			errx(2, "what is '%s'?", line);
		order.requests = 0;
		order.begin_ns = clock_ns(CLOCK_MONOTONIC);
		order.end_ns = order.begin_ns + order.seconds * 1e9;
		for (uint32_t i = 0; i < order.connections; i++)
			if (pthread_create(&thread[i], NULL, order.period_us ? ask : ask_slowly,
					   (void *)(intptr_t)fd[i]))
				err(1, "pthread_create");
		for (uint32_t i = 0; i < order.connections; i++)
			pthread_join(thread[i], NULL);
		sprintf(line, "{\"requests\": %lu}\n", order.requests);
		say(line);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in address;
	int listener;

	die_with_parent();
	if (argc != 4)
		errx(2, "usage: load_slack LOG pool|polled|latched|loop CPU");
	responses = log_open(argv[1], RESPONSES * sizeof(*responses), MAP_POPULATE);
	cpu = atoi(argv[3]);
	listener = loopback_listen(CONNECTIONS, &address);
	if (fork() == 0) {
		die_with_parent();
		if (prctl(PR_SET_NAME, "slack_clients"))
			err(1, "prctl");
		ask_all(&address);
	}
	if (cpu >= 0)
		stay_on_cpu(cpu);
	polls = !strcmp(argv[2], "polled");
	latched = !strcmp(argv[2], "latched");
	if (polls || latched || !strcmp(argv[2], "pool"))
		serve_by_pool(listener);
	serve_by_loop(listener);
	return 0;
}
