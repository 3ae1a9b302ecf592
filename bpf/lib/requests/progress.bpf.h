/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Adds the time of requests that wait or are in progress when the probe is read. A walk over the
 * sockets adds their time until then, so that a request that takes longer than an interval counts
 * in each, and finds the oldest. A call on a socket adds what the walk has not. A request whose
 * socket is closed before a response thus ends where the last walk has seen it. The same is done
 * for requests that a service has sent to upstreams.
 */
#ifndef PROGRESS_BPF_H
#define PROGRESS_BPF_H

#include "client.bpf.h"
#include "http2_stream.bpf.h"
#include "in_hand.bpf.h"
#include "listener.bpf.h"
#include "unsent.bpf.h"

u64 read_ns;

static u64 load_ordered(u64 *at)
{
	return __sync_fetch_and_add(at, 0);
}

/* Returns the time since was_ns and since_ns that nobody else has added. */
static u64 walk_settle(u64 *settled_ns, u64 was_ns, u64 since_ns)
{
	if (was_ns >= reading_ns ||
	    __sync_val_compare_and_swap(settled_ns, was_ns, reading_ns) != was_ns)
		return 0;
	return span_ns(was_ns > since_ns ? was_ns : since_ns, reading_ns);
}

static void note_oldest(struct request_row *whole, u64 began_ns)
{
	if (began_ns && (!whole->oldest_began_ns || began_ns < whole->oldest_began_ns))
		whole->oldest_began_ns = began_ns;
}

/* A response whose last bytes were in the send buffer. */
static void walk_unsent(struct conversation *c, const struct sock *sk)
{
	struct request_row *row = request_row(slot_index(c->cache.slot));
	struct request_row *whole = request_row(c->cache.slot * shards);
	u64 settled_ns = load_ordered(&c->exchange.settled_ns), more_ns;

	check_unsent(c, sk, false);
	if (!row || !whole || !*(volatile u32 *)&c->unsent)
		return;
	more_ns = walk_settle(&c->exchange.settled_ns, settled_ns, 0);
	add(&row->in_progress_ns, more_ns);
	add(&row->send_wait_ns, more_ns);
	note_oldest(whole, c->exchange.arrived_ns ?: c->exchange.requested_ns);
	withdraw_length(c, row, LENGTH_WITHDRAWN);
}

/* A response has ended if nothing of it was sent during a whole interval. It is not known to be in
 * progress once it has paused for longer than it took until then. */
static void walk_response(struct conversation *c, struct request_row *row,
			  struct request_row *whole, u64 settled_ns)
{
	struct exchange *e = &c->exchange;
	u64 began_ns = e->arrived_ns ?: e->requested_ns;

	if (e->length == LENGTH_FINAL)
		return;
	if (settled_ns < previous_reading_ns) {
		end_response(c, row);
		return;
	}
	withdraw_length(c, row, LENGTH_WITHDRAWN);
	if (settled_ns > e->responded_ns &&
	    span_ns(settled_ns, reading_ns) < span_ns(began_ns, settled_ns))
		note_oldest(whole, began_ns);
}

static void walk_stream(struct conversation *c, bool unread)
{
	struct request_row *row = request_row(slot_index(c->cache.slot));
	struct request_row *whole = request_row(c->cache.slot * shards);
	/* Must be read first, see exchange_request() and end_wait(). */
	u64 settled_ns = load_ordered(&c->exchange.settled_ns);
	u64 waited_ns = load_ordered(&c->waited_ns);
	u64 ready_ns = *(volatile u64 *)&c->ready_ns;
	u32 phase = *(volatile u32 *)&c->exchange.phase;

	if (!row || !whole)
		return;
	if (phase == PHASE_RESPONDED)
		walk_response(c, row, whole, settled_ns);
	else if (phase == PHASE_ACKNOWLEDGED && c->exchange.requested_ns < previous_reading_ns)
		end_acknowledgement(c, row);
	if (phase == PHASE_REQUESTED) {
		add(&row->in_progress_ns, walk_settle(&c->exchange.settled_ns, settled_ns, 0));
		note_oldest(whole, c->exchange.arrived_ns ?: c->exchange.requested_ns);
	} else if (ready_ns && unread) {
		add(&row->waiting_ns, walk_settle(&c->waited_ns, waited_ns, ready_ns));
		note_oldest(whole, ready_ns);
	}
}

