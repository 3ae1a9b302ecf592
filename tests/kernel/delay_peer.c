/* SPDX-License-Identifier: MIT */
#include "delay_peer.h"
#include "load.h"
#include "loopback.h"

#include <pthread.h>

static const char *const phase_names[PHASES] = { "spin",  "lock", "disk",  "upstream",
						 "sleep", "pipe", "fault", "client" };

static __thread unsigned seed;

static double fraction(void)
{
	seed = seed ?: (unsigned)clock_ns(CLOCK_MONOTONIC) ^ (unsigned)gettid() << 12;
	return rand_r(&seed) / (RAND_MAX + 1.0);
}

/* --- mixtures --------------------------------------------------------------------------------- */

static void parse_word(struct mixture *mixture, const char *word)
{
	for (int i = 0; i < PHASES; i++) {
		size_t length = strlen(phase_names[i]);

		if (strncmp(word, phase_names[i], length) || word[length] != '=')
			continue;
		mixture->one_in[i] = 1;
		if (sscanf(word + length, "=%u/%u", &mixture->phase_us[i], &mixture->one_in[i]) > 0)
			return;
	}
	errx(2, "what is '%s'?", word);
}

void mixture_parse(struct mixture *mixture, const char *text)
{
	char copy[1000], *next_word = NULL;

	memset(mixture, 0, sizeof(*mixture));
	snprintf(copy, sizeof(copy), "%s", text);
	for (char *word = strtok_r(copy, " ", &next_word); word;
	     word = strtok_r(NULL, " ", &next_word))
		parse_word(mixture, word);
}

void mixture_draw(const struct mixture *mixture, struct request *ret_request)
{
	for (int i = 0; i < PHASES; i++) {
		bool wanted = mixture->one_in[i] && fraction() * mixture->one_in[i] < 1;

		ret_request->phase_us[i] = wanted ? mixture->phase_us[i] : 0;
	}
}

/* --- the upstream ----------------------------------------------------------------------------- */

static void *respond_later(void *argument)
{
	int fd = (int)(intptr_t)argument, one = 1;
	uint32_t us;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	while (recv(fd, &us, sizeof(us), MSG_WAITALL) == sizeof(us)) {
		sleep_ns(us * 1000ULL);
		if (send(fd, &us, sizeof(us), MSG_NOSIGNAL) != sizeof(us))
			break;
	}
	close(fd);
	return NULL;
}

void upstream_run(void)
{
	struct sockaddr_in address;
	int listener = loopback_listen(CONNECTIONS, &address);
	char line[100];

	sprintf(line, "%u\n", ntohs(address.sin_port));
	say(line);
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		pthread_t thread;

		if (fd < 0 || pthread_create(&thread, NULL, respond_later, (void *)(intptr_t)fd))
			err(1, "upstream");
		pthread_detach(thread);
	}
}

/* --- the clients ------------------------------------------------------------------------------ */

static struct {
	unsigned connections, think_us;
	double seconds;
	struct mixture mixture;
	uint64_t end_ns, requests, response_ns;
} order;

static void send_all(int fd, const void *data, size_t size)
{
	if (send(fd, data, size, MSG_NOSIGNAL) != (ssize_t)size)
		err(1, "send");
}

static void ask(int fd)
{
	struct request request, response;
	size_t half = sizeof(request.sent_ns);
	uint32_t later_us;

	mixture_draw(&order.mixture, &request);
	later_us = request.phase_us[PHASE_CLIENT];
	request.sent_ns = clock_ns(CLOCK_MONOTONIC);
	if (later_us) {
		send_all(fd, &request, half);
		sleep_ns(later_us * 1000ULL);
		send_all(fd, (char *)&request + half, sizeof(request) - half);
	} else {
		send_all(fd, &request, sizeof(request));
	}
	if (recv(fd, &response, sizeof(response), MSG_WAITALL) != sizeof(response))
		err(1, "no answer");
	__atomic_fetch_add(&order.response_ns, clock_ns(CLOCK_MONOTONIC) - request.sent_ns,
			   __ATOMIC_RELAXED);
	__atomic_fetch_add(&order.requests, 1, __ATOMIC_RELAXED);
}

/* Thinks between requests for up to twice think_us. */
static void *ask_on(void *argument)
{
	while (clock_ns(CLOCK_MONOTONIC) < order.end_ns) {
		if (order.think_us)
			sleep_ns(fraction() * 2000 * order.think_us);
		ask((int)(intptr_t)argument);
	}
	return NULL;
}

static void parse_order(const char *line)
{
	int used = 0;

	memset(&order, 0, sizeof(order));
	if (sscanf(line, "%u %u %lf %n", &order.connections, &order.think_us, &order.seconds,
		   &used) != 3 ||
	    order.connections > CONNECTIONS)
		errx(2, "what is '%s'?", line);
	mixture_parse(&order.mixture, line + used);
	order.end_ns = clock_ns(CLOCK_MONOTONIC) + order.seconds * 1e9;
}

/* Connections stay open; more are made when needed. */
void client_run(uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr = { htonl(INADDR_LOOPBACK) },
				       .sin_port = htons(port) };
	static pthread_t thread[CONNECTIONS];
	static int fd[CONNECTIONS];
	char line[1000];

	for (;;) {
		parse_order(hear(line, sizeof(line)));
		for (unsigned i = 0; i < order.connections; i++) {
			fd[i] = fd[i] ?: loopback_connect(&address);
			if (pthread_create(&thread[i], NULL, ask_on, (void *)(intptr_t)fd[i]))
				err(1, "pthread_create");
		}
		for (unsigned i = 0; i < order.connections; i++)
			pthread_join(thread[i], NULL);
		sprintf(line, "{\"requests\": %lu, \"response\": %.9f}\n", order.requests,
			order.requests ? order.response_ns / 1e9 / order.requests : 0);
		say(line);
	}
}

/* --- the competitor for the CPU -------------------------------------------------------------------- */

void competitor_run(int cpu, uint32_t spin_us, uint32_t sleep_us)
{
	stay_on_cpu(cpu);
	for (;;) {
		spin_ns(spin_us * 1000ULL);
		sleep_ns(sleep_us * 1000ULL);
	}
}
