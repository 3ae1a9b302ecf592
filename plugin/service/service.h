/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SERVICE_H
#define EBPF_SERVICE_H

#include "config/config.h"
#include "object/budget.h"
#include "object/object.h"
#include "resolve.h"
#include "subject/subject.h"
#include "system/message.h"
#include "table/series.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct service;
struct service_counters;
struct process_label;

/* Where a row of the kernel's `services` is in its life. */
enum row_state {
	ROW_FREE,    /* in the kernel's queue */
	ROW_HIDDEN,  /* a command name that counts under "other" */
	ROW_SHOWN,   /* has series of its own */
	ROW_RETIRED, /* its name is taken away, waits until all tables have its growth */
};

struct service_state {
	enum row_state state;
	int subject;        /* -1: never had one */
	bool fixed;         /* not of a command name: never retired */
	bool notable;       /* used much of something in the last interval */
	uint64_t since_ns;  /* of this state */
	uint64_t absent_ns; /* since when no process is alive, 0: some are */
};

/* A process row. */
struct process_row {
	int subject; /* -1: free */
	uint64_t start_ns;
	uint64_t ended_ns;
};

/* The services of this machine: the service object, the rows, and whose series
 * they are. Tables of all probes read through it, with the lock held. */
struct services {
	pthread_mutex_t lock;
	const struct config *config;
	struct object object;
	struct budget budget;                /* of all objects, this one and those of the probes */
	struct service *kernel_rows;         /* the mapping of `services` */
	struct process_label *kernel_labels; /* the mapping of `process_labels` */
	struct service_state *states;
	uint32_t row_count;
	struct process_row *process_rows;
	uint32_t process_row_count;
	struct subjects subjects;
	struct registry registry; /* of the tables of all probes */
	uint64_t interval_ns;
	struct service_counters *counters;
	struct resolver resolver;
	unsigned hidden; /* names under "other" now */
	unsigned shown;  /* services with series of their own now */
	struct subscriber {
		uint64_t interval_ns;
		uint64_t read_ns; /* when a probe last read its tables and dispatched them */
		uint64_t seen_ns; /* until when its tables have all growth */
		void (*catch_up)(void *of);
		void *of;
		bool used;
	} * subscribers;
	size_t subscriber_count;
	struct departed {
		size_t subject; /* that has a row less */
		uint64_t since_ns;
		unsigned intervals; /* of each subscriber, until its series are forgotten */
	} * departed;
	size_t departed_count;
};

/* Opens, loads and attaches the service object; meets the processes that run. interval_s is
 * the plugin's; files stays the caller's. */
int services_open(struct services *services, const struct config *config, double interval_s,
		  struct file_reader *files, struct error *error);

/* Hands the maps that the objects share to a probe's object, before load. */
int services_share(const struct services *services, struct object *object, struct error *error);

/* A probe that will read tables by service, at this interval; a number for
 * services_read. Rows go to other names without waiting for it: when one is due
 * and the probe has not read it, catch_up(of) brings its tables up to date, with the
 * lock held (NULL: they always are). */
int services_subscribe(struct services *services, double interval_s, void (*catch_up)(void *of),
		       void *of);
void services_unsubscribe(struct services *services, int subscriber);

/* Brings names, rows and process rows up to date; now_ns of CLOCK_BOOTTIME. To
 * be called with the lock held, as all below. */
void services_refresh(struct services *services, uint64_t now_ns);

/* The subscriber (-1: none) has read all rows at this time. */
void services_read(struct services *services, int subscriber, uint64_t now_ns);

/* The subject that a row's growth belongs to, -1: to none. */
int services_subject(const struct services *services, uint32_t row);
int services_process_subject(const struct services *services, uint32_t process);

/* Has the service of this row ended, so that nothing but remains count there? */
bool services_gone(const struct services *services, uint32_t row);

/* A row has used much of something. */
void services_notable(struct services *services, uint32_t row);

void services_done(struct services *services);

#endif
