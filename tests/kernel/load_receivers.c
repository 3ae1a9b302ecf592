/* SPDX-License-Identifier: MIT */
/*
 * A UDP server, one socket of which several threads or processes use at once, and its clients.
 *
 * load_receivers processes|threads|senders COUNT BATCH   so many receive up to BATCH at once and send
 *     the responses; with "senders", as many other threads send them. Then on each line
 *     "CLIENTS REQUESTS WINDOW SILENT WORK_US"
 *     each client sends so many requests, WINDOW at once, and after each so many without a response;
 *     a request takes WORK_US of a CPU. Answers {"requests", "responses", "wait", "service_low",
 *     "service_high"}: the sums of the times, in seconds; the last two end before and after the send
 */
#include "load.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/socket.h>

#define BATCH_MAX 128
#define BUFFER (4 << 20)

struct message {
	uint64_t sent_ns;
	uint32_t work_us;
	uint32_t respond;
};

struct received {
	struct sockaddr_in client;
	struct message message;
	uint64_t ns;
};

/* Of all processes. */
static struct {
	uint64_t requests, responses, wait_ns, service_low_ns, service_high_ns;
} * sums;

static struct order {
	unsigned clients, requests, window, silent, work_us;
} order;

static int server, handed[2], batch;
static bool hands_on;
static struct sockaddr_in address = { .sin_family = AF_INET };

static void add(uint64_t *to, uint64_t n)
{
	__atomic_fetch_add(to, n, __ATOMIC_SEQ_CST);
}

static void open_server(void)
{
	int size = BUFFER, port = 20000 + getpid() % 20000;

	server = socket(AF_INET, SOCK_DGRAM, 0);
	setsockopt(server, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	do
		address.sin_port = htons(port++);
	while (bind(server, (struct sockaddr *)&address, sizeof(address)) && port < 60000);
}

static void send_all(struct received *all, int count)
{
	struct mmsghdr headers[BATCH_MAX] = { 0 };
	struct iovec io[BATCH_MAX];
	uint64_t low_ns, high_ns;

	for (int i = 0; i < count; i++) {
		io[i] = (struct iovec){ &all[i].message, sizeof(all[i].message) };
		headers[i].msg_hdr = (struct msghdr){ .msg_name = &all[i].client,
						      .msg_namelen = sizeof(all[i].client),
						      .msg_iov = &io[i],
						      .msg_iovlen = 1 };
	}
	low_ns = clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < count; i++)
		add(&sums->service_low_ns, low_ns - all[i].ns);
	add(&sums->responses, count);
	if (batch == 1 && count)
		sendmsg(server, &headers[0].msg_hdr, 0);
	else
		for (int sent = 0; sent < count;)
			sent += sendmmsg(server, headers + sent, count - sent, 0);
	high_ns = clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < count; i++)
		add(&sums->service_high_ns, high_ns - all[i].ns);
}

static int receive_all(struct received *all)
{
	struct mmsghdr headers[BATCH_MAX] = { 0 };
	struct iovec io[BATCH_MAX];
	uint64_t now;
	int count;

	for (int i = 0; i < batch; i++) {
		io[i] = (struct iovec){ &all[i].message, sizeof(all[i].message) };
		headers[i].msg_hdr = (struct msghdr){ .msg_name = &all[i].client,
						      .msg_namelen = sizeof(all[i].client),
						      .msg_iov = &io[i],
						      .msg_iovlen = 1 };
	}
	if (batch == 1)
		count = recvmsg(server, &headers[0].msg_hdr, 0) > 0;
	else
		count = recvmmsg(server, headers, batch, MSG_WAITFORONE, NULL);
	now = clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < count; i++) {
		all[i].ns = now;
		add(&sums->wait_ns, now - all[i].message.sent_ns);
	}
	return count;
}

