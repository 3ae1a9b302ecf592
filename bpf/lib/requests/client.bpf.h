/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * A service as a client of upstreams: counts its requests on sockets that it has connected, and,
 * where the state is in the socket, those to each upstream, by its address.
 *
 * A request is open from its first send to the last receive of its response. A walk over the
 * sockets adds the time of requests without a response. One that ends otherwise is an error of the
 * upstream: the other side closes or resets the connection, or the service closes it after it has
 * waited for some time. What a client sends just before it closes, such as a farewell, is not an
 * error.
 *
 * Limits: that a service closes a UNIX socket with an open request is not seen.
 */
#ifndef CLIENT_BPF_H
#define CLIENT_BPF_H

#include "request.bpf.h"
#include "upstream_name.bpf.h"

#define CLIENT_UPSTREAMS 512
#define UPSTREAM_IDLE_NS 3600000000000ULL /* then its row is deleted */
#define GIVEN_UP_NS 50000000ULL           /* who closes later has waited for a response */
#define PAUSE_NS 100000000ULL             /* between two receives: a download has shorter ones */

struct client_upstream {
	u64 exchanges METRIC("total_requests-upstream") UNIT("exchanges")
		HELP("Requests to an upstream: as a client, by its address");
	u64 errors METRIC("errors-upstream") UNIT("errors") HELP(
		"Errors of an upstream: requests without a response, and connections that it did not accept");
	u64 in_progress_ns METRIC("gauge-requests_in_progress-upstream rank rate " NS) UNIT(
		"requests")
		HELP("Requests at an upstream: sent and not yet answered, average of the interval");
	struct hist latency METRIC("latency-upstream " NS) UNIT("seconds")
		HELP("Response time of an upstream: from the first send to the last receive");
	u64 begun_ns;
	u64 used_ns;
	/* Of in_progress_ns, while the service had a request that may have led to it. */
	u64 for_requests_ns;
	u64 published_ns; /* of that */
};

/* For each service also a row with an empty name, for upstreams without room. */
HASH(client_upstreams, struct upstream_key, struct client_upstream, CLIENT_UPSTREAMS)
HOOK_SET(1) HOOK_SET(2) HOOK_SET(3) OPTION("clients") SUBJECT("key");

/* Of a socket that a service has connected. */
struct peer {
	struct upstream_key key;
	bool named;
	bool responds;     /* has ever responded */
	u64 connecting_ns; /* when the connect started */
	/* begun_ns of the row that has the sample which moves while the response goes on */
	u64 counted_ns;
	u64 crowded_ns; /* the reading during which there was no room for it */
};

static const struct client_upstream no_upstream;

static volatile bool upstreams_crowded; /* since the last walk over the upstreams */

/* --- rows --- */

static __noinline struct client_upstream *upstream_enter(const struct upstream_key *key)
{
	struct client_upstream *upstream;

	/* Another CPU may have made it first: then that row is there. */
	bpf_map_update_elem(&client_upstreams, key, &no_upstream, BPF_NOEXIST);
	upstream = bpf_map_lookup_elem(&client_upstreams, key);
	if (upstream && !upstream->begun_ns)
		__sync_val_compare_and_swap(&upstream->begun_ns, 0, bpf_ktime_get_ns());
	return upstream;
}

/* Makes the row of an upstream. Without room, it is tried again after the next reading, and the row
 * without a name is returned. */
static __noinline struct client_upstream *upstream_begin(struct peer *p)
{
	struct upstream_key other_key = { .service = p->key.service };
	struct client_upstream *others = bpf_map_lookup_elem(&client_upstreams, &other_key), *own;

	others = others ?: upstream_enter(&other_key);
	if (p->crowded_ns && p->crowded_ns == reading_ns)
		return or_refused(others);
	own = upstream_enter(&p->key);
	if (own)
		return own;
	p->crowded_ns = reading_ns;
	upstreams_crowded = true;
	return or_refused(others);
}

/* NULL: no row. */
static __always_inline struct client_upstream *upstream_at(struct peer *p, u64 now)
{
	struct client_upstream *upstream;

	if (!p->named || !p->key.upstream[0])
		return NULL;
	upstream = bpf_map_lookup_elem(&client_upstreams, &p->key) ?: upstream_begin(p);
	if (upstream)
		upstream->used_ns = now;
	return upstream;
}

static __noinline void peer_name(struct peer *p, const struct sock *sk)
{
	struct upstream_key key = { .service = p->key.service };

	upstream_name(sk, &key);
	p->key = key; /* in one assignment: another thread may read it meanwhile */
	p->named = true;
}

/* --- requests --- */

/* Adds what a request to an upstream has taken. One that is older than all requests that the service
 * had open at the last reading serves none of them: a poll that waits for news, or a subscription. */
