/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What is counted of a service's requests, and what a socket remembers of its conversation.
 */
#ifndef CONVERSATION_BPF_H
#define CONVERSATION_BPF_H

#include "attached.bpf.h"
#include "buffer.bpf.h"
#include "datagram.bpf.h"
#include "gap.bpf.h"
#include "inspection.bpf.h"
#include "load.bpf.h"
#include "response.bpf.h"
#include "services/service_slot.bpf.h"
#include "serving.bpf.h"
#include "socket.bpf.h"
#include "storage.bpf.h"
#include "walk.bpf.h"

#define NS "scale=1/1000000000"

const volatile bool option_clients = false; /* count the client side of services, too */

/* Seconds. A response or request that goes on with pauses for longer is a stream. */
const volatile u32 stream_after RANGE(1, 3600) = 10;

static u64 reading_ns; /* start of the last reading */
static u64 previous_reading_ns;

#define SHARDS_MAX 8

struct request_row {
	/* Of the whole service, in its first shard only. */
	u64 last_receive_ns;
	u64 last_send_ns;
	u64 oldest_began_ns; /* during a walk over the sockets, 0: none yet */
	u64 apart[5];        /* fills the cache line */

	u64 exchanges METRIC("total_requests") UNIT("exchanges")
		HELP("Requests: each is what a client sends, and the response to it");
	u64 streams METRIC("total_requests-streams") UNIT("exchanges") HELP(
		"Streams: exchanges that last longer than stream_after with pauses; they have no latency")
		DEFAULT(off);
	u64 full_duplex METRIC("total_requests-full_duplex") UNIT("exchanges") HELP(
		"Full-duplex turns: on connections where both sides send at any time; not requests")
		DEFAULT(off);
	u64 acknowledgements METRIC("total_requests-acknowledgements") UNIT("exchanges")
		HELP("Acknowledgements: of messages that the server sent unasked; not requests")
			DEFAULT(off);
	u64 rx_bytes METRIC("if_octets:rx") UNIT("bytes")
		HELP("Received: on sockets that the service has accepted or bound");
	u64 tx_bytes METRIC("if_octets:tx") UNIT("bytes")
		HELP("Sent: on sockets that the service has accepted or bound");
	struct moments receive_gap METRIC("gauge-receive_gap frequency " NS) UNIT("seconds") HELP(
		"Gap between receives: on all connections as one trace; frequency is receives per second")
		DEFAULT(off);
	struct moments send_gap METRIC("gauge-send_gap frequency " NS) UNIT("seconds") HELP(
		"Gap between sends: on all connections as one trace; frequency is sends per second")
		DEFAULT(off);
	struct hist wait METRIC("latency-wait " NS) UNIT("seconds")
		HELP("Wait in the socket buffer: from the arrival of data to its first receive")
			DEFAULT(off);
	struct hist service_first METRIC("latency-service_first " NS) UNIT("seconds")
		HELP("Service time, to the first send: from the first receive") DEFAULT(off);
	struct hist service METRIC("latency-service " NS) UNIT("seconds")
		HELP("Service time, to the last send: from the first receive") DEFAULT(off);
	struct hist response METRIC("latency-response tail=tail_ns " NS) UNIT("seconds")
		HELP("Response time: from the arrival of data to the last send");
	u64 in_progress_ns METRIC("gauge-requests_in_progress rate " NS) UNIT("requests") HELP(
		"Requests in progress: between first receive and last send, average of the interval");
	u64 waiting_ns METRIC("gauge-requests_waiting rate " NS) UNIT("requests") HELP(
		"Requests waiting: in the socket, before the first receive, average of the interval");
	u64 unread METRIC("total_connections-unread") UNIT("connections") HELP(
		"Connections not inspected: unreadable, or HTTP/2 inside TLS; turns are counted instead of requests")
		DEFAULT(off);
	u64 send_wait_ns METRIC("gauge-send_wait per=exchanges " NS) UNIT("seconds") HELP(
		"Wait in the send buffer: from the last send until everything has gone out, average of all requests");
	u64 handshakes METRIC("total_connections-tls_handshakes") UNIT("handshakes")
		HELP("TLS handshakes: completed by clients") DEFAULT(off);
	u64 handshake_ns METRIC("gauge-tls_handshake per=handshakes " NS) UNIT("seconds")
		HELP("TLS handshake: from its first bytes to its end, average of the interval")
			DEFAULT(off);
	/* In the first shard only. */
	u64 oldest_ns METRIC("gauge-requests_oldest highest " NS) UNIT("seconds")
		HELP("Oldest request: age of the oldest request that waits or is in progress");
	u64 slack_ns METRIC("percent-slack per=elapsed_ns scale=100/1") UNIT("percent") HELP(
		"Slack: remaining capacity, the smaller of slack of threads and of CPUs; 0 means saturated");
	u64 elapsed_ns;
	u64 free_ns METRIC("percent-slack_threads per=serving_ns scale=100/1") UNIT("percent")
		HELP("Slack, threads: share of time in which the serving threads were free");
	u64 serving_ns;
	u64 room_ns METRIC("percent-slack_cpus per=cpus_ns scale=100/1") UNIT("percent")
		HELP("Slack, CPUs: share of CPU time that the serving threads could still use");
	u64 cpus_ns;
	u64 cpu_ns METRIC("gauge-request_cpu per=cpu_exchanges " NS) UNIT("seconds")
		HELP("CPU time per request: CPU time of the service divided by its requests");
	u64 cpu_exchanges;
	u64 capacity METRIC("gauge-request_capacity of=capacity_known scale=1/1000") UNIT(
		"requests per second")
		HELP("Capacity: request rate at which the CPUs of the service would be fully used");
	u64 capacity_known;
	u64 tail_ns; /* where the slowest 5 % of the response times of the last interval begin */
	struct load load; /* in the first shard only */
};

