/* SPDX-License-Identifier: MIT */
/*
 * A server that keeps a log of its own, and its client.
 *
 * load_request server tcp|tcp6|tls|unix|udp PATH   says where it listens, then on each line
 *     answers with what it has served since the last: {"requests", "rx", "tx",
 *     "first_low", "first_high", "service_low", "service_high"}; the times, in seconds,
 *     end before and after the call that sends: three percentiles each around p50, p90 and p99
 * load_request client KIND WHERE CONNECTIONS   then on each line "N SIZE PIECES PARTS PART_SIZE WORK_US CALL"
 *     sends N requests of SIZE bytes in PIECES on each connection, one after the
 *     other; each is answered after WORK_US by PARTS of PART_SIZE bytes, with the
 *     calls of family CALL; answers {"requests", "response"} as the client saw them
 */
#include "load.h"

#include <arpa/inet.h>
#include <linux/tls.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#define SAMPLES 400000
#define PAYLOAD 65536
#define CONNECTIONS 64

enum call {
	CALL_READ,
	CALL_RECV,
	CALL_FROM,
	CALL_MSG,
	CALL_VECTOR,
	CALL_MANY,
	CALL_FILE,
	CALL_CORK
};

struct request {
	uint32_t size, parts, part_size, work_us, call;
};

static struct samples {
	uint64_t ns[SAMPLES];
	uint32_t count;
} first_low, first_high, service_low, service_high, response_ns;
static uint64_t begun, requests, rx, tx;
static char payload[PAYLOAD];
static int payload_fd, datagrams, encrypted;

static void sample(struct samples *s, uint64_t ns)
{
	uint32_t i = __atomic_fetch_add(&s->count, 1, __ATOMIC_RELAXED);

	if (i < SAMPLES)
		s->ns[i] = ns;
}

static void sample_both(struct samples *low, uint64_t low_ns, struct samples *high,
			uint64_t high_ns)
{
	sample(low, low_ns);
	sample(high, high_ns);
}