static __always_inline void upstream_spend(struct client_upstream *upstream, const struct peer *p,
					   const struct exchange *e, u64 ns)
{
	const struct service_request *r = service_request_of(p->key.service);

	add(&upstream->in_progress_ns, ns);
	if (r && e->requested_ns >= r->open_since_ns)
		add(&upstream->for_requests_ns, ns);
}

/* Each datagram of a socket may go to another upstream, so the name is read for each. */
static __always_inline void peer_request(struct peer *p, const struct conversation *c,
					 const struct sock *sk)
{
	if (!p->named || c->datagrams)
		peer_name(p, sk);
	p->key.service = c->cache.row;
}

/* Counts the length of a response, see exchange.bpf.h. upstream: NULL: none. */
static __always_inline void count_client_length(struct client_row *row,
						struct client_upstream *upstream, u32 length, u64 n)
{
	hist_count(&row->last, length_service(length), n);
	if (upstream)
		hist_count(&upstream->latency, length_service(length), n);
}

/* The first receive of a response. */
static __always_inline void peer_respond(struct peer *p, struct exchange *e, u64 now)
{
	struct client_upstream *upstream = upstream_at(p, now);

	p->responds = true;
	if (!upstream)
		return;
	add(&upstream->exchanges, 1);
	if (e->phase == PHASE_RESPONSE_STREAM)
		return;
	upstream_spend(upstream, p, e, exchange_unsettled(e, now));
	hist_count(&upstream->latency, length_service(e->length), 1);
	p->counted_ns = upstream->begun_ns;
}

/* The row of the upstream if that has the length of this response; NULL: it has not. */
static __always_inline struct client_upstream *counted_upstream(struct peer *p, u64 now)
{
	struct client_upstream *upstream = p ? upstream_at(p, now) : NULL;

	return upstream && p->counted_ns == upstream->begun_ns ? upstream : NULL;
}

static __noinline void client_extends(struct client_row *row, struct peer *p, struct exchange *e,
				      u64 now)
{
	struct client_upstream *upstream = p ? upstream_at(p, now) : NULL;
	u32 length, was;

	if (upstream)
		upstream_spend(upstream, p, e, exchange_unsettled(e, now));
	was = length_move(e, now, &length);
	if (was == LENGTH_WITHDRAWN)
		return;
	if (upstream && p->counted_ns != upstream->begun_ns)
		upstream = NULL;
	count_client_length(row, upstream, was, -1);
	count_client_length(row, upstream, length, 1);
}

/* A response, if there is one, has ended. p: NULL where the state is not in the socket. */
static __always_inline void client_ends(struct client_row *row, struct peer *p, struct exchange *e,
					u64 now)
{
	if (e->phase == PHASE_RESPONDED && length_finish(e))
		count_client_length(row, counted_upstream(p, now), length_until(e, e->settled_ns),
				    1);
}

/* Ends a request without a response. */
static __noinline void peer_end(struct peer *p, struct exchange *e, bool failed, u64 now)
{
	struct client_upstream *upstream;

	if (__sync_val_compare_and_swap(&e->phase, PHASE_REQUESTED, PHASE_IDLE) != PHASE_REQUESTED)
		return;
	upstream = upstream_at(p, now);
	if (!upstream)
		return;
	upstream_spend(upstream, p, e, exchange_unsettled(e, now));
	add(&upstream->errors, failed);
}

/* A request that goes on without a response, such as a log that is shipped, becomes a stream and is
 * not open any more. A datagram may have been lost; the next starts a new request. */
static __noinline void client_requests_on(struct conversation *c, u64 now)
{
	struct exchange *e = &c->exchange;

	if (c->datagrams && span_ns(e->requested_ns, now) > DATAGRAMS_TIMEOUT_NS)
		e->phase = PHASE_IDLE;
	else if (e->phase == PHASE_REQUESTED && is_long(e->requested_ns, now))
		e->phase = PHASE_REQUEST_STREAM;
}

/* p: NULL where the state is not in the socket. */
static __always_inline void client_sends(struct conversation *c, struct peer *p,
					 const struct sock *sk, u64 bytes, u64 now)
{
	struct client_row *row = client_row(slot_index(c->cache.slot));

	if (!row)
		return;
	add(&row->tx_bytes, bytes);
	if (c->exchange.phase == PHASE_REQUESTED)
		client_requests_on(c, now);
	client_ends(row, p, &c->exchange, now);
	if (exchange_request(&c->exchange, now) && p)
		peer_request(p, c, sk);
}

/* A receive after a long response and a pause is a notification to a subscriber, not part of that
 * response. */
static __always_inline bool is_notice(const struct exchange *e, u64 now)
{
	return is_long(e->responded_ns, now) && span_ns(e->settled_ns, now) > PAUSE_NS;
}