/* Time of a datagram since since_ns that no walk has added. began_ns: its arrival time, 0: unknown.
 * Global, as its callers are: verified once, not with each datagram. */
__noinline u64 walk_datagram(u32 slot, u64 began_ns, u64 since_ns, u64 walked_ns)
{
	struct request_row *whole = request_row(slot * shards);

	if (!whole || !since_ns)
		return 0;
	note_oldest(whole, began_ns ?: since_ns);
	return span_ns(since_ns > walked_ns ? since_ns : walked_ns, reading_ns);
}

/* Adds the time of the datagram that arrived last but `before`. Another thread may have received
 * some unseen: at most `waiting` wait. */
__noinline int walk_arrived(struct datagrams *d, u32 slot, u32 waiting, u32 before, u64 walked_ns)
{
	struct request_row *row = request_row(slot_index(slot));
	u32 tail;
	s32 count; /* negative while a receive is seen before its arrival */
	u64 arrived_ns;

	if (!d || !row)
		return 0;
	tail = *(volatile u32 *)&d->arrived_tail;
	count = tail - *(volatile u32 *)&d->arrived_head;
	arrived_ns = d->arrived_ns[(tail - 1 - before) % DATAGRAMS_ARRIVED];
	if ((s32)before < count && before < waiting)
		add(&row->waiting_ns, walk_datagram(slot, arrived_ns, arrived_ns, walked_ns));
	return 0;
}

/* Drops a request that has expired. What is sent to a socket that has never responded is no request.
 */
__noinline int walk_requested(struct datagrams *d, u32 slot, u32 at, u64 walked_ns)
{
	struct request_row *row = request_row(slot_index(slot));
	struct exchange e = {};
	u64 request;

	if (!d || !row)
		return 0;
	request = *(volatile u64 *)&d->requests[at % DATAGRAMS_OPEN];
	if (!request)
		return 0;
	if (datagram_has_expired(request, reading_ns)) {
		datagrams_remove(d, datagram_receiver(request), at, request);
	} else if (d->responds) {
		datagram_unpack(request, reading_ns, &e);
		add(&row->in_progress_ns,
		    walk_datagram(slot, e.arrived_ns, e.requested_ns, walked_ns));
	}
	return 0;
}

/* A call that claims a request from a ring reads walked_ns after that. */
static void walk_datagrams(struct datagrams *d, u32 slot, u32 waiting)
{
	u64 walked_ns = __sync_lock_test_and_set(&d->walked_ns, reading_ns);

	for (u32 i = 0; i < DATAGRAMS_ARRIVED; i++)
		walk_arrived(d, slot, waiting, i, walked_ns);
	for (u32 i = 0; i < DATAGRAMS_OPEN; i++)
		walk_requested(d, slot, i, walked_ns);
}

/* A response that goes on for long becomes a stream if it pauses now. */
__noinline int walk_http2_stream(struct http2 *h, struct http2_stream *s, u32 slot, bool pauses)
{
	struct request_row *row = request_row(slot_index(slot));
	struct request_row *whole = request_row(slot * shards);
	u64 responded_ns;

	if (!h || !s || !row || !whole || !is_open(s->id))
		return 0;
	responded_ns = s->requested_ns + s->responded_us * 1000ULL;
	if (!s->responded_us || !pauses || !is_long(responded_ns, reading_ns) ||
	    !http2_become_stream(h, s, row, reading_ns))
		note_oldest(whole, s->arrived_ns ?: s->requested_ns);
	return 0;
}

static void walk_http2(struct http2 *h, u32 slot, const struct sock *sk)
{
	struct request_row *row = request_row(slot_index(slot));
	bool pauses = socket_was_empty(sk, 0);

	if (!row || !http2_in_progress(h))
		return;
	http2_settle(h, row, 0, reading_ns);
	for (u32 i = 0; i < HTTP2_STREAMS; i++)
		walk_http2_stream(h, &h->streams[i], slot, pauses);
	for (u32 i = 0; i < HTTP2_OLD; i++)
		walk_http2_stream(h, &h->old[i], slot, pauses);
}

