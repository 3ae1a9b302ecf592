/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Walks along the HTTP/2 frames that are received and sent, call by call. Bytes that cannot be
 * read end the walk, and what was in progress is forgotten. The walk starts again when a call
 * begins with what looks like a frame.
 */
#ifndef HTTP2_BPF_H
#define HTTP2_BPF_H

#include "http2_response.bpf.h"
#include "http2_stream.bpf.h"

/* Frame boundaries are known for what the server receives, and for what it sends if it has sent
 * nothing yet. */
static void http2_init(struct http2 *h, struct conversation *c)
{
	c->exchange.phase = PHASE_IDLE;
	h->ways[HTTP2_RECEIVES].is_synced = true;
	h->ways[HTTP2_RECEIVES].left = c->inspection.frame_left;
	h->ways[HTTP2_SENDS].is_synced = !c->inspection.sent && !c->inspection.frames;
}

/* Bytes may have passed unseen. */
static void http2_resync(struct http2 *h, struct conversation *c)
{
	c->unseen = false;
	h->ways[HTTP2_RECEIVES].is_synced = false;
	h->ways[HTTP2_SENDS].is_synced = false;
	http2_forget(h, c, bpf_ktime_get_ns());
}

/* --- the walk along the frames --- */

/* Reads the header of the next frame, which may come in pieces. false: it is not complete. */
static bool http2_header(struct http2_call *call, struct frame *ret_frame)
{
	struct http2_way *way = &call->way;
	struct moved *m = &call->moved;

	if (!way->received && m->end - m->begin >= FRAME_HEADER_SIZE &&
	    buffer_read_here(&m->buffer, m->begin, ret_frame->header.bytes, FRAME_HEADER_SIZE)) {
		m->begin += FRAME_HEADER_SIZE;
		frame_parse(&ret_frame->header, ret_frame);
		return true;
	}
	for (int i = 0; i < FRAME_HEADER_SIZE; i++) {
		int byte;

		if (way->received >= FRAME_HEADER_SIZE || m->begin >= m->end)
			break;
		byte = buffer_byte(&m->buffer, m->begin++);
		if (byte < 0) {
			way->is_synced = false;
			return false;
		}
		way->header.bytes[way->received++ & 15] = byte;
	}
	if (way->received < FRAME_HEADER_SIZE)
		return false;
	way->received = 0;
	frame_parse(&way->header, ret_frame);
	return true;
}

/* Skips the remainder of the current frame without reading it: it may be sent by sendfile. false:
 * more of it follows in later calls. */
static bool http2_skip(struct http2_call *call)
{
	struct http2_way *way = &call->way;
	u64 here = call->moved.end - call->moved.begin;

	if (way->left > here) {
		way->left -= here;
		call->moved.begin = call->moved.end;
		return false;
	}
	call->moved.begin += way->left;
	way->left = 0;
	return true;
}

/* Counting by class is done here: from the functions that are called the call chain would be too
 * deep. */
static __always_inline void http2_end_response(struct http2 *h, struct conversation *c,
					       struct http2_call *call, u32 id, bool is_reset)
{
	call->class = CLASS_NONE;
	http2_end(h, c, call, id, is_reset);
	if (responses_wanted && call->class)
		response_move(c->cache.row, call->class & ((1U << CLASS_BITS) - 1), HIST_BUCKETS,
			      call->class >> CLASS_BITS);
}

static __always_inline void http2_begin_response(struct http2 *h, struct conversation *c,
						 struct http2_call *call, u32 id)
{
	u32 before = call->responses;

	http2_respond(h, c, call, id);
	if (responses_wanted && call->class && call->responses != before)
		response_count(c->cache.row, call->class, HIST_BUCKETS);
}

static void http2_received(struct http2 *h, struct conversation *c, struct http2_call *call,
			   const struct frame *f)
{
	switch (f->type) {
	case FRAME_HEADERS:
		http2_begin(h, c, call, f->stream);
		break;
	case FRAME_DATA:
		call->goes_on = true;
		http2_request_again(h, c, call, f->stream);
		break;
	case FRAME_RST_STREAM:
		http2_end_response(h, c, call, f->stream, true);
		break;
	}
}

/* Reads the status of HEADERS whose frame header has been passed. It overwrites that header. 0:
 * unknown. */
__noinline u32 http2_status(struct http2_call *call, u32 length, u32 flags)
{
	u32 padding = (flags & FRAME_PADDED ? 1 : 0) +
		      (flags & FRAME_PRIORITIZED ? FRAME_PRIORITIZED_SIZE : 0);
	u64 at, size;

	if (!call || length < padding)
		return 0;
	at = call->moved.begin + padding;
	if (at >= call->moved.end || !buffer_seek(&call->moved.buffer, at))
		return 0;
	size = length - padding;
	if (size > call->moved.end - at)
		size = call->moved.end - at;
	if (size > call->moved.buffer.end - at)
		size = call->moved.buffer.end - at;
	if (size > HPACK_SIZE)
		size = HPACK_SIZE;
	asm volatile("" : "+r"(size));
	if (size > HPACK_SIZE ||
	    !buffer_read_user(call->way.header.bytes, size,
			      call->moved.buffer.address + at - call->moved.buffer.begin))
		return 0;
	return hpack_status(call->way.header.bytes, size);
}

