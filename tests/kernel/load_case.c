/* SPDX-License-Identifier: MIT */
/*
 * Ways to serve requests. load_case CASE [NAME] listens, lets a child of its own be
 * the client of CONNECTIONS connections, and on each line "N" answers N requests on
 * each of them, or N times as many as are sent at once; then says {"requests", "rx",
 * "tx"}, which follow from the sizes. Ends with end of file on each connection. NAME
 * is what a server renames itself to.
 */
#include "load.h"
#include "loopback.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <linux/net_tstamp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>

#define CONNECTIONS 3
#define CHUNK 65536
#define RENAME_AT 10
#define PAUSE_NS 200000 /* of a client between two pieces */

struct server {
	const char *name;
	void (*run)(int listener);
	void (*receive)(int fd, size_t size); /* does not return at end of file */
	void (*give)(int fd, size_t size);
	size_t request, response;
	unsigned at_once; /* requests on a connection */
};

static const struct server *server;
static const char *new_name;
static char buffer[CHUNK];

/* --- receiving and sending ------------------------------------------------------------------- */

static void disconnect(int fd)
{
	close(fd);
	pthread_exit(NULL);
}

static size_t advance(int fd, ssize_t n, size_t size)
{
	if (n < 0)
		err(1, "%s: receive", server->name);
	if (n == 0)
		disconnect(fd);
	return size - n;
}

static size_t chunk(size_t size)
{
	return size < CHUNK ? size : CHUNK;
}

static void receive_plain(int fd, size_t size)
{
	char here[CHUNK];

	while (size)
		size = advance(fd, recv(fd, here, chunk(size), 0), size);
}

static void give_plain(int fd, size_t size)
{
	while (size) {
		ssize_t n = send(fd, buffer, chunk(size), MSG_NOSIGNAL);

		if (n < 0)
			err(1, "%s: send", server->name);
		size -= n;
	}
}

/* Calls that must not count as requests: EAGAIN, MSG_PEEK, files, pipes, empty sends. */
static void make_noise(int fd)
{
	static int null_fd, pipe_fd[2];
	struct pollfd readable = { .fd = fd, .events = POLLIN };
	char here[100];

	if (!null_fd) {
		null_fd = open("/proc/self/stat", O_RDONLY);
		if (pipe(pipe_fd))
			err(1, "pipe");
	}
	while (recv(fd, here, sizeof(here), MSG_DONTWAIT | MSG_PEEK) < 0)
		poll(&readable, 1, -1);
	recv(fd, here, sizeof(here), MSG_PEEK);
	if (pread(null_fd, here, sizeof(here), 0) < 0 || write(pipe_fd[1], here, 50) != 50 ||
	    read(pipe_fd[0], here, 50) != 50)
		err(1, "noise");
}

static void receive_noisily(int fd, size_t size)
{
	char here[CHUNK];

	make_noise(fd);
	while (size) {
		ssize_t n = recv(fd, here, chunk(size), MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN)
			make_noise(fd);
		else
			size = advance(fd, n, size);
	}
}

/* Changes the command name between a request and its response. */
static void receive_and_rename(int fd, size_t size)
{
	static int taken;

	receive_plain(fd, size);
	if (++taken == RENAME_AT)
		prctl(PR_SET_NAME, new_name);
}

/* Sends, and receives the kernel's time stamp of the send, which comes with the bytes that were sent. */
static void give_and_hear(int fd, size_t size)
{
	int when = SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
	struct pollfd event_fd = { .fd = fd };
	char here[CHUNK];

	if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &when, sizeof(when)))
		err(1, "SO_TIMESTAMPING");
	give_plain(fd, size);
	while (recv(fd, here, sizeof(here), MSG_ERRQUEUE) <= 0)
		poll(&event_fd, 1, -1);
}

static void give_noisily(int fd, size_t size)
{
	int file = memfd_create("noise", 0);

	send(fd, buffer, 0, MSG_NOSIGNAL);
	if (write(file, buffer, 1000) != 1000)
		err(1, "noise");
	close(file);
	give_and_hear(fd, size);
}