static void walk_socket(struct conversation *c, struct datagrams *d, struct http2 *h,
			const struct sock *sk)
{
	if (d)
		walk_datagrams(d, c->cache.slot, socket_datagrams(sk));
	if (h && socket_is_open(sk))
		walk_http2(h, c->cache.slot, sk);
	if (c->unsent)
		walk_unsent(c, sk);
	else if (!c->datagrams && c->protocol != PROTOCOL_FULL_DUPLEX && socket_is_open(sk))
		walk_stream(c, socket_has_unread(sk));
}

/* As walk_response(). */
static void walk_client_response(struct conversation *c, struct peer *p)
{
	struct client_row *row = client_row(slot_index(c->cache.slot));
	u32 was;

	if (!row || c->exchange.length == LENGTH_FINAL)
		return;
	if (c->exchange.settled_ns < previous_reading_ns) {
		client_ends(row, p, &c->exchange, reading_ns);
		return;
	}
	was = length_withdraw(&c->exchange, LENGTH_WITHDRAWN);
	if (was != LENGTH_WITHDRAWN)
		count_client_length(row, counted_upstream(p, reading_ns), was, -1);
}

/* A request that the service has sent to an upstream. p: NULL where the state is not in the
 * socket. */
static void walk_client(struct conversation *c, struct peer *p, const struct sock *sk)
{
	u64 settled_ns = load_ordered(&c->exchange.settled_ns);
	struct client_upstream *upstream;

	if (*(volatile u32 *)&c->exchange.phase == PHASE_RESPONDED) {
		if (socket_is_open(sk))
			walk_client_response(c, p);
		return;
	}
	upstream = p && peer_has_request(c, p, sk) ? upstream_at(p, reading_ns) : NULL;
	if (upstream)
		upstream_spend(upstream, p, &c->exchange,
			       walk_settle(&c->exchange.settled_ns, settled_ns, 0));
}

static bool is_walked(const struct conversation *c)
{
	return c->role == ROLE_SERVER && c->cache.watched &&
	       slot_cache_has_slot(&c->cache, &slot_owners);
}

static bool is_walked_client(const struct conversation *c)
{
	return option_clients && c->role == ROLE_CLIENT && c->cache.watched &&
	       (c->exchange.phase == PHASE_REQUESTED || c->exchange.phase == PHASE_RESPONDED) &&
	       slot_cache_has_slot(&c->cache, &client_owners);
}

__noinline int show_oldest(u32 slot)
{
	struct request_row *whole = request_row(slot * shards);

	if (!whole)
		return 0;
	whole->oldest_ns = whole->oldest_began_ns ? span_ns(whole->oldest_began_ns, reading_ns) : 0;
	whole->oldest_began_ns = 0;
	return 0;
}

/* Adds the growth of what this slot has counted. A slot may have the row of another service by
 * now. */
static void publish_growth(struct service_request *r, const struct request_sums *before,
			   const struct request_sums *now)
{
	add(&r->sums.exchanges, now->exchanges - before->exchanges);
	add(&r->sums.waiting_ns, now->waiting_ns - before->waiting_ns);
	add(&r->sums.in_progress_ns, now->in_progress_ns - before->in_progress_ns);
	add(&r->sums.send_wait_ns, now->send_wait_ns - before->send_wait_ns);
}

static void sum_shards(u32 slot, struct request_sums *ret_sums)
{
	for (u32 i = 0; i < shards && i < SHARDS_MAX; i++) {
		struct request_row *row = request_row(slot * shards + i);

		if (!row)
			return;
		ret_sums->exchanges += row->exchanges;
		ret_sums->waiting_ns += row->waiting_ns;
		ret_sums->in_progress_ns += row->in_progress_ns;
		ret_sums->send_wait_ns += row->send_wait_ns;
	}
}

__noinline int publish_slot(u32 slot)
{
	struct request_row *whole = request_row(slot * shards);
	u32 *owner = bpf_map_lookup_elem(&slot_owners, &slot), is;
	struct service_request *r;
	struct request_sums sums = {};
	struct samples *samples;

	if (!whole || !owner)
		return 0;
	is = slot ? *owner : SERVICE_OTHER + 1;
	r = is ? service_request_of(is - 1) : NULL;
	samples = is ? service_samples_of(is - 1) : NULL;
	if (!r || !samples)
		return 0;
	sum_shards(slot, &sums);
	if (whole->load.published_owner == is)
		publish_growth(r, &whole->load.published, &sums);
	else
		r->tail_ns = 0;
	whole->load.published = sums;
	whole->load.published_owner = is;
	r->tail_ns = whole->tail_ns ?: r->tail_ns;
	r->open_since_ns = reading_ns - whole->oldest_ns;
	r->samples = *samples;
	r->readings++;
	if (responses_wanted)
		responses_publish(is - 1, sums.exchanges);
	return 0;
}