/* Class of a response that starts with this frame. */
static __always_inline u32 http2_classify(const struct conversation *c, struct http2_call *call,
					  const struct frame *f)
{
	if (!responses_wanted || !c->classified)
		return CLASS_NONE;
	return http2_class(c->cache.row, http2_status(call, f->length, f->flags),
			   f->flags & FRAME_END_STREAM);
}

static void http2_sent(struct http2 *h, struct conversation *c, struct http2_call *call,
		       const struct frame *f)
{
	switch (f->type) {
	case FRAME_HEADERS:
		call->class = http2_classify(c, call, f);
		if (call->class != CLASS_INTERIM)
			http2_begin_response(h, c, call, f->stream);
		/* fallthrough */
	case FRAME_DATA:
		if (f->flags & FRAME_END_STREAM)
			call->way.ends = f->stream;
		break;
	case FRAME_RST_STREAM:
		http2_end_response(h, c, call, f->stream, true);
		break;
	}
}

/* Is this a frame? Types that are unknown are skipped, as HTTP/2 demands. */
static bool http2_synced(struct http2_way *way, const struct frame *f)
{
	if (!way->is_synced)
		way->is_synced = frame_is_plausible(f);
	else if (f->type < FRAME_TYPES && !frame_has_its_length(f))
		way->is_synced = false;
	return way->is_synced;
}

/* Processes one frame, or what has come of it. true: the call has no more. */
__noinline int http2_next(struct http2 *h, struct conversation *c, struct http2_call *call)
{
	struct frame f = {};

	if (!h || !c || !call || !http2_skip(call))
		return true;
	if (call->way.ends) {
		http2_end_response(h, c, call, call->way.ends, false);
		call->way.ends = 0;
	}
	if (call->moved.begin >= call->moved.end)
		return true;
	if (!call->moved.found && !moved_find(&call->moved, c->served.sk)) {
		call->way.is_synced = false;
		return true;
	}
	if (!http2_header(call, &f) || !http2_synced(&call->way, &f))
		return true;
	f.stream &= ~(1U << 31);
	call->way.left = f.length;
	if (call->sends)
		http2_sent(h, c, call, &f);
	else
		http2_received(h, c, call, &f);
	return false;
}

struct http2_walk {
	struct http2 *h;
	struct conversation *c;
	struct http2_call *call;
};

static long http2_step(u32 i, void *walk)
{
	struct http2_walk *w = walk;

	w->call->is_done = http2_next(w->h, w->c, w->call);
	return ends_loop(w->call->is_done);
}

/* Walks along what a call has moved in one direction. */
static void http2_moves(struct http2 *h, struct conversation *c, struct http2_call *call)
{
	struct http2_walk walk = { .h = h, .c = c, .call = call };
	struct http2_way none = {}, *way = &h->ways[call->sends & 1];
	bool was_synced = way->is_synced;

	call->way = *way;
	if (kernel_has_loop())
		bpf_loop(FRAMES_MAX, http2_step, &walk, 0);
	if (call->is_done && call->way.is_synced) {
		*way = call->way;
		return;
	}
	*way = none;
	if (was_synced)
		http2_forget(h, c, call->moved.now);
}

/* Each request of a receive has waited since the first byte arrived that had not been received. */
static void http2_end_wait(struct conversation *c, const struct http2_call *call,
			   struct request_row *row)
{
	u64 arrived_ns = call->arrived_ns, now = call->moved.now;
	u64 from_ns = __sync_lock_test_and_set(&c->waited_ns, arrived_ns);

	add(&row->waiting_ns, span_ns(from_ns > arrived_ns ? from_ns : arrived_ns, now) +
				      (call->requests - 1) * span_ns(arrived_ns, now));
}

/* Is this a call of HTTP/2? Without memory for its state (h is NULL) the connection is treated as
 * alternating from now on. */
static __always_inline bool http2_speaks(struct http2 *h, struct conversation *c)
{
	if (!h)
		c->protocol = PROTOCOL_ALTERNATING;
	else if (c->unseen)
		http2_resync(h, c);
	return h;
}

/* What a server has received. more: there is data that has not been received yet. true: it has been
 * counted. */
static __always_inline bool http2_receives(struct http2 *h, struct conversation *c,
					   struct http2_call *call, bool more)
{
	u64 now = call->moved.now;
	struct request_row *row;

	if (!http2_speaks(h, c))
		return false;
	row = count_receive(c, call->moved.end, now);
	if (!row)
		return true;
	if (c->ready_ns < now)
		call->arrived_ns = c->ready_ns;
	http2_moves(h, c, call);
	if (call->requests) {
		if (call->arrived_ns)
			http2_end_wait(c, call, row);
		serve_begin(&c->served, call->arrived_ns ?: now, now);
		serve_others(&c->served, call->requests - 1);
	} else if (call->goes_on && http2_in_progress(h)) {
		serve_again(&c->served, now);
	}
	c->ready_ns = more ? c->latest_ns : 0;
	return true;
}

/* What a server has sent. true: it has been counted. */
static __always_inline bool http2_sends(struct http2 *h, struct conversation *c,
					struct http2_call *call)
{
	u64 now = call->moved.now;

	if (!http2_speaks(h, c))
		return false;
	if (!count_send(c, call->moved.end, now))
		return true;
	call->sends = HTTP2_SENDS;
	http2_moves(h, c, call);
	if (call->responses)
		serve_respond(&c->served, false, now);
	else
		serve_respond_again(&c->served, now);
	return true;
}

#endif
