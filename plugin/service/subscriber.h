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
		uint64_t read_ns;     /* when its last reading that worked began */
		uint64_t seen_ns;     /* until when its tables have all growth */
		uint64_t snapshot_ns; /* of the snapshot that it reads by now, 0: it does not */
		bool (*catch_up)(void *of);
		void *of;
		bool late; /* a row waits for it alone */
		bool used;
	} * item;
	size_t count;
};

/* A new one; its number, or -ENOMEM. Rows go to other names without waiting for it: when one is due
 * and it has not read it, it is late, and catch_up(of) brings its tables up to date (NULL: they
 * always are); false: it is reading just now, and will be asked again. */
int subscribers_add(struct subscribers *subscribers, double interval_s, bool (*catch_up)(void *of),
		    void *of);
void subscribers_remove(struct subscribers *subscribers, int subscriber);

/* This one (-1: none) begins to read, by the snapshot of this time. */
void subscribers_begin(struct subscribers *subscribers, int subscriber, uint64_t snapshot_ns);

/* It has read all rows, as they were at this time or later; 0: it has not. */
void subscribers_read(struct subscribers *subscribers, int subscriber, uint64_t begin_ns);

/* Its tables have all growth until this time, which its next reading tells. */
void subscribers_catch_up(struct subscribers *subscribers, int subscriber, uint64_t begin_ns);

/* Have all read later than so many of their intervals after this time? */
bool subscribers_have_read(const struct subscribers *subscribers, uint64_t time_ns,
			   unsigned intervals);

/* Have the tables of all the growth until after this time? One that has had an interval for it is
 * late. */
bool subscribers_have_seen(struct subscribers *subscribers, uint64_t time_ns, uint64_t now_ns,
			   uint64_t interval_ns);

/* Is one late? */
bool subscribers_any_late(const struct subscribers *subscribers);

/* Does none read by a snapshot of before this time? */
bool subscribers_have_left(const struct subscribers *subscribers, uint64_t time_ns);

void subscribers_done(struct subscribers *subscribers);

#endif
