/* SPDX-License-Identifier: MIT */
/*
 * A server of one thread that logs each request, and its client, a child.
 * load_flow LOG: on each line "CONNECTIONS RATE WORK_US SECONDS" the client sends RATE
 * requests per second at random moments, 0: the next as soon as one is answered, and at least
 * one on each connection; each uses WORK_US of the server's CPU. Then it says {"requests"}. LOG
 * is an array of struct response.
 */
#include "load.h"
#include "loopback.h"

#include <pthread.h>
#include <sys/epoll.h>

#define CONNECTIONS 64
#define RESPONSES 200000

struct response {
	uint64_t end_ns; /* time of day after the send, 0: not yet */
	uint64_t wait_ns;
	uint64_t least_ns, most_ns; /* of the service time: without and with the two calls */
};

struct request {
	uint64_t sent_ns, work_ns;
};

/* --- the server ------------------------------------------------------------------------------- */

static int response(int fd, struct response *a)
{
	struct request request;
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), received_ns;

	if (recv(fd, &request, sizeof(request), 0) != sizeof(request))
		return 0;
	received_ns = clock_ns(CLOCK_MONOTONIC);
	a->wait_ns = received_ns - request.sent_ns;
	spin_ns(request.work_ns);
	a->least_ns = clock_ns(CLOCK_MONOTONIC) - received_ns;
	if (send(fd, &request, sizeof(request), MSG_NOSIGNAL) != sizeof(request))
		err(1, "send");
	a->most_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
	__atomic_store_n(&a->end_ns, clock_ns(CLOCK_REALTIME), __ATOMIC_RELEASE);
	return 1;
}

static void watch(int poll_fd, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (fd < 0 || epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &event))
		err(1, "epoll_ctl");
}

static void serve(int listener, struct response *log)
{
	int poll_fd = epoll_create1(0);
	struct epoll_event event;
	uint32_t count = 0;

	watch(poll_fd, listener);
	while (count < RESPONSES) {
		if (epoll_wait(poll_fd, &event, 1, -1) != 1)
			continue;
		if (event.data.fd == listener)
			watch(poll_fd, accept(listener, NULL, NULL));
		else if (response(event.data.fd, &log[count]))
			count++;
		else
			close(event.data.fd);
	}
	errx(1, "the log is full");
}

/* --- the client ------------------------------------------------------------------------------- */

static struct {
	uint32_t connections;
	double rate, seconds;
	unsigned work_us;
	uint64_t end_ns, requests;
} order;

static void pause_before(unsigned *chance)
{
	double mean_ns = 1e9 * order.connections / order.rate;

	sleep_ns(2 * mean_ns * rand_r(chance) / RAND_MAX);
}

static void *ask(void *argument)
{
	int fd = (int)(intptr_t)argument;
	unsigned chance = fd;
	struct request request = { .work_ns = order.work_us * 1000ULL };

	/* Once in any case: on a busy machine the thread may begin after the end. */
	do {
		if (order.rate > 0)
			pause_before(&chance);
		request.sent_ns = clock_ns(CLOCK_MONOTONIC);
		if (send(fd, &request, sizeof(request), 0) != sizeof(request) ||
		    recv(fd, &request, sizeof(request), 0) != sizeof(request))
			err(1, "ask");
		__atomic_fetch_add(&order.requests, 1, __ATOMIC_RELAXED);
	} while (clock_ns(CLOCK_MONOTONIC) < order.end_ns);
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
		if (sscanf(line, "%u %lf %u %lf", &order.connections, &order.rate, &order.work_us,
			   &order.seconds) != 4 ||
		    order.connections > CONNECTIONS)
			errx(2, "what is '%s'?", line);
		order.requests = 0;
		order.end_ns = clock_ns(CLOCK_MONOTONIC) + order.seconds * 1e9;
		for (uint32_t i = 0; i < order.connections; i++)
			if (pthread_create(&thread[i], NULL, ask, (void *)(intptr_t)fd[i]))
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
	struct response *log;

	die_with_parent();
	if (argc != 2)
		errx(2, "usage: load_flow LOG");
	log = log_open(argv[1], RESPONSES * sizeof(*log), MAP_POPULATE);
	listener = loopback_listen(CONNECTIONS, &address);
	if (fork() == 0) {
		die_with_parent();
		ask_all(&address);
	}
	serve(listener, log);
	return 0;
}