static int by_value(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static void say_samples(char *text, const char *name, struct samples *s)
{
	static const double quantiles[] = { 0.45, 0.5, 0.55, 0.86, 0.9, 0.94, 0.97, 0.99, 1 };
	enum { QUANTILES = sizeof(quantiles) / sizeof(*quantiles) };
	uint32_t n = s->count < SAMPLES ? s->count : SAMPLES;

	qsort(s->ns, n, sizeof(*s->ns), by_value);
	sprintf(text + strlen(text), ", \"%s\": [", name);
	for (int i = 0; i < QUANTILES; i++)
		sprintf(text + strlen(text), "%s%.9f", i ? ", " : "",
			n ? s->ns[(uint32_t)(quantiles[i] * (n - 1))] / 1e9 : 0);
	strcat(text, "]");
	s->count = 0;
}

/* Receives by one call. */
static ssize_t receive(int fd, void *at, size_t size, enum call call, struct sockaddr_storage *from,
		       socklen_t *length)
{
	struct iovec io[2] = { { at, size / 2 }, { (char *)at + size / 2, size - size / 2 } };
	struct mmsghdr many = { .msg_hdr = { .msg_name = datagrams ? from : NULL,
					     .msg_namelen = datagrams ? sizeof(*from) : 0,
					     .msg_iov = io,
					     .msg_iovlen = 2 } };
	ssize_t n;

	*length = sizeof(*from);
	if (datagrams && (call == CALL_READ || call == CALL_VECTOR))
		call = CALL_FROM;
	switch (call) {
	case CALL_READ:
	case CALL_FILE:
		return datagrams ? recvfrom(fd, at, size, 0, (void *)from, length)
				 : read(fd, at, size);
	case CALL_RECV:
		return recvfrom(fd, at, size, 0, datagrams ? (void *)from : NULL,
				datagrams ? length : NULL);
	case CALL_VECTOR:
		return readv(fd, io, 2);
	case CALL_MSG:
		n = recvmsg(fd, &many.msg_hdr, 0);
		*length = many.msg_hdr.msg_namelen;
		return n;
	case CALL_MANY:
		n = recvmmsg(fd, &many, 1, 0, NULL);
		*length = many.msg_hdr.msg_namelen;
		return n < 1 ? n : (ssize_t)many.msg_len;
	default:
		return recvfrom(fd, at, size, 0, (void *)from, length);
	}
}

/* Sends all by one call; with CALL_CORK, the kernel delays it until the last call. */
static void give(int fd, size_t size, enum call call, bool last, struct sockaddr_storage *to,
		 socklen_t length)
{
	struct iovec io[2] = { { payload, size / 2 }, { payload + size / 2, size - size / 2 } };
	struct mmsghdr many = { .msg_hdr = { .msg_name = datagrams ? to : NULL,
					     .msg_namelen = datagrams ? length : 0,
					     .msg_iov = io,
					     .msg_iovlen = 2 } };
	off_t zero = 0;
	ssize_t n;

	if (call == CALL_MSG)
		n = sendmsg(fd, &many.msg_hdr, 0);
	else if (call == CALL_MANY)
		n = sendmmsg(fd, &many, 1, 0) == 1 ? (ssize_t)many.msg_len : -1;
	else if (datagrams || call == CALL_FROM)
		n = sendto(fd, payload, size, 0, datagrams ? (void *)to : NULL,
			   datagrams ? length : 0);
	else if (call == CALL_READ)
		n = write(fd, payload, size);
	else if (call == CALL_RECV)
		n = send(fd, payload, size, 0);
	else if (call == CALL_VECTOR)
		n = writev(fd, io, 2);
	else if (call == CALL_CORK)
		n = send(fd, payload, size, last ? 0 : MSG_MORE);
	else
		n = sendfile(fd, payload_fd, &zero, size);
	if (n != (ssize_t)size)
		err(1, "sent %zd of %zu", n, size);
}

static void respond(int fd, const struct request *r, uint64_t begin, struct sockaddr_storage *to,
		    socklen_t length)
{
	if (r->work_us)
		sleep_ns(r->work_us * 1000ULL);
	for (uint32_t i = 0; i < r->parts; i++) {
		uint64_t low = clock_ns(CLOCK_MONOTONIC) - begin, high;

		give(fd, r->part_size, r->call, i + 1 == r->parts, to, length);
		high = clock_ns(CLOCK_MONOTONIC) - begin;
		if (i == 0)
			sample_both(&first_low, low, &first_high, high);
		if (i + 1 == r->parts)
			sample_both(&service_low, low, &service_high, high);
		else if (r->work_us)
			sleep_ns(r->work_us * 1000ULL / 2);
	}
	__atomic_fetch_add(&tx, r->parts * r->part_size, __ATOMIC_RELAXED);
	__atomic_fetch_add(&requests, 1, __ATOMIC_RELEASE);
}

static void *serve(void *argument)
{
	int fd = (int)(intptr_t)argument;
	enum call call = CALL_READ;
	struct sockaddr_storage peer;
	char buffer[PAYLOAD];
	struct request *r = (void *)buffer;
	socklen_t length;

	for (;;) {
		uint64_t begin = 0;
		size_t have = 0;

		do {
			ssize_t n = receive(fd, buffer + have, sizeof(buffer) - have, call, &peer,
					    &length);

			if (n <= 0) {
				close(fd);
				return NULL;
			}
			if (!have)
				begin = clock_ns(CLOCK_MONOTONIC);
			have += n;
		} while (have < sizeof(*r) || have < r->size);
		__atomic_fetch_add(&rx, have, __ATOMIC_RELAXED);
		__atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED);
		call = r->call;
		respond(fd, r, begin, &peer, length);
	}
}

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

static int open_socket(const char *kind, const char *where, union address *a, socklen_t *length)
{
	datagrams = !strcmp(kind, "udp");
	encrypted = !strcmp(kind, "tls");
	memset(a, 0, sizeof(*a));
	if (!strcmp(kind, "unix")) {
		a->un.sun_family = AF_UNIX;
		strncpy(a->un.sun_path, where, sizeof(a->un.sun_path) - 1);
		*length = sizeof(a->un);
	} else if (!strcmp(kind, "tcp6") || encrypted) {
		a->in6 = (struct sockaddr_in6){ .sin6_family = AF_INET6,
						.sin6_addr = IN6ADDR_LOOPBACK_INIT,
						.sin6_port = htons(atoi(where)) };
		*length = sizeof(a->in6);
	} else {
		a->in = (struct sockaddr_in){ .sin_family = AF_INET,
					      .sin_addr = { htonl(INADDR_LOOPBACK) },
					      .sin_port = htons(atoi(where)) };
		*length = sizeof(a->in);
	}
	return socket(a->any.sa_family, datagrams ? SOCK_DGRAM : SOCK_STREAM, 0);
}

/* Enables kernel TLS with fixed keys, without a handshake. */
static void connected(int fd)
{
	static const struct tls12_crypto_info_aes_gcm_128 keys = {
		.info = { .version = TLS_1_2_VERSION, .cipher_type = TLS_CIPHER_AES_GCM_128 }
	};
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (encrypted && (setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", sizeof("tls")) ||
			  setsockopt(fd, SOL_TLS, TLS_TX, &keys, sizeof(keys)) ||
			  setsockopt(fd, SOL_TLS, TLS_RX, &keys, sizeof(keys))))
		err(1, "TLS");
}

static void *accept_all(void *argument)
{
	int listener = (int)(intptr_t)argument, fd;
	pthread_t thread;

	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		connected(fd);
		if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd))
			err(1, "pthread_create");
	}
	err(1, "accept");
}

