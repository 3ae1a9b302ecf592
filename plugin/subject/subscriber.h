/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SUBSCRIBER_H
#define EBPF_SUBSCRIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Those that read tables by service or process, each at its own interval. A row that is given back
 * goes to another name when all of them have its growth. Times are of CLOCK_BOOTTIME. */
struct subscribers {
	struct subscriber {
		uint64_t interval_ns;
		uint64_t read_ns; /* when it last read its tables and dispatched them */
		uint64_t seen_ns; /* until when its tables have all growth */
		void (*catch_up)(void *of);
		void *of;
		bool used;
	} * item;
	size_t count;
};

/* A new one; its number, or -ENOMEM. Rows go to other names without waiting for it: when one is due
 * and it has not read it, catch_up(of) brings its tables up to date (NULL: they always are). */
int subscribers_add(struct subscribers *subscribers, double interval_s, void (*catch_up)(void *of),
		    void *of);
void subscribers_remove(struct subscribers *subscribers, int subscriber);

/* This one (-1: none) has read all rows at this time. */
void subscribers_read(struct subscribers *subscribers, int subscriber, uint64_t now_ns);

/* Have all read later than so many of their intervals after this time? */
bool subscribers_have_read(const struct subscribers *subscribers, uint64_t time_ns,
			   unsigned intervals);

/* Have the tables of all the growth until after this time? One that has had an interval for it is
 * late, and is told to catch up. */
bool subscribers_have_seen(struct subscribers *subscribers, uint64_t time_ns, uint64_t now_ns,
			   uint64_t interval_ns);

void subscribers_done(struct subscribers *subscribers);

#endif
