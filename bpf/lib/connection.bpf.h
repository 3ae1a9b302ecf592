/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * A connection of TCP: what its socket remembers, and what of it counts for its service.
 */
#ifndef CONNECTION_BPF_H
#define CONNECTION_BPF_H

#include "kernel/net.bpf.h"
#include "holders.bpf.h"
#include "services/service_slot.bpf.h"

#define NS "scale=1/1000000000"
#define US "scale=1/1000000"

#define GROW_TRIES 3
#define QUEUE_FULL 1000000

/* What a walk finds of a service, in its first shard. */
struct found {
	u64 open;
	u64 close_wait;
	u64 unaccepted;
	u64 queue;     /* parts of QUEUE_FULL, of the listener whose queue is fullest */
	u64 queue_max; /* QUEUE_FULL, if there is a listener */
};

struct tcp_row {
	u64 connected METRIC("total_connections-connected") UNIT("connections")
		HELP("Connections opened: by the service, to others");
	u64 accepted METRIC("total_connections-accepted") UNIT("connections")
		HELP("Connections accepted: established on sockets on which the service listens");
	u64 closed METRIC("total_connections-closed") UNIT("connections")
		HELP("Connections closed: by both sides, or aborted");
	u64 failed METRIC("errors-connect") UNIT("connects")
		HELP("Failed connects: with an error, or abandoned");
	u64 refused METRIC("errors-connect_refused") UNIT("connects")
		HELP("Refused connects: ECONNREFUSED") DEFAULT(off);
	u64 unanswered METRIC("errors-connect_timeout") UNIT("connects")
		HELP("Connects that timed out: ETIMEDOUT") DEFAULT(off);
	u64 unreachable METRIC("errors-connect_unreachable") UNIT("connects")
		HELP("Connects to unreachable hosts: ENETUNREACH and EHOSTUNREACH") DEFAULT(off);
	u64 abandoned METRIC("errors-connect_abandoned") UNIT("connects")
		HELP("Abandoned connects: closed by the program after 50 ms or more") DEFAULT(off);
	u64 rx_bytes METRIC("if_octets-tcp:rx") UNIT("bytes")
		HELP("Received by TCP: on all connections") DEFAULT(off);
	u64 tx_bytes METRIC("if_octets-tcp:tx") UNIT("bytes")
		HELP("Sent by TCP: on all connections, retransmits left out") DEFAULT(off);
	u64 retransmits METRIC("total_events-retransmits") UNIT("segments")
		HELP("Retransmits: segments sent again");
	u64 resent_bytes METRIC("percent-retransmitted per=sent_bytes scale=100/1") UNIT("percent")
		HELP("Retransmitted share: bytes sent again, of all bytes sent") DEFAULT(off);
	u64 sent_bytes;
	u64 resets_received METRIC("total_events-resets_received") UNIT("resets")
		HELP("Resets received: on established connections");
	u64 resets_sent METRIC("total_events-resets_sent") UNIT("resets")
		HELP("Resets sent: by the service's sockets") DEFAULT(off);
	u64 timeouts METRIC("total_events-connection_timeouts") UNIT("connections")
		HELP("Connections that timed out: the other side no longer responds") DEFAULT(off);
	/* As of the last walk, in the first shard. */
	u64 open METRIC("current_connections") UNIT("connections")
		HELP("Open connections: held by the service; if they only grow, it leaks them");
	u64 close_wait METRIC("current_connections-close_wait") UNIT("connections")
		HELP("Connections in CLOSE_WAIT: closed by the other side, but not by the service");
	u64 unaccepted METRIC("current_connections-unaccepted") UNIT("connections")
		HELP("Unaccepted connections: established, waiting for accept") DEFAULT(off);
	u64 queue METRIC("percent-accept_queue highest of=queue_max scale=100/1") UNIT("percent")
		HELP("Accept queue: fill level of the fullest listening socket");
	u64 queue_max;
	struct hist connect METRIC("latency-connect " NS) UNIT("seconds")
		HELP("Connect latency: from the first packet until the connection is established")
			DEFAULT(off);
	struct hist rtt METRIC("latency-rtt " US) UNIT("seconds")
		HELP("Round-trip time: smoothed, of connections that send") DEFAULT(off);
	struct hist lifetime METRIC("duration-connection " US) UNIT("seconds")
		HELP("Connection lifetime: from established until closed by both sides")
			DEFAULT(off);
	struct hist received METRIC("bytes-connection_received least") UNIT("bytes")
		HELP("Bytes received per connection: when it ends") DEFAULT(off);
	struct hist sent METRIC("bytes-connection_sent least") UNIT("bytes")
		HELP("Bytes sent per connection: when it ends, retransmits left out") DEFAULT(off);
	struct found found;
};

