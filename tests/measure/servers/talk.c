// SPDX-License-Identifier: MIT
/*
 * A client that speaks a protocol by a script, for servers that have no client that times:
 *
 *   talk PORT CONNECTIONS REQUESTS RATE SECONDS <SCRIPT
 *
 * Each connection has a thread and one request at a time, REQUESTS in all or, if that is 0, as many
 * as begin within SECONDS. RATE: of all connections, at random moments; 0: each as soon as the last
 * has its response. The script has a line for each step: WHEN SEND CONTAINS END LENGTH. WHEN: begin
 * or end of a connection, or request; the next three in hexadecimal, - for nothing. The response is
 * there when it has LENGTH bytes, contains CONTAINS and ends with END. It prints a line of JSON:
 * sent, connections, seconds, p50 and p99 of requests in seconds.
 */
#include <arpa/inet.h>
#include <err.h>
#include <math.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_STEPS = 16, MAX_BYTES = 2048, MAX_RESPONSE = 1 << 18, MAX_CONNECTIONS = 256 };

struct bytes {
	size_t size;
	unsigned char data[MAX_BYTES];
};

struct step {
	char when[16];
	struct bytes send, contains, end;
	size_t length;
};

struct connection {
	pthread_t thread;
	unsigned int seed;
	int fd;
	double *latencies;
	size_t count, room;
	char response[MAX_RESPONSE];
};

static struct step steps[MAX_STEPS];
static size_t step_count;
static int port, connection_count;
static long requests_each;
static double rate, seconds, start;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void parse_bytes(const char *word, struct bytes *bytes)
{
	unsigned int byte;

	bytes->size = 0;
	for (; *word && *word != '-'; word += 2) {
		if (sscanf(word, "%2x", &byte) != 1 || bytes->size == MAX_BYTES)
			errx(1, "no bytes: %s", word);
		bytes->data[bytes->size++] = (unsigned char)byte;
	}
}

static void parse_script(void)
{
	char send[2 * MAX_BYTES + 1], contains[2 * MAX_BYTES + 1], end[2 * MAX_BYTES + 1];

	while (step_count < MAX_STEPS) {
		struct step *step = &steps[step_count];

		if (scanf("%15s %4096s %4096s %4096s %zu", step->when, send, contains, end,
			  &step->length) != 5)
			return;
		parse_bytes(send, &step->send);
		parse_bytes(contains, &step->contains);
		parse_bytes(end, &step->end);
		step_count++;
	}
}

static bool is_complete(const struct step *step, const char *response, size_t size)
{
	const struct bytes *contains = &step->contains, *end = &step->end;

	if (size < step->length || size < end->size)
		return false;
	if (memcmp(response + size - end->size, end->data, end->size))
		return false;
	return !contains->size || memmem(response, size, contains->data, contains->size);
}

static void do_step(struct connection *c, const struct step *step)
{
	size_t size = 0;

	if (step->send.size && send(c->fd, step->send.data, step->send.size, MSG_NOSIGNAL) < 0)
		err(1, "send");
	if (!step->length && !step->contains.size && !step->end.size)
		return;
	while (!is_complete(step, c->response, size)) {
		ssize_t got = recv(c->fd, c->response + size, sizeof(c->response) - size, 0);

		if (got <= 0)
			errx(1, "no whole response to %s, but: %.*s", step->when, (int)size,
			     c->response);
		size += (size_t)got;
	}
}

static void do_steps(struct connection *c, const char *when)
{
	for (size_t i = 0; i < step_count; i++)
		if (!strcmp(steps[i].when, when))
			do_step(c, &steps[i]);
}

static void sleep_until(double moment)
{
	struct timespec time = { .tv_sec = (time_t)moment,
				 .tv_nsec = (long)(1e9 * (moment - floor(moment))) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static void note_latency(struct connection *c, double latency)
{
	if (c->count == c->room) {
		c->room = c->room ? 2 * c->room : 1024;
		c->latencies = realloc(c->latencies, c->room * sizeof(*c->latencies));
		if (!c->latencies)
			err(1, "realloc");
	}
	c->latencies[c->count++] = latency;
}

static double pause_of(struct connection *c)
{
	double uniform = (rand_r(&c->seed) + 1.0) / (RAND_MAX + 2.0);

	return -log(uniform) * connection_count / rate;
}

static void *converse(void *data)
{
	struct connection *c = data;
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	double due = start;

	c->fd = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
	if (connect(c->fd, (struct sockaddr *)&address, sizeof(address)))
		err(1, "connect");
	do_steps(c, "begin");
	for (long i = 0; !requests_each || i < requests_each; i++) {
		double begin;

		if (rate > 0) {
			due = fmax(due + pause_of(c), now());
			if (!requests_each && due >= start + seconds)
				break;
			sleep_until(due);
		}
		begin = now();
		if (!requests_each && begin >= start + seconds)
			break;
		do_steps(c, "request");
		note_latency(c, now() - begin);
	}
	do_steps(c, "end");
	close(c->fd);
	return NULL;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_result(struct connection *connections)
{
	struct connection all = {};

	for (int i = 0; i < connection_count; i++)
		for (size_t j = 0; j < connections[i].count; j++)
			note_latency(&all, connections[i].latencies[j]);
	if (!all.count)
		errx(1, "nothing was sent");
	qsort(all.latencies, all.count, sizeof(*all.latencies), compare);
	printf("{\"sent\": %zu, \"connections\": %d, \"seconds\": %.6f, \"p50\": %.9f, \"p99\": %.9f}\n",
	       all.count, connection_count, now() - start, all.latencies[all.count / 2],
	       all.latencies[all.count * 99 / 100]);
	free(all.latencies);
}

int main(int argc, char **argv)
{
	struct connection *connections;

	if (argc != 6)
		errx(2, "usage: talk PORT CONNECTIONS REQUESTS RATE SECONDS <SCRIPT");
	port = atoi(argv[1]);
	connection_count = atoi(argv[2]);
	if (connection_count < 1 || connection_count > MAX_CONNECTIONS)
		errx(2, "CONNECTIONS: 1 to %d", MAX_CONNECTIONS);
	requests_each = (atol(argv[3]) + connection_count - 1) / connection_count;
	rate = atof(argv[4]);
	seconds = atof(argv[5]);
	parse_script();
	connections = calloc((size_t)connection_count, sizeof(*connections));
	if (!connections)
		err(1, "calloc");
	start = now();
	for (int i = 0; i < connection_count; i++) {
		connections[i].seed = (unsigned int)i + 1;
		if (pthread_create(&connections[i].thread, NULL, converse, &connections[i]))
			errx(1, "pthread_create");
	}
	for (int i = 0; i < connection_count; i++)
		pthread_join(connections[i].thread, NULL);
	print_result(connections);
	return 0;
}