/* Searches for a free port: servers do not bind to port 0. */
static int listen_at(const char *kind, const char *where, char *ret_where)
{
	union address a;
	socklen_t length;

	for (int port = 20000 + getpid() % 20000; port < 60000; port++) {
		int fd;

		snprintf(ret_where, 100, "%d", port);
		fd = open_socket(kind, strcmp(kind, "unix") ? ret_where : where, &a, &length);
		if (bind(fd, &a.any, length) == 0) {
			if (!datagrams && listen(fd, 64))
				err(1, "listen");
			if (!strcmp(kind, "unix"))
				strcpy(ret_where, where);
			return fd;
		}
		close(fd);
	}
	errx(1, "no port");
}

static void serve_all(const char *kind, const char *path)
{
	char line[4096], where[100];
	int fd = listen_at(kind, path, where);
	pthread_t thread;

	payload_fd = memfd_create("payload", 0);
	if (write(payload_fd, payload, sizeof(payload)) != sizeof(payload))
		err(1, "memfd");
	if (pthread_create(&thread, NULL, datagrams ? serve : accept_all, (void *)(intptr_t)fd))
		err(1, "pthread_create");
	strcat(where, "\n");
	say(where);
	for (;;) {
		hear(line, sizeof(line));
		/* The client gets a response before it is logged. */
		while (__atomic_load_n(&requests, __ATOMIC_ACQUIRE) <
		       __atomic_load_n(&begun, __ATOMIC_ACQUIRE))
			sleep_ns(1000000);
		sprintf(line, "{\"requests\": %lu, \"rx\": %lu, \"tx\": %lu", requests, rx, tx);
		begun = requests = rx = tx = 0;
		say_samples(line, "first_low", &first_low);
		say_samples(line, "first_high", &first_high);
		say_samples(line, "service_low", &service_low);
		say_samples(line, "service_high", &service_high);
		strcat(line, "}\n");
		say(line);
	}
}

static struct {
	struct request request;
	uint32_t count, pieces;
} order;

static void *ask(void *argument)
{
	int fd = (int)(intptr_t)argument;
	char buffer[PAYLOAD] = {};

	memcpy(buffer, &order.request, sizeof(order.request));
	for (uint32_t i = 0; i < order.count; i++) {
		uint64_t begin = clock_ns(CLOCK_MONOTONIC);
		size_t want = order.request.parts * order.request.part_size, have = 0, sent = 0;

		for (uint32_t piece = 1; piece <= order.pieces; piece++) {
			size_t end = order.request.size * piece / order.pieces;

			if (send(fd, buffer + sent, end - sent, 0) != (ssize_t)(end - sent))
				err(1, "send");
			sent = end;
			if (piece < order.pieces)
				sleep_ns(200000);
		}
		while (have < want) {
			static __thread char respond[PAYLOAD];
			ssize_t n = recv(fd, respond, sizeof(respond), 0);

			if (n <= 0)
				err(1, "recv");
			have += n;
		}
		sample(&response_ns, clock_ns(CLOCK_MONOTONIC) - begin);
	}
	return NULL;
}

static void ask_all(const char *kind, const char *where, int connections)
{
	pthread_t thread[CONNECTIONS];
	int fd[CONNECTIONS];
	struct request *r = &order.request;
	socklen_t length;
	union address a;
	char line[4096];

	for (int i = 0; i < connections; i++) {
		fd[i] = open_socket(kind, where, &a, &length);
		if (connect(fd[i], &a.any, length))
			err(1, "connect %s", where);
		connected(fd[i]);
	}
	say("connected\n");
	for (;;) {
		hear(line, sizeof(line));
		if (sscanf(line, "%u %u %u %u %u %u %u", &order.count, &r->size, &order.pieces,
			   &r->parts, &r->part_size, &r->work_us, &r->call) != 7)
			errx(2, "what is '%s'?", line);
		for (int i = 0; i < connections; i++)
			if (pthread_create(&thread[i], NULL, ask, (void *)(intptr_t)fd[i]))
				err(1, "pthread_create");
		for (int i = 0; i < connections; i++)
			pthread_join(thread[i], NULL);
		sprintf(line, "{\"requests\": %u", order.count * connections);
		say_samples(line, "response", &response_ns);
		strcat(line, "}\n");
		say(line);
	}
}

int main(int argc, char **argv)
{
	die_with_parent();
	if (argc == 4 && !strcmp(argv[1], "server"))
		serve_all(argv[2], argv[3]);
	else if (argc == 5 && !strcmp(argv[1], "client") && atoi(argv[4]) <= CONNECTIONS)
		ask_all(argv[2], argv[3], atoi(argv[4]));
	errx(2, "usage: load_request server KIND PATH | client KIND WHERE CONNECTIONS");
}
