/* SPDX-License-Identifier: MIT */
/*
 * A server with a pool of threads, whose connections end without a response, and its clients, a
 * child under another command name.
 *
 * load_quit tcp|unix own|other   the thread that has received the last message closes the
 *     connection, or another does. It does this on each line:
 *         quit N   on each connection N requests, their responses, and a message that ends it
 *         block    on each a request with which a thread sleeps
 *         abandon  the clients reset these connections
 *         free     the threads wake up, and give up the connections
 *     It answers {"connections"} when all threads are so far.
 */
#include "load.h"
#include "loopback.h"

#include <pthread.h>
#include <stddef.h>
#include <stdbool.h>
#include <string.h>
#include <sys/un.h>

#define THREADS 4

/* Of the server and its clients. */
static struct {
	uint32_t blocked; /* threads that sleep with a request */
	uint32_t closed;  /* connections */
	bool is_free;
} * state;

static bool by_other;

/* --- queues of connections --- */

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	int fd[THREADS], count;
};

#define QUEUE                                                                         \
	{                                                                             \
		.lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER \
	}

static struct queue accepted = QUEUE, ended = QUEUE;

static void put(struct queue *queue, int fd)
{
	pthread_mutex_lock(&queue->lock);
	queue->fd[queue->count++] = fd;
	pthread_cond_signal(&queue->filled);
	pthread_mutex_unlock(&queue->lock);
}

static int claim(struct queue *queue)
{
	int fd;

	pthread_mutex_lock(&queue->lock);
	while (!queue->count)
		pthread_cond_wait(&queue->filled, &queue->lock);
	fd = queue->fd[--queue->count];
	pthread_mutex_unlock(&queue->lock);
	return fd;
}

/* --- the server --- */

static void end(int fd)
{
	close(fd);
	__atomic_fetch_add(&state->closed, 1, __ATOMIC_SEQ_CST);
}

static void *close_all(void *unused)
{
	for (;;)
		end(claim(&ended));
	return unused;
}

static void block(void)
{
	__atomic_fetch_add(&state->blocked, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&state->is_free, __ATOMIC_SEQ_CST))
		sleep_ns(10000000);
}

static void *serve(void *unused)
{
	for (;;) {
		int fd = claim(&accepted);
		char c;

		while (recv(fd, &c, 1, 0) == 1 && c != 'q') {
			if (c == 'b')
				block();
			send(fd, &c, 1, MSG_NOSIGNAL);
		}
		if (by_other)
			put(&ended, fd);
		else
			end(fd);
	}
	return unused;
}

static void start(void *(*run)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL))
		err(1, "pthread_create");
}

/* --- the clients --- */

static struct sockaddr_un local = { .sun_family = AF_UNIX };
static struct sockaddr_in address;
static int fd[THREADS];

static int connected(void)
{
	int one = socket(AF_UNIX, SOCK_STREAM, 0);

	if (address.sin_port) {
		close(one);
		return loopback_connect(&address);
	}
	if (connect(one, (void *)&local, sizeof(local)))
		err(1, "connect");
	return one;
}

static void wait_for(const uint32_t *count)
{
	while (__atomic_load_n(count, __ATOMIC_SEQ_CST) < THREADS)
		sleep_ns(1000000);
}

static void quit(int one, int requests)
{
	char c = 'a';

	for (int i = 0; i < requests; i++)
		if (send(one, &c, 1, 0) != 1 || recv(one, &c, 1, 0) != 1)
			err(1, "ask");
	if (send(one, "q", 1, 0) != 1)
		err(1, "quit");
}

static void reset(int one)
{
	struct linger none = { .l_onoff = 1 };

	setsockopt(one, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	close(one);
}

static void obey(const char *line)
{
	bool quits = !strncmp(line, "quit", 4), blocks = !strcmp(line, "block");

	if (quits || blocks)
		memset(state, 0, sizeof(*state));
	for (int i = 0; i < THREADS && (quits || blocks); i++) {
		fd[i] = connected();
		if (quits)
			quit(fd[i], atoi(line + 4));
		else if (send(fd[i], "b", 1, 0) != 1)
			err(1, "block");
	}
	if (blocks)
		wait_for(&state->blocked);
	for (int i = 0; i < THREADS && !strcmp(line, "abandon"); i++)
		reset(fd[i]);
	if (!strcmp(line, "free"))
		__atomic_store_n(&state->is_free, true, __ATOMIC_SEQ_CST);
	if (quits || !strcmp(line, "free"))
		wait_for(&state->closed);
	for (int i = 0; i < THREADS && quits; i++)
		close(fd[i]);
}

static void ask_all(void)
{
	char line[20];

	for (;;) {
		obey(hear(line, sizeof(line)));
		sprintf(line, "{\"connections\": %d}\n", THREADS);
		say(line);
	}
}

static int local_listen(void)
{
	int one = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(local.sun_path + 1, sizeof(local.sun_path) - 1, "load_quit.%d", getpid());
	if (bind(one, (void *)&local, sizeof(local)) || listen(one, THREADS))
		err(1, "listen");
	return one;
}

int main(int argc, char **argv)
{
	int listener;

	die_with_parent();
	if (argc != 3)
		errx(2, "usage: load_quit tcp|unix own|other");
	state = need(mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			  -1, 0));
	listener = strcmp(argv[1], "unix") ? loopback_listen(THREADS, &address) : local_listen();
	by_other = !strcmp(argv[2], "other");
	if (fork() == 0) {
		die_with_parent();
		if (prctl(PR_SET_NAME, "quit_clients"))
			err(1, "prctl");
		ask_all();
	}
	for (int i = 0; i < THREADS; i++)
		start(serve);
	start(close_all);
	for (;;)
		put(&accepted, accept(listener, NULL, NULL));
}
