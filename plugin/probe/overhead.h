/* SPDX-License-Identifier: MIT */
#ifndef EBPF_OVERHEAD_H
#define EBPF_OVERHEAD_H

#include "cost.h"
#include "probe.h"
#include "util/health.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OVERHEAD_READINGS 3 /* that the mean is of */

#define OVERHEAD_WHOLE (-1)

/* Sends a notification about the probe of this name. No lock may be held. */
typedef void overhead_notify(enum health health, const char *probe, const char *text);

/* A probe, or one of its functions, under a limit. */
struct limited {
	struct probe *probe;
	int function;       /* index of its block; OVERHEAD_WHOLE: the whole probe */
	double own_percent; /* its limit; 0: the common one */
	enum {
		LIMITED_TRIED,    /* attached less than a second ago */
		LIMITED_MEASURED, /* on trial, and its cost is known */
		LIMITED_ON,
		LIMITED_OFF,
	} state;
	uint64_t since_ns;    /* start of the state; of LIMITED_ON: when it was attached */
	uint64_t measured_ns; /* when its cost was taken last */
	uint64_t wait_ns;     /* length of the last or current pause; 0: there was none */
	bool reported_off;    /* a notification said so, and none that it is on again */
	bool sampled;         /* the time of its runs was, since its cost was taken */
	struct cost_mark mark;
	struct cost_mark whole_mark; /* of a function: when the cost of the whole probe was taken */
	struct cost costs[OVERHEAD_READINGS];
	size_t next;
};

/* MaxOverhead: switches off probes that cost too much, and tries them again later. The same for
 * functions that have a limit of their own, whose cost is not counted for their probe. */
struct overhead {
	struct limited *item; /* functions before their probe */
	size_t count;
	double percent;           /* the common limit */
	const struct probe *busy; /* see overhead_set_busy() */
	bool wants_busy;          /* and it is to be switched off */
	overhead_notify *notify;
	/* Functions that a test replaces. */
	bool (*since)(struct cost_mark *mark, const struct probe *probe, int function,
		      uint64_t now_ns, struct cost *ret_cost);
	void (*sample)(struct probe *probe);
	void (*pause)(struct probe *probe, int function);
	int (*resume)(struct probe *probe, int function, struct error *error);
};

/* Lists the open probes that have a limit: one of their own (Probe block), or, if they are off by
 * default, the common one, `percent`. And functions with a limit in their Function block. All of
 * them start on trial. probes must outlive it. 0 or -ENOMEM. */
int overhead_open(struct overhead *overhead, struct probe *probes, size_t probe_count,
		  double percent, overhead_notify *notify, uint64_t now_ns);

/* To be called about once a second: measures, switches off, and reports that. No lock may be held.
 * now_ns is of CLOCK_BOOTTIME. */
void overhead_step(struct overhead *overhead, uint64_t now_ns);

/* Switches on again what was off for long enough. This may wait for files, as attaching does, and
 * overhead_step() may be called meanwhile. */
void overhead_resume(struct overhead *overhead, uint64_t now_ns);

/* The probe is being attached, and cannot be paused before that ends, though overhead_step() may be
 * called meanwhile; NULL: none is. */
void overhead_set_busy(struct overhead *overhead, const struct probe *probe);

void overhead_done(struct overhead *overhead);

#endif
