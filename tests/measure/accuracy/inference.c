/* SPDX-License-Identifier: MIT */
/*
 * An inference-like HTTP service that keeps a log of its own: inference PORT. One thread
 * receives requests with large bodies and hands them to others, which compute
 * and answer in two writes, the header and then the rest.
 *
 * On each line it answers with what it has served since the last: {"requests",
 * "rx", "tx", "log": [[end, first, service], ...]}: time of day of the last send, and
 * seconds from the first receive to the first and to the last send. The clock is read
 * before each call: at its end the thread may lose the CPU.
 */
#include "record.h"

#include <arpa/inet.h>
#include <err.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROOM (1 << 20)
#define THREADS 2
#define PASSES 2
#define CLASSES 100
#define LOGGED 100000

struct connection {
	int fd;
	size_t length;
	uint64_t received_ns;
	struct connection *next;
	char in[ROOM];
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct connection *first, **end;
} queue = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, &queue.first };

static struct {
	pthread_mutex_t lock;
	uint64_t rx, tx;
	size_t count;
	struct {
		uint64_t end_ns, first_ns, service_ns;
	} log[LOGGED];
} served = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int poll_fd;

static void watch(struct connection *c, int operation)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT, .data.ptr = c };

	if (epoll_ctl(poll_fd, operation, c->fd, &event))
		err(1, "epoll_ctl");
}

static void enqueue(struct connection *c)
{
	pthread_mutex_lock(&queue.lock);
	c->next = NULL;
	*queue.end = c;
	queue.end = &c->next;
	pthread_cond_signal(&queue.filled);
	pthread_mutex_unlock(&queue.lock);
}

static struct connection *dequeue(void)
{
	struct connection *c;

	pthread_mutex_lock(&queue.lock);
	while (!queue.first)
		pthread_cond_wait(&queue.filled, &queue.lock);
	c = queue.first;
	queue.first = c->next;
	if (!queue.first)
		queue.end = &queue.first;
	pthread_mutex_unlock(&queue.lock);
	return c;
}

/* Sums of products of the body with weights, for as long as a small model takes. */
static double infer(const char *body, size_t length)
{
	double score = 0;

	for (int pass = 1; pass <= PASSES; pass++)
		for (size_t i = 0; i < length; i++)
			score += body[i] * (1.0 / (pass + i % 7));
	return score;
}

static void give(int fd, const char *text, size_t length)
{
	if (send(fd, text, length, MSG_NOSIGNAL) != (ssize_t)length)
		warn("send");
}

static void respond(struct connection *c, const char *body, size_t length)
{
	char text[CLASSES * 64], head[100];
	double score = infer(body, length);
	uint64_t first_ns, last_ns;
	size_t body_size = 0, begin;

	for (int i = 0; i < CLASSES; i++)
		body_size += sprintf(text + body_size, "{\"class\": %d, \"score\": %.4f}\n", i,
				     score / (i + 1));
	begin = sprintf(head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", body_size);
	first_ns = clock_ns(CLOCK_MONOTONIC);
	give(c->fd, head, begin);
	last_ns = clock_ns(CLOCK_MONOTONIC);
	give(c->fd, text, body_size);
	pthread_mutex_lock(&served.lock);
	if (served.count == LOGGED)
		errx(1, "the log is full");
	served.rx += c->length;
	served.tx += begin + body_size;
	served.log[served.count].end_ns = clock_ns(CLOCK_REALTIME);
	served.log[served.count].first_ns = first_ns - c->received_ns;
	served.log[served.count++].service_ns = last_ns - c->received_ns;
	pthread_mutex_unlock(&served.lock);
}

/* Returns the body when it is complete. */
static const char *body_of(struct connection *c, size_t *ret_length)
{
	static const char field[] = "\nContent-Length:";
	const char *end = memmem(c->in, c->length, "\r\n\r\n", 4);

	for (const char *at = c->in; end && at < end; at++) {
		if (strncasecmp(at, field, strlen(field)))
			continue;
		*ret_length = atol(at + strlen(field));
		return end + 4 + *ret_length <= c->in + c->length ? end + 4 : NULL;
	}
	return NULL;
}

static void *work(void *argument)
{
	for (;;) {
		struct connection *c = dequeue();
		size_t length = 0;
		const char *body = body_of(c, &length);

		respond(c, body, length);
		c->length = 0;
		watch(c, EPOLL_CTL_MOD);
	}
	return argument;
}

static void receive_request(struct connection *c)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	ssize_t n = recv(c->fd, c->in + c->length, ROOM - c->length, MSG_DONTWAIT);
	size_t length;

	if (n <= 0) {
		close(c->fd);
		free(c);
		return;
	}
	if (!c->length)
		c->received_ns = now;
	c->length += n;
	if (body_of(c, &length))
		enqueue(c);
	else
		watch(c, EPOLL_CTL_MOD);
}

static void *receive(void *argument)
{
	struct epoll_event event;

	for (;;)
		if (epoll_wait(poll_fd, &event, 1, -1) == 1)
			receive_request(event.data.ptr);
	return argument;
}

static void *accept_all(void *argument)
{
	int listener = *(int *)argument, fd, one = 1;

	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		struct connection *c = calloc(1, sizeof(*c));

		if (!c)
			err(1, "accept");
		c->fd = fd;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		watch(c, EPOLL_CTL_ADD);
	}
	err(1, "accept");
}

static int listen_at(int port)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_port = htons(port),
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (void *)&in, sizeof(in)) || listen(fd, 64))
		err(1, "port %d", port);
	return fd;
}

static void report(void)
{
	pthread_mutex_lock(&served.lock);
	printf("{\"requests\": %zu, \"rx\": %lu, \"tx\": %lu, \"log\": [", served.count, served.rx,
	       served.tx);
	for (size_t i = 0; i < served.count; i++)
		printf("%s[%.6f, %.9f, %.9f]", i ? ", " : "", served.log[i].end_ns / 1e9,
		       served.log[i].first_ns / 1e9, served.log[i].service_ns / 1e9);
	printf("]}\n");
	fflush(stdout);
	served.count = served.rx = served.tx = 0;
	pthread_mutex_unlock(&served.lock);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char line[10];
	int listener;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (argc != 2)
		errx(2, "usage: inference PORT");
	listener = listen_at(atoi(argv[1]));
	poll_fd = epoll_create1(0);
	if (pthread_create(&thread, NULL, accept_all, &listener) ||
	    pthread_create(&thread, NULL, receive, NULL))
		err(1, "thread");
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, work, NULL))
			err(1, "thread");
	while (fgets(line, sizeof(line), stdin))
		report();
	return 0;
}
