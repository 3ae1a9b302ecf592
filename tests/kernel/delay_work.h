/* SPDX-License-Identifier: MIT */
/*
 * What a request of load_delay.c asks for, and the server's own log of where its time went.
 */
#ifndef DELAY_WORK_H
#define DELAY_WORK_H

#include <stdbool.h>
#include <stdint.h>

enum phase {
	PHASE_SPIN,
	PHASE_LOCK,     /* of a mutex that a thread of the server's holds most of the time */
	PHASE_DISK,     /* O_DIRECT */
	PHASE_UPSTREAM, /* asks another process over TCP */
	PHASE_SLEEP,
	PHASE_PIPE,
	PHASE_FAULT,  /* of mapped pages that are on the disk alone */
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

/* A file, which test_delay.py reads. Nanoseconds since the start, of all threads. */
struct delay_log {
	uint64_t requests;
	uint64_t response_ns; /* from asked_ns until before the send; the sum of all parts */
	uint64_t send_ns;     /* in the calls that send the answers */
	uint64_t part_ns[PARTS];
	uint64_t aside_ns[PARTS]; /* of the thread that holds the mutex */
	uint64_t vain_ns;         /* run-queue wait of workers, of no request; in no part */
};

/* Of one request; of a thread, what its clocks were. */
struct work {
	uint64_t part_ns[PARTS];
	uint64_t wall_ns, cpu_ns, queued_ns;
};

struct delay_server {
	struct delay_log *log;
	const char *file;       /* on a disk */
	uint16_t upstream_port; /* 0: there is none */
};

/* A connection to the process that answers a number of microseconds after so long. */
int upstream_connect(void);

/* Once, before any fork. */
void work_init(const struct delay_server *server);

/* Sets the clocks of the work to those of the calling thread. */
void work_resume(struct work *work);

/* What has passed since the clocks were set: time on a CPU, run-queue wait, and the rest is this
 * part. */
void work_spent(struct work *work, enum part part);

/* Another thread has set the clocks when it put the work into a queue; the calling one has waited
 * for it since this moment of its own. What that has waited for a CPU is run-queue wait. */
void work_wait(struct work *work, const struct work *since);

/* Run-queue wait of the calling thread until now. */
uint64_t work_queued_ns(void);

/* The calling thread has waited for a CPU since then, for no request. */
void work_vain(uint64_t queued_ns);

/* Does all phases but that of the client, one after the other. */
void work_do(struct work *work, const struct request *request);

/* Adds a request that has been answered; send_ns: how long that took. */
void work_log(const struct work *work, const struct request *request, uint64_t send_ns);

#endif
