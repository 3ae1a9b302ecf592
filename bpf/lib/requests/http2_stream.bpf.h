/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Requests of HTTP/2, gRPC included: each stream of a connection is one. It starts with the first
 * HEADERS of the client, is counted with the first of the server, and ends with the server's frame
 * with END_STREAM, with RST_STREAM of either side, or with the connection. One that ends without a
 * response is not counted. Interim HEADERS (1xx) count as the response, except for services with
 * Response. A response that goes on with pauses for longer than stream_after is a stream: it is no
 * longer in progress, and no latency.
 *
 * The latest HTTP2_STREAMS of a connection and HTTP2_OLD older ones that go on are remembered.
 * Further ones are counted and in progress, but their duration is unknown.
 */
#ifndef HTTP2_STREAM_BPF_H
#define HTTP2_STREAM_BPF_H

#include "http2_frame.bpf.h"
#include "request.bpf.h"

#define HTTP2_STREAMS 128
#define HTTP2_OLD 32
#define HTTP2_ENDED 0x80000000U

enum { HTTP2_RECEIVES, HTTP2_SENDS };

/* Number of streams in progress (20 bits), and the time until which their time in progress is in
 * the row (44 bits, in 16 ns): in one word, so that no two CPUs add the same time. */
#define OPEN_TIME_BITS 44
#define OPEN_TIME_MASK ((1ULL << OPEN_TIME_BITS) - 1)
#define OPEN_TIME_SHIFT 4
#define HTTP2_OPEN_MAX ((1U << 19) - 1)
#define OPEN_TRIES 8

struct http2_stream {
	u64 requested_ns;
	u64 arrived_ns;   /* 0: unknown */
	u32 id;           /* 0: none; with HTTP2_ENDED: it has ended */
	u32 responded_us; /* since requested_ns, 0: no response yet */
	u32 class;        /* of the response */
	u32 unused;
};

/* One direction of a connection. */
struct http2_way {
	u32 left;      /* bytes of this frame that have not come yet */
	u32 ends;      /* the stream that ends with this frame, 0: none */
	u32 received;  /* bytes of the next header that have come */
	u32 is_synced; /* 0: frame boundaries are unknown */
	struct frame_header header;
};

/* Of a connection. */
struct http2 {
	struct http2_way ways[2]; /* what the server receives, and what it sends */
	u64 open;
	u32 highest; /* highest stream of the client */
	u32 lost;    /* number of streams in progress that are not remembered */
	struct http2_stream streams[HTTP2_STREAMS];
	struct http2_stream old[HTTP2_OLD];
};

/* A call, during the walk along its frames. */
struct http2_call {
	struct moved moved;
	struct http2_way way;
	u64 arrived_ns; /* of what is received, 0: unknown */
	u8 sends;       /* 1: the server sends */
	u8 goes_on;     /* 1: there is data of a request */
	u8 is_done;
	u32 requests;  /* that have started */
	u32 responses; /* that have started */
	/* Of HEADERS that are sent: their class. Of a response that has ended: its class, and its
	 * bucket above CLASS_BITS. */
	u32 class;
};

/* --- in progress --- */

static __always_inline u32 http2_in_progress(const struct http2 *h)
{
	return *(volatile u64 *)&h->open >> OPEN_TIME_BITS;
}

/* Adds the time in progress until now, then more (which may be negative) to the number in progress.
 * Global: verified once. */
__noinline int http2_settle(struct http2 *h, struct request_row *row, s64 more, u64 now_ns)
{
	u64 now = now_ns >> OPEN_TIME_SHIFT & OPEN_TIME_MASK;

	if (!h || !row)
		return 0;
	for (int i = 0; i < OPEN_TRIES; i++) {
		u64 was = *(volatile u64 *)&h->open, open = was >> OPEN_TIME_BITS;
		u64 span = (now - was) & OPEN_TIME_MASK, until = now;
		u64 then = (s64)(open + more) < 0 ? 0 : open + more;

		/* Another CPU was faster, and has read the clock later. */
		if (open && span > OPEN_TIME_MASK / 2) {
			until = was & OPEN_TIME_MASK;
			span = 0;
		}
		then = then << OPEN_TIME_BITS | until;
		if (__sync_val_compare_and_swap(&h->open, was, then) != was)
			continue;
		add(&row->in_progress_ns, open * (span << OPEN_TIME_SHIFT));
		return 0;
	}
	add(&h->open, (u64)more << OPEN_TIME_BITS);
	return 0;
}

