/* SPDX-License-Identifier: MIT */
#ifndef EBPF_LIFECYCLE_H
#define EBPF_LIFECYCLE_H

#include "config/config.h"
#include "object/mapping.h"
#include "object/object.h"
#include "subject.h"
#include "subscriber.h"
#include "system/message.h"

#include <stdbool.h>
#include <stdint.h>

struct service;
struct process_label;

/* Where a row of the kernel's `services` is in its life. */
enum row_state {
	ROW_FREE,    /* in the kernel's queue */
	ROW_HIDDEN,  /* a command name that counts under "other" */
	ROW_SHOWN,   /* has series of its own */
	ROW_RETIRED, /* its name is taken away, waits until all tables have its growth */
};

/* Of a row of a service. */
struct service_state {
	enum row_state state;
	int subject;        /* -1: never had one */
	bool fixed;         /* not of a command name: never retired */
	bool notable;       /* used much of something in the last interval */
	uint64_t since_ns;  /* of this state */
	uint64_t absent_ns; /* since when no process is alive, 0: some are */
};

/* Of a process with a row of its own. */
struct process_row {
	int subject; /* -1: free */
	uint64_t start_ns;
	uint64_t ended_ns;
};

/* Whose the rows of services and processes are, and which subjects there are. The kernel's side is
 * in the engine's own object. Times are of CLOCK_BOOTTIME. */
struct lifecycle {
	const struct config *config;
	const struct object *object;
	struct mapping rows_mapping, labels_mapping;
	struct service *kernel_rows;         /* of `services` */
	struct process_label *kernel_labels; /* of `process_labels` */
	struct service_state *states;
	uint32_t row_count;
	struct process_row *process_rows;
	uint32_t process_row_count;
	struct subjects subjects;
	struct subscribers subscribers;
	uint64_t interval_ns;
	unsigned hidden; /* names under "other" now */
	unsigned shown;  /* services with series of their own now */
	bool room;       /* a row has become free; the resolver takes it back, atomically */
	struct departed {
		size_t subject; /* that has a row less */
		uint64_t since_ns;
		unsigned intervals; /* of each subscriber, until its series are forgotten */
	} * departed;
	size_t departed_count;
};

/* Sizes the maps of an object, before load; config and object stay the caller's. -ENOMEM, or what
 * the kernel says. */
int lifecycle_prepare(struct lifecycle *lifecycle, const struct config *config,
		      const struct object *object, double interval_s, struct error *error);

/* Maps the kernel's rows and gives those of the configuration their names; after load, before
 * attach. */
int lifecycle_start(struct lifecycle *lifecycle, struct error *error);

/* Brings names and rows of services up to date. */
void lifecycle_refresh(struct lifecycle *lifecycle, uint64_t now_ns);

/* Names that were there when the plugin started have lived long enough. */
void lifecycle_accept(struct lifecycle *lifecycle);

/* The subject that a row's growth belongs to, -1: to none. */
int lifecycle_subject(const struct lifecycle *lifecycle, uint32_t row);
int lifecycle_process_subject(const struct lifecycle *lifecycle, uint32_t process);

/* The name of the service of a row that has a subject. */
const char *lifecycle_name(const struct lifecycle *lifecycle, uint32_t row);

/* Has the service of this row ended, so that nothing but remains count there? */
bool lifecycle_gone(const struct lifecycle *lifecycle, uint32_t row);

/* A row has used much of something. */
void lifecycle_notable(struct lifecycle *lifecycle, uint32_t row);

/* A subject (-1: none) has a row less since then: it is forgotten when all subscribers have read so
 * many intervals later. */
void lifecycle_depart(struct lifecycle *lifecycle, int subject, uint64_t since_ns,
		      unsigned intervals);

/* Gives row i back to the kernel, by this queue; who waits for one is matched again. */
void lifecycle_give_back(struct lifecycle *lifecycle, const char *queue, uint32_t i);

void lifecycle_done(struct lifecycle *lifecycle);

#endif