MMAP_ARRAY(requests, struct request_row, 1)
SUBJECT("service via=row_slots owners=slot_owners sharded");

/* What costs at each call, and is counted only where it is collected. */
const volatile bool collects_requests_receive_gap, collects_requests_send_gap;
const volatile bool collects_requests_wait;

/* A service as a client of upstreams. */
struct client_row {
	u64 exchanges METRIC("total_requests-client") UNIT("exchanges")
		HELP("Requests as a client: on sockets that the service has connected");
	u64 rx_bytes METRIC("if_octets-client:rx") UNIT("bytes")
		HELP("Received as a client: on sockets that the service has connected");
	u64 tx_bytes METRIC("if_octets-client:tx") UNIT("bytes")
		HELP("Sent as a client: on sockets that the service has connected");
	struct hist first METRIC("latency-client_first " NS) UNIT("seconds")
		HELP("Response time as a client, first: from the first send to the first receive")
			DEFAULT(off);
	struct hist last METRIC("latency-client " NS) UNIT("seconds")
		HELP("Response time as a client: from the first send to the last receive");
};

MMAP_ARRAY(client_slots, u32, 1) OPTION("clients");
MMAP_ARRAY(client_owners, u32, 1) OPTION("clients");

MMAP_ARRAY(clients, struct client_row, 1)
OPTION("clients") SUBJECT("service via=client_slots owners=client_owners sharded");

/* Of a socket: its service, and the phase of its exchange. */
struct conversation {
	struct slot_cache cache;
	u32 tgid;
	u32 role;
	bool datagrams;
	bool unseen;     /* bytes may have passed without being counted */
	bool classified; /* its responses are classified */
	u8 unasked;      /* sends without a request, see unasked.bpf.h */
	u8 doubts;       /* turns in a row that seem not to be acknowledgements */
	u8 protocol;
	struct inspection inspection;
	/* Records that a client sends, and those that a service as a client receives. */
	struct tls tls, tls_responses;
	struct handshake handshake;
	struct served served;
	u64 attached_ns; /* value of the global attached_ns when this was made */
	u64 walked_ns;   /* last reading to visit it, where a walk visits a socket several times */
	u64 ready_ns;    /* arrival of data that has not been received yet, 0: there is none */
	u64 latest_ns;   /* the last arrival of data */
	u64 waited_ns; /* until then the wait since ready_ns is in the row; counts if it is later */
	u32 unsent;    /* 1: the send buffer has bytes of the response, up to unsent_end */
	u32 unsent_end;
	struct exchange exchange;
};

static __always_inline struct request_row *request_row(u32 index)
{
	return bpf_map_lookup_elem(&requests, &index);
}

static __always_inline struct request_row *conversation_row(const struct conversation *c)
{
	return request_row(slot_index(c->cache.slot));
}

static __always_inline struct client_row *client_row(u32 index)
{
	return bpf_map_lookup_elem(&clients, &index);
}

static __always_inline void conversation_init(struct conversation *c, const struct sock *sk)
{
	c->role = socket_role(sk);
	c->datagrams = socket_is_datagram(sk);
	c->protocol = !payload || c->datagrams || c->role == ROLE_NONE ? PROTOCOL_ALTERNATING
								       : PROTOCOL_NEW;
	c->served.sk = (u64)sk;
	c->attached_ns = attached_ns;
}

/* Before the latest attachment the conversation may have gone on unseen, like one that is older than
 * the probe. */