/* --- streams --- */

static __always_inline bool is_open(u32 id)
{
	return id && !(id & HTTP2_ENDED);
}

/* Only the caller that claims a stream ends it. */
static __always_inline bool http2_claim(struct http2_stream *s, u32 id)
{
	return __sync_val_compare_and_swap(&s->id, id, id | HTTP2_ENDED) == id;
}

static __always_inline struct http2_stream *http2_newest(struct http2 *h, u32 id)
{
	return &h->streams[(id >> 1) % HTTP2_STREAMS];
}

/* Index in h->old of this stream, or, with id 0, of a free entry. HTTP2_OLD: none. */
static u32 http2_find_old(const struct http2 *h, u32 id)
{
	for (u32 i = 0; i < HTTP2_OLD; i++) {
		u32 is = *(volatile u32 *)&h->old[i].id;

		if (id ? is == id : !is_open(is))
			return i;
	}
	return HTTP2_OLD;
}

/* NULL: it is not remembered. */
static __always_inline struct http2_stream *http2_find(struct http2 *h, u32 id)
{
	struct http2_stream *s = http2_newest(h, id);
	u32 old;

	if ((s->id & ~HTTP2_ENDED) == id)
		return s;
	old = http2_find_old(h, id);
	return old < HTTP2_OLD ? &h->old[old] : NULL;
}

static void http2_count_response(const struct http2_stream *s, struct request_row *row, u64 now)
{
	add(&row->exchanges, 1);
	if (collects_requests_service_first)
		hist_count(&row->service_first, hist_index(span_ns(s->requested_ns, now)), 1);
	if (collects_requests_wait && s->arrived_ns)
		hist_count(&row->wait, hist_index(s->requested_ns - s->arrived_ns), 1);
}

static void http2_count_end(const struct http2_stream *s, struct request_row *row, u64 now)
{
	if (collects_requests_service)
		hist_count(&row->service, hist_index(span_ns(s->requested_ns, now)), 1);
	if (s->arrived_ns)
		hist_count(&row->response, hist_index(span_ns(s->arrived_ns, now)), 1);
}

/* Frees the entry of a stream for another. The stream is stored among the old ones first and
 * removed here second, so that it can be found at any time. */
__noinline int http2_displace(struct http2 *h, struct conversation *c, struct http2_stream *s)
{
	struct request_row *row = c ? conversation_row(c) : NULL;
	u32 id, at, responded_us;
	struct http2_stream *old;

	if (!h || !s || !row)
		return 0;
	id = s->id;
	if (!is_open(id))
		return 0;
	responded_us = s->responded_us;
	at = http2_find_old(h, 0);
	if (at < HTTP2_OLD) {
		old = &h->old[at];
		old->requested_ns = s->requested_ns;
		old->arrived_ns = s->arrived_ns;
		old->responded_us = responded_us;
		old->class = s->class;
		__sync_lock_test_and_set(&old->id, id);
		if (!http2_claim(s, id))
			http2_claim(old, id);
		else if (s->responded_us) {
			old->responded_us = s->responded_us;
			old->class = s->class;
		}
		return 0;
	}
	__sync_fetch_and_add(&h->lost, 1);
	if (!http2_claim(s, id))
		__sync_fetch_and_add(&h->lost, -1);
	else if (!responded_us)
		add(&row->exchanges, 1);
	return 0;
}

/* HEADERS of the client. Trailers belong to a stream that exists already. */
__noinline int http2_begin(struct http2 *h, struct conversation *c, struct http2_call *call, u32 id)
{
	struct request_row *row = c ? conversation_row(c) : NULL;
	struct http2_stream *s;

	if (!h || !call || !row || id <= h->highest || !(id & 1) ||
	    http2_in_progress(h) >= HTTP2_OPEN_MAX)
		return 0;
	h->highest = id;
	s = http2_newest(h, id);
	http2_displace(h, c, s);
	s->requested_ns = call->moved.now;
	s->arrived_ns = call->arrived_ns;
	s->responded_us = 0;
	s->class = CLASS_NONE;
	__sync_lock_test_and_set(&s->id, id);
	http2_settle(h, row, 1, call->moved.now);
	call->requests++;
	return 0;
}