static void *serve(void *unused)
{
	struct received all[BATCH_MAX];

	(void)unused;
	for (;;) {
		int count = receive_all(all), respond = 0;

		if (count < 0)
			return NULL;
		add(&sums->requests, count);
		for (int i = 0; i < count; i++) {
			if (all[i].message.work_us)
				spin_ns(all[i].message.work_us * 1000ULL);
			if (all[i].message.respond)
				all[respond++] = all[i];
		}
		if (!hands_on)
			send_all(all, respond);
		for (int i = 0; i < respond && hands_on; i++)
			if (write(handed[1], &all[i], sizeof(all[i])) < 0)
				err(1, "write");
	}
}

static void *send_handed(void *unused)
{
	struct received one;

	(void)unused;
	while (read(handed[0], &one, sizeof(one)) == sizeof(one))
		send_all(&one, 1);
	return NULL;
}

static void start(void *(*function)(void *), int count)
{
	pthread_t thread;

	for (int i = 0; i < count; i++)
		if (pthread_create(&thread, NULL, function, NULL))
			errx(1, "no thread");
}

static void start_servers(const char *what, int count)
{
	hands_on = !strcmp(what, "senders");
	if (hands_on && pipe(handed))
		err(1, "pipe");
	if (hands_on)
		start(send_handed, count);
	if (strcmp(what, "processes")) {
		start(serve, count);
		return;
	}
	for (int i = 0; i < count; i++) {
		if (fork() == 0) {
			die_with_parent();
			serve(NULL);
			exit(1);
		}
	}
}

static void send_request(int fd, bool respond)
{
	struct message message = { .work_us = order.work_us, .respond = respond };

	message.sent_ns = clock_ns(CLOCK_MONOTONIC);
	if (send(fd, &message, sizeof(message), 0) != sizeof(message))
		err(1, "send");
}

static void *request(void *unused)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0), size = BUFFER;
	struct message message;

	(void)unused;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		err(1, "connect");
	for (unsigned sent = 0, got = 0; got < order.requests; got++) {
		while (sent < order.requests && sent - got < order.window) {
			send_request(fd, true);
			sent++;
			for (unsigned i = 0; i < order.silent; i++)
				send_request(fd, false);
		}
		if (recv(fd, &message, sizeof(message), 0) < 0)
			err(1, "recv");
	}
	close(fd);
	return NULL;
}

static void load(void)
{
	uint64_t all = (uint64_t)order.clients * order.requests * (1 + order.silent);
	pthread_t threads[64];

	memset(sums, 0, sizeof(*sums));
	for (unsigned i = 0; i < order.clients; i++)
		if (pthread_create(&threads[i], NULL, request, NULL))
			errx(1, "no thread");
	for (unsigned i = 0; i < order.clients; i++)
		pthread_join(threads[i], NULL);
	while (__atomic_load_n(&sums->requests, __ATOMIC_SEQ_CST) < all)
		sleep_ns(1000000);
	sleep_ns(20000000); /* the last send has returned */
}

int main(int argc, char **argv)
{
	char line[256];

	if (argc != 4 || (batch = atoi(argv[3])) < 1 || batch > BATCH_MAX)
		errx(2, "usage: load_receivers processes|threads|senders COUNT BATCH");
	sums = need(mmap(NULL, sizeof(*sums), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			 -1, 0));
	open_server();
	start_servers(argv[1], atoi(argv[2]));
	say("ready\n");
	while (sscanf(hear(line, sizeof(line)), "%u %u %u %u %u", &order.clients, &order.requests,
		      &order.window, &order.silent, &order.work_us) == 5 &&
	       order.clients <= 64) {
		load();
		snprintf(line, sizeof(line),
			 "{\"requests\": %lu, \"responses\": %lu, \"wait\": %.9f, "
			 "\"service_low\": %.9f, \"service_high\": %.9f}\n",
			 sums->requests, sums->responses, sums->wait_ns / 1e9,
			 sums->service_low_ns / 1e9, sums->service_high_ns / 1e9);
		say(line);
	}
	return 0;
}
