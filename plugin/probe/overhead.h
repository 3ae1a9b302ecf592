/* SPDX-License-Identifier: MIT */
#ifndef EBPF_OVERHEAD_H
#define EBPF_OVERHEAD_H

#include "cost.h"
#include "probe.h"
#include "util/health.h"

#include <stddef.h>
#include <stdint.h>

#define OVERHEAD_READINGS 3 /* whose mean counts */

#define OVERHEAD_WHOLE (-1)

/* Sends a notification about the probe of this name, with no lock held. */
typedef void overhead_notify(enum health health, const char *probe, const char *text);

/* A probe, or one of its functions, under a limit. */
struct limited {
	struct probe *probe;
	int function;       /* the number of its block, OVERHEAD_WHOLE: all of the probe */
	double own_percent; /* its limit, 0: it is one of those that have one together */
	enum {
		LIMITED_TRIED,    /* attached a moment ago */
		LIMITED_MEASURED, /* and now it is known what it costs */
		LIMITED_ON,
		LIMITED_OFF,
	} state;
	uint64_t since_ns;  /* in that state, but for LIMITED_ON: since it was attached */
	uint64_t looked_ns; /* when its cost was looked at last */
	uint64_t wait_ns;   /* for how long it is, or was, switched off; 0: never */
	bool told_off;      /* by a notification that none has taken back */
	bool sampled;       /* what its runs take, since it was looked at */
	struct cost_mark mark;
	struct cost_mark whole_mark; /* of a function: at the last look at all of its probe */
	struct cost costs[OVERHEAD_READINGS];
	size_t next;
};

/* MaxOverhead: probes that cost too much are switched off, and tried again later; and so are
 * functions that have a limit of their own, which then do not count for that of their probe. */
struct overhead {
	struct limited *item; /* functions before their probe */
	size_t count;
	double percent; /* the limit of those without one of their own */
	overhead_notify *notify;
	/* What a test has its own of. */
	bool (*since)(struct cost_mark *mark, const struct probe *probe, int function,
		      uint64_t now_ns, struct cost *ret_cost);
	void (*sample)(struct probe *probe);
	void (*pause)(struct probe *probe, int function);
	int (*resume)(struct probe *probe, int function, struct error *error);
};

/* Of the probes that are open, those with a limit: by their Probe block; or because they are off by
 * default, percent for all of these; and the functions with one by their Function block. All of them are tried first. probes outlive it. 0 or
 * -ENOMEM. */
int overhead_open(struct overhead *overhead, struct probe *probes, size_t probe_count,
		  double percent, overhead_notify *notify, uint64_t now_ns);

/* To be called every second or so; switches off and on, and tells of it, with no lock held. Times are
 * of CLOCK_BOOTTIME. */
void overhead_step(struct overhead *overhead, uint64_t now_ns);

void overhead_done(struct overhead *overhead);

#endif
