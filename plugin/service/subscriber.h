/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SUBSCRIBER_H
#define EBPF_SUBSCRIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Readers of tables by service or process, each at its own interval. A row is reused only when every
 * subscriber has its growth. Times are of CLOCK_BOOTTIME. */
struct subscribers {
	struct subscriber {
		uint64_t interval_ns;
		uint64_t read_ns;     /* start of its last successful reading */
		uint64_t seen_ns;     /* its tables have all growth until then */
		uint64_t snapshot_ns; /* of the snapshot that its current reading uses, 0: none */
		bool (*catch_up)(void *of);
		void *of;
		bool late; /* a row is due, and waits for its growth */
		bool used;
	} * item;
	size_t count;
};

/* Adds a subscriber; its number, or -ENOMEM. A row that is due does not wait for its next reading: it is
 * marked late, and catch_up(of) brings its tables up to date (NULL: they always are). catch_up returns
 * false while it is reading, and is called again later. */
int subscribers_add(struct subscribers *subscribers, double interval_s, bool (*catch_up)(void *of),
		    void *of);
void subscribers_remove(struct subscribers *subscribers, int subscriber);

/* It (-1: none) starts to read, by the snapshot of this time. */
void subscribers_begin(struct subscribers *subscribers, int subscriber, uint64_t snapshot_ns);

/* It has read all rows as they were at this time or later; 0: the reading has failed. */
void subscribers_read(struct subscribers *subscribers, int subscriber, uint64_t begin_ns);

/* Its tables have all growth until this time; its next reading dispatches it. */
void subscribers_catch_up(struct subscribers *subscribers, int subscriber, uint64_t begin_ns);

/* Have all subscribers read later than this time plus so many of their intervals? */
bool subscribers_have_read(const struct subscribers *subscribers, uint64_t time_ns,
			   unsigned intervals);

/* Do the tables of all subscribers include the growth until after this time? A subscriber that had an
 * interval for it, and does not, is marked late. */
bool subscribers_have_seen(struct subscribers *subscribers, uint64_t time_ns, uint64_t now_ns,
			   uint64_t interval_ns);

/* Is any subscriber late? */
bool subscribers_any_late(const struct subscribers *subscribers);

/* Has every reading that used a snapshot older than this time ended? */
bool subscribers_have_left(const struct subscribers *subscribers, uint64_t time_ns);

void subscribers_done(struct subscribers *subscribers);

#endif
