/* SPDX-License-Identifier: MIT */
/*
 * A client that counts exactly: load PROTOCOL WHERE CONNECTIONS SIZE [KEYS]
 *
 * WHERE is a port of 127.0.0.1 or the path of a UNIX socket, SIZE what a request
 * carries, KEYS how many it asks for (1). Says "ready" when it is connected. On
 * each line "RATE SECONDS [fixed|BATCH]" it sends RATE requests per second at moments
 * that do not depend on the answers (open loop; Poisson, evenly spaced, or BATCH at
 * once at Poisson moments), 0: as many as are answered. One request at a time is on
 * a connection; those that find none free wait in the client. It answers when all
 * that was sent is answered:
 * {"begin", "end", "sent", "dropped", "tx", "rx", "latency", "open"}: times of day,
 * what found no connection until the end, bytes, and records (record.h) from the
 * sending and from the moment when the request was due.
 */
#include "protocol.h"
#include "record.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ROOM 65536
#define EVENTS 64
#define SECOND 1000000000ULL

struct message {
	size_t length;
	char *text;
};

struct connection {
	int fd;
	uint64_t due_ns, sent_ns;
	const struct message *out;
	size_t out_done, in_length;
	char in[ROOM];
	struct connection *next; /* free */
};

static const struct protocol *protocol;
static struct message
	*messages; /* prepared in advance, so that the client is faster than its server */
static struct connection *free_list;
static int poll_fd;
static uint64_t number, outstanding, tx, rx;
static struct record latency, since_due;

/* The times at which requests are due. */
static struct {
	double mean_ns; /* 0: whenever a connection is free */
	int fixed;
	unsigned batch, batch_left; /* after the next request */
	double next_ns;
	uint64_t end_ns, chance;
} plan;

static double uniform(void)
{
	plan.chance ^= plan.chance << 13;
	plan.chance ^= plan.chance >> 7;
	plan.chance ^= plan.chance << 17;
	return (plan.chance >> 11) * 0x1p-53;
}

static void plan_next(void)
{
	if (plan.batch_left) {
		plan.batch_left--;
		return;
	}
	plan.batch_left = plan.batch - 1;
	plan.next_ns += plan.mean_ns * (plan.fixed ? 1 : -log(1 - uniform()) * plan.batch);
}

static void watch(struct connection *c, uint32_t events, int operation)
{
	struct epoll_event event = { .events = events, .data.ptr = c };

	if (epoll_ctl(poll_fd, operation, c->fd, &event))
		err(1, "epoll_ctl");
}

static void push(struct connection *c, int was_waiting)
{
	ssize_t n =
		send(c->fd, c->out->text + c->out_done, c->out->length - c->out_done, MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN)
		err(1, "send");
	c->out_done += n > 0 ? n : 0;
	tx += n > 0 ? n : 0;
	if ((c->out_done < c->out->length) != was_waiting)
		watch(c, EPOLLIN | (was_waiting ? 0 : EPOLLOUT), EPOLL_CTL_MOD);
}

static const struct message *next_message(void)
{
	uint64_t n = number++;

	return &messages[n < protocol->first ? n : protocol->first + n % protocol->variety];
}

static void begin(uint64_t due_ns)
{
	struct connection *c = free_list;

	free_list = c->next;
	outstanding++;
	c->out = next_message();
	c->out_done = c->in_length = 0;
	c->due_ns = due_ns;
	c->sent_ns = clock_ns(CLOCK_MONOTONIC);
	push(c, 0);
}

static void receive(struct connection *c)
{
	ssize_t n = recv(c->fd, c->in + c->in_length, ROOM - 1 - c->in_length, 0);
	uint64_t now;
	long length;

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0)
		errx(1, "a connection is closed");
	rx += n;
	c->in_length += n;
	c->in[c->in_length] = 0;
	length = protocol->response(c->in, c->in_length);
	if (!length)
		return;
	if (length != (long)c->in_length)
		errx(1, "unexpected: %.60s", c->in);
	now = clock_ns(CLOCK_MONOTONIC);
	record_add(&latency, now - c->sent_ns);
	record_add(&since_due, now - c->due_ns);
	outstanding--;
	c->next = free_list;
	free_list = c;
}