static void give_by_splice(int fd, size_t size)
{
	int ends[2];

	if (pipe(ends) || write(ends[1], buffer, size) != (ssize_t)size)
		err(1, "pipe");
	while (size) {
		ssize_t n = splice(ends[0], NULL, fd, NULL, size, 0);

		if (n <= 0)
			err(1, "splice");
		size -= n;
	}
	close(ends[0]);
	close(ends[1]);
}

/* A ring with one entry for each thread. */
static __thread struct {
	int fd;
	unsigned *sq_tail, *sq_array, *cq_head;
	struct io_uring_sqe *entry;
	struct io_uring_cqe *done;
	unsigned cq_mask;
} ring;

static void *ring_map(size_t size, off_t what)
{
	void *at =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd, what);

	if (at == MAP_FAILED)
		err(1, "io_uring: mmap");
	return at;
}

static void ring_open(void)
{
	struct io_uring_params p = {};
	char *sq, *cq;

	ring.fd = syscall(SYS_io_uring_setup, 1, &p);
	if (ring.fd < 0)
		err(1, "io_uring_setup");
	sq = ring_map(p.sq_off.array + p.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
	cq = ring_map(p.cq_off.cqes + p.cq_entries * sizeof(*ring.done), IORING_OFF_CQ_RING);
	ring.entry = ring_map(p.sq_entries * sizeof(*ring.entry), IORING_OFF_SQES);
	ring.sq_tail = (unsigned *)(sq + p.sq_off.tail);
	ring.sq_array = (unsigned *)(sq + p.sq_off.array);
	ring.cq_head = (unsigned *)(cq + p.cq_off.head);
	ring.cq_mask = *(unsigned *)(cq + p.cq_off.ring_mask);
	ring.done = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
}

static ssize_t ring_do(int operation, int fd, void *at, size_t size)
{
	ssize_t n;

	if (!ring.fd)
		ring_open();
	*ring.entry = (struct io_uring_sqe){
		.opcode = operation, .fd = fd, .addr = (uintptr_t)at, .len = size
	};
	ring.sq_array[0] = 0;
	__atomic_fetch_add(ring.sq_tail, 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		err(1, "io_uring_enter");
	n = ring.done[*ring.cq_head & ring.cq_mask].res;
	__atomic_fetch_add(ring.cq_head, 1, __ATOMIC_RELEASE);
	return n;
}

static void ring_receive(int operation, int fd, size_t size)
{
	char here[CHUNK];

	while (size)
		size = advance(fd, ring_do(operation, fd, here, chunk(size)), size);
}

static void ring_give(int operation, int fd, size_t size)
{
	while (size)
		size -= ring_do(operation, fd, buffer, chunk(size));
}

static void receive_by_ring(int fd, size_t size)
{
	ring_receive(IORING_OP_RECV, fd, size);
}

static void give_by_ring(int fd, size_t size)
{
	ring_give(IORING_OP_SEND, fd, size);
}

static void receive_by_ring_read(int fd, size_t size)
{
	ring_receive(IORING_OP_READ, fd, size);
}

static void give_by_ring_write(int fd, size_t size)
{
	ring_give(IORING_OP_WRITE, fd, size);
}

/* --- ways to divide the work ------------------------------------------------------------------ */

static void *serve(void *argument)
{
	int fd = (int)(intptr_t)argument;

	for (;;) {
		server->receive(fd, server->request);
		server->give(fd, server->response);
	}
	return argument;
}

static int accept_one(int listener)
{
	int fd = accept(listener, NULL, NULL), one = 1;

	if (fd < 0)
		err(1, "accept");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static void start(void *(*function)(void *), int fd)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, (void *)(intptr_t)fd))
		err(1, "pthread_create");
}

static void run_threads(int listener)
{
	for (int i = 0; i < CONNECTIONS; i++)
		start(serve, accept_one(listener));
}

/* The master accepts, and forks a process for each connection. */
static void run_forking(int listener)
{
	for (int i = 0; i < CONNECTIONS; i++) {
		int fd = accept_one(listener);

		if (fork() == 0) {
			die_with_parent();
			serve((void *)(intptr_t)fd);
		}
		close(fd);
	}
}