static long publish_upstream(void *map, struct upstream_key *key, struct client_upstream *upstream,
			     void *context)
{
	struct service_request *r = service_request_of(key->service);

	if (r)
		add(&r->sums.upstream_ns,
		    publish_more(&upstream->published_ns, upstream->for_requests_ns));
	return 0;
}

static void walk_begins(void)
{
	previous_reading_ns = reading_ns;
	reading_ns = bpf_ktime_get_ns();
	read_ns = bpf_ktime_get_boot_ns();
}

static void walk_ends(void)
{
	listeners_read();
	hands_publish();
	if (option_clients)
		bpf_for_each_map_elem(&client_upstreams, publish_upstream, NULL, 0);
	for (u32 i = 0; i < slots_max; i++) {
		show_oldest(i);
		publish_slot(i);
	}
}

static void walk_conversation(struct conversation *c, struct sock *sk)
{
	if (is_before_attachment(c))
		return;
	if (is_walked(c))
		walk_socket(c, c->datagrams ? bpf_sk_storage_get(&datagrams, sk, NULL, 0) : NULL,
			    c->protocol == PROTOCOL_HTTP2
				    ? bpf_sk_storage_get(&http2_connections, sk, NULL, 0)
				    : NULL,
			    sk);
	else if (is_walked_client(c))
		walk_client(c, bpf_sk_storage_get(&peers, sk, NULL, 0), sk);
}

SEC("iter/bpf_sk_storage_map")
ITER_MAP(conversations)
HOOK_SET(1)
HOOK_SET(3)
int request_sockets(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	struct conversation *c = ctx->value;
	struct sock *sk = ctx->sk;

	if (ctx->meta->seq_num == 0)
		walk_begins();
	if (sk && c)
		walk_conversation(c, sk);
	else
		walk_ends();
	return 0;
}

/* Where the kernel refuses the iterator above. Several processes may have a socket open; one that
 * no process has open is not visited. */
SEC("iter/task_file")
HOOK_SET(2)
int request_files(struct bpf_iter__task_file *ctx)
{
	struct file *file = ctx->file;
	struct socket *socket = file ? bpf_sock_from_file(file) : NULL;
	struct sock *sk = socket ? socket->sk : NULL;
	struct conversation *c = sk ? bpf_sk_storage_get(&conversations, sk, NULL, 0) : NULL;

	if (ctx->meta->seq_num == 0)
		walk_begins();
	if (c && c->walked_ns != reading_ns) {
		c->walked_ns = reading_ns;
		walk_conversation(c, sk);
	}
	if (!file)
		walk_ends();
	return 0;
}

/* The socket may have been freed, and another be at its address. */
static bool addressed_ended(const struct conversation *c, const struct socket_key *at)
{
	const struct sock *sk = (const struct sock *)at->sk;

	return socket_ends(sk) != at->ends ||
	       (c->role == ROLE_SERVER && !c->datagrams && !socket_is_open(sk));
}

static long walk_addressed(void *map, struct socket_key *at, struct conversation *c, void *context)
{
	const struct sock *sk = (const struct sock *)at->sk;

	if (is_before_attachment(c))
		return 0;
	if (addressed_ended(c, at)) {
		conversation_ends(c);
		return 0;
	}
	if (is_walked(c))
		walk_socket(c, c->datagrams ? bpf_map_lookup_elem(&addressed_datagrams, at) : NULL,
			    c->protocol == PROTOCOL_HTTP2
				    ? bpf_map_lookup_elem(&addressed_http2, at)
				    : NULL,
			    sk);
	else if (is_walked_client(c))
		walk_client(c, NULL, sk);
	return 0;
}

static int walk_addresses(void)
{
	walk_begins();
	bpf_for_each_map_elem(&addressed, walk_addressed, NULL, 0);
	walk_ends();
	return 0;
}

SEC("syscall")
HOOK_SET(4)
int request_addresses_4(void *ctx)
{
	return walk_addresses();
}

SEC("syscall")
HOOK_SET(5)
OPTION("syscalls")
int request_addresses_5(void *ctx)
{
	return walk_addresses();
}

#endif