static __always_inline void client_receives(struct conversation *c, struct peer *p, u64 bytes,
					    u64 now)
{
	struct client_row *row = client_row(slot_index(c->cache.slot));
	struct exchange *e = &c->exchange;

	if (!row)
		return;
	add(&row->rx_bytes, bytes);
	if (e->phase == PHASE_REQUESTED) {
		e->responded_ns = now;
		e->length = length_until(e, now);
		add(&row->exchanges, 1);
		hist_count(&row->last, length_service(e->length), 1);
		hist_count(&row->first, length_service(e->length), 1);
		if (p)
			peer_respond(p, e, now);
		e->settled_ns = now;
		e->phase = PHASE_RESPONDED;
	} else if (e->phase == PHASE_REQUEST_STREAM) {
		e->phase = PHASE_RESPONSE_STREAM;
		add(&row->exchanges, 1);
		if (p)
			peer_respond(p, e, now);
	} else if (e->phase == PHASE_RESPONDED) {
		if (e->length == LENGTH_FINAL || (p && is_notice(e, now))) {
			client_ends(row, p, e, now);
			e->phase = PHASE_RESPONSE_STREAM;
			return;
		}
		client_extends(row, p, e, now);
		e->settled_ns = now;
	}
}

/* --- connections --- */

/* May a call with this result have reported that the other side has closed or reset the
 * connection? */
static __always_inline bool may_break(int ret)
{
	switch (ret) {
	case 0:
	case -EPIPE:
	case -ECONNRESET:
	case -ECONNREFUSED:
	case -ETIMEDOUT:
	case -EHOSTUNREACH:
	case -ENETUNREACH:
		return true;
	default:
		return false;
	}
}

/* Has it? */
static __always_inline bool is_broken(const struct conversation *c, const struct sock *sk, int ret)
{
	return ret || (!c->datagrams && BPF_CORE_READ(sk, sk_shutdown) & RCV_SHUTDOWN);
}

static void peer_connect(struct peer *p, const struct conversation *c, const struct sock *sk,
			 u64 now)
{
	peer_name(p, sk);
	p->key.service = c->cache.row;
	p->connecting_ns = now;
}

/* The upstream has not accepted a connection. One that is abandoned at once has lost a race and is
 * no error. */
static void peer_refuses(struct peer *p, bool failed, u64 now)
{
	struct client_upstream *upstream = failed ? upstream_at(p, now) : NULL;

	if (upstream)
		add(&upstream->errors, 1);
}

/* The state of a TCP connection changes: a request ends if the connection has failed or the service
 * has closed it. If the other side has closed it, a call reports that when all data is received. */
static void peer_changes(struct conversation *c, struct peer *p, const struct sock *sk, int before,
			 int state, u64 now)
{
	bool failed = state == TCP_CLOSE && BPF_CORE_READ(sk, sk_err);

	if (before == TCP_SYN_SENT && state == TCP_CLOSE)
		peer_refuses(p, failed || span_ns(p->connecting_ns, now) > GIVEN_UP_NS, now);
	else if ((failed || !socket_is_in_use(sk)) && !socket_has_unread(sk))
		peer_end(p, &c->exchange,
			 failed || span_ns(c->exchange.requested_ns, now) > GIVEN_UP_NS, now);
}

/* --- walks --- */

/* Is a request open? Datagrams are requests only to an upstream that has ever responded. */
static bool peer_has_request(const struct conversation *c, const struct peer *p,
			     const struct sock *sk)
{
	if (!c->cache.watched || *(volatile u32 *)&c->exchange.phase != PHASE_REQUESTED)
		return false;
	if (c->datagrams)
		return p->responds &&
		       span_ns(c->exchange.requested_ns, reading_ns) < DATAGRAMS_TIMEOUT_NS;
	return socket_is_open(sk);
}

/* Unused for long, or in the way of upstreams without room: then those go that have been idle for
 * longer than they were in use, so that many upstreams that are used once do not displace the
 * others. */
static bool upstream_is_idle(const struct upstream_key *key, const struct client_upstream *upstream)
{
	u64 used_ns = upstream->used_ns, idle_ns = span_ns(used_ns, reading_ns);

	if (idle_ns > UPSTREAM_IDLE_NS)
		return true;
	return upstreams_crowded && key->upstream[0] && used_ns < previous_began_ns &&
	       idle_ns > span_ns(upstream->begun_ns, used_ns);
}

static long forget_idle(void *map, struct upstream_key *key, struct client_upstream *upstream,
			void *context)
{
	if (upstream_is_idle(key, upstream))
		bpf_map_delete_elem(&client_upstreams, key);
	return 0;
}

SEC("syscall")
OPTION("clients")
int request_upstreams(void *ctx)
{
	bpf_for_each_map_elem(&client_upstreams, forget_idle, NULL, 0);
	upstreams_crowded = false;
	return 0;
}

#endif
