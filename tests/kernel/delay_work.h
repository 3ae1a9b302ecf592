/* SPDX-License-Identifier: MIT */
/*
 * The content of a request to load_delay.c, and the server's log of the parts of its time.
 */
#ifndef DELAY_WORK_H
#define DELAY_WORK_H

#include <stdbool.h>
#include <stdint.h>

enum phase {
	PHASE_SPIN,
	PHASE_LOCK, /* waits for a mutex that a thread of the server has locked most of the time */
	PHASE_DISK, /* O_DIRECT */
	PHASE_UPSTREAM, /* asks another process over TCP */
	PHASE_SLEEP,
	PHASE_PIPE,
	PHASE_FAULT,  /* page faults: mapped pages that are only on disk */
	PHASE_CLIENT, /* the client sends the rest later */
	PHASES
};

struct request {
	uint64_t sent_ns; /* CLOCK_MONOTONIC, before the first send */
	uint32_t phase_us[PHASES];
};

enum part {
	PART_SOCKET,
	PART_CPU,
	PART_RUNQUEUE,
	PART_DISK,
	PART_MEMORY,
	PART_LOCK,
	PART_UPSTREAM,
	PART_CLIENT,
	PART_SLEEP,
	PART_ASYNC,
	PART_PIPE,
	PART_OTHER,
	PARTS
};

/* A file that test_delay.py reads. Nanoseconds since the start, summed over all threads. */
struct delay_log {
	uint64_t requests;
	uint64_t response_ns; /* from sent_ns until before the send; the sum of all parts */
	uint64_t send_ns;     /* in the calls that send the answers */
	uint64_t part_ns[PARTS];
	uint64_t aside_ns[PARTS]; /* of the thread that locks the mutex */
	uint64_t vain_ns;         /* run-queue wait of threads without a request; in no part */
};

/* The parts of a request's time, and the thread's clocks when they were last set. */
struct work {
	uint64_t part_ns[PARTS];
	uint64_t wall_ns, cpu_ns, queued_ns;
};

struct delay_server {
	struct delay_log *log;
	const char *file;       /* on a disk */
	uint16_t upstream_port; /* 0: there is none */
};

/* A connection to the upstream, which responds after the number of microseconds that it is sent. */
int upstream_connect(void);

/* Called once, before any fork. */
void work_init(const struct delay_server *server);

/* Sets the clocks of the work to those of the calling thread. */
void work_resume(struct work *work);

/* Adds the time since the clocks were set: CPU time, run-queue wait, and the remainder to this
 * part. */
void work_spent(struct work *work, enum part part);

/* For work whose clocks another thread set when it queued it. The calling thread waits for work
 * since `since`, of its own clocks; its run-queue wait since then is that of the request. */
void work_wait(struct work *work, const struct work *since);

/* Run-queue wait of the calling thread so far. */
uint64_t work_queued_ns(void);

/* The part of it from that moment until the last work_resume(), at which the thread received what was
 * sent at that moment: if it did nothing then, all of its waits were later. */
uint64_t work_queued_since(uint64_t wall_ns);

/* Adds the calling thread's run-queue wait since then to that without a request. */
void work_vain(uint64_t queued_ns);

/* Runs all phases except the client's, one after the other. */
void work_do(struct work *work, const struct request *request);

/* Adds a request after its response; send_ns: duration of the send. */
void work_log(const struct work *work, const struct request *request, uint64_t send_ns);

#endif
