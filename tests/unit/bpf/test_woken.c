/* SPDX-License-Identifier: MIT */
/*
 * bpf/lib/requests/woken.h, compiled for user space: how long requests in sockets wait for a CPU, of threads with a
 * known history.
 */
#include "tests/unit/testing.h"

#include "bpf/lib/requests/woken.h"

#define MS 1000000ULL
#define SECOND (1000 * MS)

/* A thread that receives and responds; its run-queue wait is known at any moment of its history. */
struct thread {
	struct moment burst;
	struct moment now;
	struct moment since; /* when it last received or sent something */
};

static void note(struct thread *t)
{
	t->since = t->now;
}

static void idles(struct thread *t, uint64_t ns)
{
	t->now.ns += ns;
}

static void queues(struct thread *t, uint64_t ns)
{
	t->now.ns += ns;
	t->now.queued_ns += ns;
}

static uint64_t receives(struct thread *t, uint64_t arrived_ns)
{
	uint64_t ns = woken_wait(&t->burst, &t->since, arrived_ns, &t->now);

	note(t);
	return ns;
}

/* It has run for so long for the request, and sends the response. */
static void responds(struct thread *t, uint64_t ns)
{
	t->now.ns += ns;
	note(t);
}

static struct thread thread(void)
{
	struct thread t = { .now = { 50 * SECOND, 7 * SECOND } };

	note(&t);
	return t;
}

static void test_idle(void)
{
	struct thread t = thread();
	uint64_t arrived;

	CASE("a request wakes a thread, which waits for a CPU");
	idles(&t, 30 * SECOND);
	arrived = t.now.ns;
	queues(&t, 20 * MS);
	CHECK_UINT(receives(&t, arrived), 20 * MS);
	CASE("the thread runs for a while before it receives");
	responds(&t, MS);
	arrived = t.now.ns += MS;
	queues(&t, 5 * MS);
	t.now.ns += 3 * MS;
	CHECK_UINT(receives(&t, arrived), 5 * MS);
	CASE("it waited for a CPU before the request arrived");
	responds(&t, MS);
	queues(&t, 100 * MS);
	arrived = t.now.ns;
	t.now.ns += 2 * MS;
	CHECK_UINT(receives(&t, arrived), 2 * MS);
	CASE("it did not wait");
	responds(&t, MS);
	arrived = t.now.ns;
	t.now.ns += 4 * MS;
	CHECK_UINT(receives(&t, arrived), 0);
}

static void test_batch(void)
{
	struct thread t = thread();
	uint64_t first, last;

	CASE("requests arrive while a thread waits for a CPU");
	idles(&t, SECOND);
	first = t.now.ns;
	queues(&t, 10 * MS);
	last = t.now.ns;
	queues(&t, 10 * MS);
	CHECK_UINT(receives(&t, first), 20 * MS);
	responds(&t, MS);
	CHECK_REAL(receives(&t, last), 11 * MS * 20.0 / 21, 100);
	CASE("the next one finds the thread idle again");
	responds(&t, MS);
	idles(&t, MS);
	first = t.now.ns;
	queues(&t, 3 * MS);
	CHECK_UINT(receives(&t, first), 3 * MS);
}

/* It always has a request that has arrived before it received the one before. */
static void test_never_idle(void)
{
	struct thread t = thread();
	uint64_t arrived = t.now.ns, next, got = 0, want = 0;

	CASE("a thread waits for a CPU for a third of the time, and is never idle");
	for (int i = 0; i < 3000; i++) {
		queues(&t, MS);
		got += receives(&t, arrived);
		want += (t.now.ns - arrived) / 3;
		next = t.now.ns;
		responds(&t, 2 * MS);
		arrived = next;
	}
	CHECK_REAL(got / 1e9, want / 1e9, 0.01 * want / 1e9);
	CASE("it waits no longer");
	for (int i = 0; i < 10000; i++) {
		receives(&t, arrived);
		arrived = t.now.ns;
		responds(&t, 2 * MS);
	}
	CHECK_REAL(receives(&t, arrived), 0, 1000);
}

static void test_new(void)
{
	struct thread t = { .now = { 50 * SECOND, 0 } };
	uint64_t arrived = t.now.ns;

	CASE("a thread that was started for the request");
	queues(&t, 8 * MS);
	t.now.ns += MS;
	CHECK_UINT(receives(&t, arrived), 8 * MS);
	CASE("a clock of another CPU is ahead");
	CHECK_UINT(receives(&t, t.now.ns + 1000), 0);
	CASE("a request has arrived before that");
	arrived = t.now.ns;
	responds(&t, 2 * MS);
	queues(&t, 2 * MS);
	CHECK_UINT(receives(&t, arrived), 2 * MS);
}

int main(void)
{
	test_idle();
	test_batch();
	test_never_idle();
	test_new();
	return testing_end();
}