/* Sends due requests. Returns the time until the next, at most a second. */
static uint64_t send_due(void)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	for (; free_list && now < plan.end_ns; now = clock_ns(CLOCK_MONOTONIC)) {
		if (!plan.mean_ns) {
			begin(now);
			continue;
		}
		if (plan.next_ns > now)
			return fmin(plan.next_ns - now, plan.end_ns - now);
		begin(plan.next_ns);
		plan_next();
	}
	return now < plan.end_ns ? plan.end_ns - now : SECOND;
}

static void wait_events(uint64_t ns)
{
	struct timespec limit = { .tv_sec = ns / SECOND, .tv_nsec = ns % SECOND };
	struct epoll_event events[EVENTS];
	int count = epoll_pwait2(poll_fd, events, EVENTS, &limit, NULL);

	for (int i = 0; i < count; i++) {
		struct connection *c = events[i].data.ptr;

		if (events[i].events & EPOLLOUT)
			push(c, 1);
		if (events[i].events & ~EPOLLOUT)
			receive(c);
	}
}

static uint64_t dropped(void)
{
	uint64_t count = 0;

	for (; plan.mean_ns && plan.next_ns < plan.end_ns; count++)
		plan_next();
	return count;
}

static void run(double rate, double seconds, int fixed, unsigned batch)
{
	uint64_t from = number, now = clock_ns(CLOCK_MONOTONIC);
	double begin_s = clock_ns(CLOCK_REALTIME) / 1e9;

	tx = rx = 0;
	plan.mean_ns = rate ? SECOND / rate : 0;
	plan.fixed = fixed;
	plan.batch = batch;
	plan.batch_left = batch - 1;
	plan.next_ns = now;
	plan.end_ns = now + seconds * SECOND;
	while (now < plan.end_ns || outstanding) {
		wait_events(send_due());
		now = clock_ns(CLOCK_MONOTONIC);
	}
	printf("{\"begin\": %.6f, \"end\": %.6f, \"sent\": %lu, \"dropped\": %lu, \"tx\": %lu, "
	       "\"rx\": %lu, ",
	       begin_s, clock_ns(CLOCK_REALTIME) / 1e9, number - from, dropped(), tx, rx);
	record_print(&latency, "latency", stdout);
	printf(", ");
	record_print(&since_due, "open", stdout);
	printf("}\n");
	fflush(stdout);
}

static int connect_to(const char *where)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_port = htons(atoi(where)),
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int path = where[0] == '/', one = 1,
	    fd = socket(path ? AF_UNIX : AF_INET, protocol->datagrams ? SOCK_DGRAM : SOCK_STREAM,
			0);

	strncpy(un.sun_path, where, sizeof(un.sun_path) - 1);
	if (connect(fd, path ? (void *)&un : (void *)&in, path ? sizeof(un) : sizeof(in)))
		err(1, "connect %s", where);
	if (!protocol->datagrams)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (protocol->greet)
		protocol->greet(fd);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

static void make_messages(const struct shape *shape)
{
	size_t count = protocol->first + protocol->variety;

	messages = calloc(count, sizeof(*messages));
	for (size_t i = 0; i < count; i++) {
		messages[i].text = malloc(REQUEST_ROOM(shape));
		if (!messages[i].text)
			err(1, "messages");
		messages[i].length = protocol->request(messages[i].text, i, shape);
	}
}

static void connect_all(const char *where, int count)
{
	struct connection *all = calloc(count, sizeof(*all));

	poll_fd = epoll_create1(0);
	for (int i = 0; i < count; i++) {
		all[i].fd = connect_to(where);
		all[i].next = free_list;
		free_list = &all[i];
		watch(&all[i], EPOLLIN, EPOLL_CTL_ADD);
	}
}

int main(int argc, char **argv)
{
	struct shape shape = { .keys = 1 };
	char line[100], word[20];
	double rate, seconds;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_TIMERSLACK, 1);
	if (argc < 5 || argc > 6 || !(protocol = protocol_find(argv[1])))
		errx(2, "usage: load PROTOCOL WHERE CONNECTIONS SIZE [KEYS]");
	shape.size = atol(argv[4]);
	if (argc > 5)
		shape.keys = atoi(argv[5]);
	plan.chance = 88172645463325252;
	make_messages(&shape);
	connect_all(argv[2], atoi(argv[3]));
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		int words = sscanf(line, "%lf %lf %19s", &rate, &seconds, word);
		int fixed = words == 3 && !strcmp(word, "fixed");
		int batch = words == 3 && !fixed ? atoi(word) : 1;

		if (words < 2 || batch < 1)
			errx(2, "what is '%s'?", line);
		run(rate, seconds, fixed, batch);
	}
	return 0;
}