MMAP_ARRAY(tcp_services, struct tcp_row, 1)
SUBJECT("service via=row_slots owners=slot_owners sharded");

enum connection_phase {
	CONNECTION_NONE, /* closed, or not counted */
	CONNECTION_LISTENS,
	CONNECTION_CONNECTS,
	CONNECTION_ARRIVES,
	CONNECTION_OPEN,
};

/* Of a socket: which of its bytes and segments have been counted. */
struct connection {
	u64 began_ns; /* start of its phase, 0: before the probe */
	u64 sent, resent, received;
	u64 retransmits;
	u64 walk; /* last one to visit it, where a walk visits a socket several times */
	u32 phase;
	u32 row;
	struct holders holders;
	/* With Option "opened", see opened.bpf.h: */
	u64 opening;
	u32 opener;
	u32 opener_row;
};

SK_STORAGE_CLONED(connections, struct connection);

/* --- rows --- */

static __always_inline struct tcp_row *tcp_row_at(u32 index)
{
	return bpf_map_lookup_elem(&tcp_services, &index);
}

static __always_inline struct tcp_row *tcp_row_of(const struct connection *c)
{
	return tcp_row_at(slot_index(slot_claim(c->row)));
}

static __always_inline struct connection *connection_of(struct sock *sk)
{
	return bpf_sk_storage_get(&connections, sk, NULL, 0);
}

/* Returns what has not been counted yet of a counter, and marks it as counted. A hook and a walk
 * may do so at the same time. */
static __always_inline u64 claim_growth(u64 *counted, u64 now)
{
	for (int i = 0; i < GROW_TRIES; i++) {
		u64 was = *(volatile u64 *)counted;

		if (now <= was)
			return 0;
		if (__sync_val_compare_and_swap(counted, was, now) == was)
			return now - was;
	}
	return 0;
}

/* --- what TCP has counted --- */

/* TCP counts the FIN of the other side as a byte. */
static __always_inline u64 tcp_received(const struct tcp_sock *tcp, const struct sock *sk)
{
	u64 bytes = tcp->bytes_received;

	return bytes && sk->__sk_common.skc_flags >> SOCK_DONE & 1 ? bytes - 1 : bytes;
}

static __always_inline u64 tcp_sent(const struct tcp_sock *tcp)
{
	return grown(tcp->bytes_sent, tcp->bytes_retrans);
}

/* What was before does not count. */
static __always_inline void count_from_here(struct connection *c, struct sock *sk)
{
	struct tcp_sock *tcp = bpf_skc_to_tcp_sock(sk);

	if (!tcp)
		return;
	c->sent = tcp_sent(tcp);
	c->resent = tcp->bytes_retrans;
	c->received = tcp_received(tcp, sk);
	c->retransmits = tcp->total_retrans;
}

/* Counts what was added since the last visit. The round-trip time only of connections that have
 * sent since: that of the others is old. */
static __always_inline void count_growth(struct connection *c, struct tcp_row *row, struct sock *sk)
{
	struct tcp_sock *tcp = bpf_skc_to_tcp_sock(sk);
	u64 first, again;

	if (!tcp)
		return;
	first = claim_growth(&c->sent, tcp_sent(tcp));
	again = claim_growth(&c->resent, tcp->bytes_retrans);
	add(&row->tx_bytes, first);
	add(&row->sent_bytes, first + again);
	add(&row->resent_bytes, again);
	add(&row->rx_bytes, claim_growth(&c->received, tcp_received(tcp, sk)));
	add(&row->retransmits, claim_growth(&c->retransmits, tcp->total_retrans));
	if (first && tcp->srtt_us)
		hist_add(&row->rtt, tcp->srtt_us >> 3);
}

#endif