/* HEADERS of the server: they start a response, or end one as trailers. */
__noinline int http2_respond(struct http2 *h, struct conversation *c, struct http2_call *call,
			     u32 id)
{
	struct request_row *row = c ? conversation_row(c) : NULL;
	struct http2_stream *s;
	u64 taken_us;

	if (!h || !call || !row || !id)
		return 0;
	s = http2_find(h, id);
	if (!s || s->id != id || s->responded_us)
		return 0;
	taken_us = span_ns(s->requested_ns, call->moved.now) / 1000 + 1;
	s->responded_us = taken_us > ~0U ? ~0U : taken_us;
	s->class = call->class;
	http2_count_response(s, row, call->moved.now);
	call->responses++;
	return 0;
}

/* Ends a stream that is not remembered. */
static void http2_end_lost(struct http2 *h, struct request_row *row, u64 now)
{
	u32 lost = *(volatile u32 *)&h->lost;

	if (lost && __sync_val_compare_and_swap(&h->lost, lost, lost - 1) == lost)
		http2_settle(h, row, -1, now);
}

/* Ends a stream. is_reset: without a response it does not count. */
__noinline int http2_end(struct http2 *h, struct conversation *c, struct http2_call *call, u32 id,
			 bool is_reset)
{
	struct request_row *row = c ? conversation_row(c) : NULL;
	struct http2_stream *s, was;

	if (!h || !call || !row || !id)
		return 0;
	s = http2_find(h, id);
	if (!s) {
		http2_end_lost(h, row, call->moved.now);
		return 0;
	}
	was = *s;
	if (!http2_claim(s, id))
		return 0;
	http2_settle(h, row, -1, call->moved.now);
	if (!was.responded_us && !is_reset)
		http2_count_response(&was, row, call->moved.now);
	if (was.responded_us || !is_reset)
		http2_count_end(&was, row, call->moved.now);
	if (responses_wanted && was.class)
		call->class = was.class | hist_index(span_ns(was.requested_ns, call->moved.now))
						  << CLASS_BITS;
	return 0;
}

/* Makes it a stream as described above. */
static bool http2_become_stream(struct http2 *h, struct http2_stream *s, struct request_row *row,
				u64 now)
{
	u32 id = s->id, responded_us = s->responded_us;

	if (!is_open(id) || !http2_claim(s, id))
		return false;
	http2_settle(h, row, -1, now);
	add(&row->streams, 1);
	if (!responded_us)
		add(&row->exchanges, 1);
	return true;
}

/* Data of the client. A request that goes on without a response, such as a log that is shipped,
 * becomes a stream. */
__noinline int http2_request_again(struct http2 *h, struct conversation *c, struct http2_call *call,
				   u32 id)
{
	struct request_row *row = c ? conversation_row(c) : NULL;
	struct http2_stream *s;

	if (!h || !call || !row)
		return 0;
	s = http2_newest(h, id);
	if (s->id == id && !s->responded_us && is_long(s->requested_ns, call->moved.now))
		http2_become_stream(h, s, row, call->moved.now);
	return 0;
}

/* Global, so that the verifier does not distinguish the counts. */
__noinline u32 http2_forget_in(struct http2_stream *s)
{
	u32 id = s ? s->id : 0;

	return is_open(id) && http2_claim(s, id);
}

/* Ends all streams in progress that no other CPU ends. */
__noinline int http2_forget(struct http2 *h, struct conversation *c, u64 now)
{
	struct request_row *row = c ? conversation_row(c) : NULL;
	u32 forgotten = 0;

	if (!h || !row || !http2_in_progress(h))
		return 0;
	for (int i = 0; i < HTTP2_STREAMS; i++)
		forgotten += http2_forget_in(&h->streams[i]);
	for (int i = 0; i < HTTP2_OLD; i++)
		forgotten += http2_forget_in(&h->old[i]);
	forgotten += __sync_lock_test_and_set(&h->lost, 0);
	http2_settle(h, row, -(s64)forgotten, now);
	return 0;
}

#endif