static __always_inline bool is_before_attachment(const struct conversation *c)
{
	return c->attached_ns != attached_ns;
}

__noinline u32 claim_client_slot(u32 row)
{
	return slot_claim_from(&client_slots, &client_owners, row);
}

/* The first service of a slot has no gap to the last event of the service before it. */
static u32 claim_server_slot(u32 row)
{
	u32 slot = slot_find(&row_slots, row);
	struct request_row *whole;

	if (slot)
		return slot;
	slot = slot_claim(row);
	whole = slot ? request_row(slot * shards) : NULL;
	if (whole) {
		whole->last_receive_ns = 0;
		whole->last_send_ns = 0;
	}
	return slot;
}

/* Two calls with constant maps: so the verifier knows each map and inlines the look-up. */
static __always_inline bool conversation_is_old(const struct conversation *c)
{
	if (option_clients && c->role == ROLE_CLIENT)
		return slot_cache_is_old(&c->cache, &client_owners);
	barrier();
	return slot_cache_is_old(&c->cache, &slot_owners);
}

/* What was counted in the old slot stays there. */
static __noinline void conversation_assign(struct conversation *c, struct task_struct *task)
{
	bool unseen = c->tgid && !c->cache.watched, client = c->role == ROLE_CLIENT;
	u32 freed = client ? slots_freed(&client_owners) : slots_freed(&slot_owners), slot = 0;

	slot_cache_renew(&c->cache, task);
	c->tgid = task->tgid;
	c->served.inode = socket_inode((const struct sock *)c->served.sk);
	c->classified = !client && service_has_responses(c->cache.row);
	if (unseen) {
		c->ready_ns = 0; /* what came before was received unseen */
		c->unseen = true;
	}
	if (c->cache.watched)
		slot = client ? claim_client_slot(c->cache.row) : claim_server_slot(c->cache.row);
	if (c->exchange.phase == PHASE_RESPONDED && c->cache.slot != slot) {
		c->exchange.phase = PHASE_IDLE;
		c->unsent = 0;
	}
	slot_cache_set(&c->cache, slot, freed);
}

/* Finds the service of the socket again where it may have changed. false: its calls do not count.
 * The current process is only compared when an exchange may start (begins), so that an exchange
 * belongs to one service. */
static __always_inline bool conversation_own(struct conversation *c, bool begins)
{
	struct task_struct *task;

	if (c->role != ROLE_SERVER && !(option_clients && c->role == ROLE_CLIENT))
		return false;
	task = current_task(); /* here, since all that comes later needs it, too */
	begins |= !c->tgid;
	if ((begins && c->tgid != (u32)task->tgid) || conversation_is_old(c))
		conversation_assign(c, task);
	return c->cache.watched;
}

/* Data that arrives while a request is in progress belongs to it, or waits for the next exchange:
 * that has waited since the data arrived. */
static __always_inline void end_wait(struct conversation *c, struct request_row *row, u64 now)
{
	u64 arrived_ns = c->ready_ns;
	u64 from_ns = __sync_lock_test_and_set(&c->waited_ns, arrived_ns);

	c->exchange.arrived_ns = arrived_ns;
	add(&row->waiting_ns, span_ns(from_ns > arrived_ns ? from_ns : arrived_ns, now));
}

/* last_offset: of the time of the last event, in the first shard. */
static __always_inline void count_gap_of(const struct conversation *c, struct moments *gaps,
					 u32 last_offset, u64 now)
{
	struct request_row *whole = request_row(c->cache.slot * shards);

	if (whole)
		count_gap(gaps, (void *)whole + last_offset, now);
}

/* Counts a call of a server, of whatever protocol. NULL: no row. */
static __always_inline struct request_row *count_receive(const struct conversation *c, u64 bytes,
							 u64 now)
{
	struct request_row *row = conversation_row(c);

	if (!row)
		return NULL;
	if (collects_requests_receive_gap)
		count_gap_of(c, &row->receive_gap, offsetof(struct request_row, last_receive_ns),
			     now);
	add(&row->rx_bytes, bytes);
	return row;
}

static __always_inline struct request_row *count_send(const struct conversation *c, u64 bytes,
						      u64 now)
{
	struct request_row *row = conversation_row(c);

	if (!row)
		return NULL;
	if (collects_requests_send_gap)
		count_gap_of(c, &row->send_gap, offsetof(struct request_row, last_send_ns), now);
	add(&row->tx_bytes, bytes);
	return row;
}

static __always_inline bool is_long(u64 since_ns, u64 now)
{
	return span_ns(since_ns, now) > stream_after * 1000000000ULL;
}

#endif