/* All processes accept. */
static void run_preforked(int listener)
{
	for (int i = 0; i < CONNECTIONS; i++)
		if (fork() == 0) {
			die_with_parent();
			serve((void *)(intptr_t)accept_one(listener));
		}
}

static struct {
	int poll_fd, to_respond[2];
} pool;

static void *receive_all(void *argument)
{
	struct epoll_event event;

	for (;;) {
		if (epoll_wait(pool.poll_fd, &event, 1, -1) != 1)
			continue;
		server->receive(event.data.fd, server->request);
		if (write(pool.to_respond[1], &event.data.fd, sizeof(int)) != sizeof(int))
			err(1, "pool");
	}
	return argument;
}

static void *respond_to_all(void *argument)
{
	int fd;

	while (read(pool.to_respond[0], &fd, sizeof(fd)) == sizeof(fd))
		server->give(fd, server->response);
	return argument;
}

/* One thread receives all requests, and others send the responses. */
static void run_pool(int listener)
{
	pool.poll_fd = epoll_create1(0);
	if (pipe(pool.to_respond))
		err(1, "pipe");
	for (int i = 0; i < CONNECTIONS; i++) {
		struct epoll_event event = { .events = EPOLLIN, .data.fd = accept_one(listener) };

		epoll_ctl(pool.poll_fd, EPOLL_CTL_ADD, event.data.fd, &event);
	}
	start(receive_all, 0);
	start(respond_to_all, 0);
	start(respond_to_all, 0);
}

static const struct server servers[] = {
	{ "threads", run_threads, receive_plain, give_plain, 100, 500, 1 },
	{ "large", run_threads, receive_plain, give_plain, 1000000, 700000, 1 },
	{ "noise", run_threads, receive_noisily, give_noisily, 100, 500, 1 },
	{ "splice", run_threads, receive_plain, give_by_splice, 100, 20000, 1 },
	{ "ring", run_threads, receive_by_ring, give_by_ring, 100, 500, 1 },
	{ "ring_file", run_threads, receive_by_ring_read, give_by_ring_write, 100, 500, 1 },
	{ "forking", run_forking, receive_plain, give_plain, 100, 500, 1 },
	{ "prefork", run_preforked, receive_plain, give_plain, 100, 500, 1 },
	{ "pool", run_pool, receive_plain, give_plain, 100, 500, 1 },
	{ "pipeline", run_threads, receive_plain, give_plain, 100, 500, 5 },
	{ "rename", run_forking, receive_and_rename, give_plain, 100, 500, 1 },
};

/* --- the client ------------------------------------------------------------------------------- */

static void ask(int fd, unsigned count)
{
	size_t at_once = server->at_once;

	while (count--) {
		give_plain(fd, server->request / 2);
		if (server->request < CHUNK)
			sleep_ns(PAUSE_NS);
		give_plain(fd, at_once * server->request - server->request / 2);
		receive_plain(fd, at_once * server->response);
	}
}

/* Connections alternate, so that only one request is in progress at a time. */
static void ask_all(const struct sockaddr_in *address)
{
	int fd[CONNECTIONS];
	unsigned long count;
	char line[100];

	for (int i = 0; i < CONNECTIONS; i++)
		fd[i] = loopback_connect(address);
	for (;;) {
		hear(line, sizeof(line));
		count = strtoul(line, NULL, 10);
		for (int i = 0; i < CONNECTIONS; i++)
			ask(fd[i], count);
		count *= CONNECTIONS * server->at_once;
		sprintf(line, "{\"requests\": %lu, \"rx\": %lu, \"tx\": %lu}\n", count,
			count * server->request, count * server->response);
		say(line);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in address;
	int listener;
	pid_t client;

	die_with_parent();
	for (size_t i = 0; i < sizeof(servers) / sizeof(*servers) && argc >= 2; i++)
		if (!strcmp(servers[i].name, argv[1]))
			server = &servers[i];
	if (!server)
		errx(2, "usage: load_case CASE [NAME]");
	new_name = argc > 2 ? argv[2] : argv[1];
	listener = loopback_listen(16, &address);
	client = fork();
	if (client == 0) {
		die_with_parent();
		ask_all(&address);
	}
	server->run(listener);
	waitpid(client, NULL, 0);
	return 0;
}
