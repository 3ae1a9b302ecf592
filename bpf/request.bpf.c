/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Requests: what a service does, from its sockets, without a look at any
 * protocol. A socket that the service has accepted alternates between
 * receiving a request and sending the response; sending that begins after
 * receiving is an exchange. Beside it the gaps between the receives and
 * between the sends of the whole service, whose mean and variance are
 * equations 1 and 2 of the paper on request-level metrics.
 *
 * Hooks, tier 1: tp_btf sock_recv_length and sock_send_length (each call on a
 * socket, also by io_uring) and sk_data_ready (data for the reader: when a
 * request arrived). Tier 2: fexit of the families' recvmsg, sendmsg and
 * sendpage, fentry of sock_def_readable. Both: iter/task at each reading.
 *
 * Limits: where requests are pipelined or multiplexed over one connection
 * (HTTP/2) an exchange is a turn of the conversation, not a request. A
 * listener with a backlog of 0 accepts what looks like connections of a
 * client. splice from a socket into a pipe is not seen.
 */
#include "slot.bpf.h"

#define NS "scale=1/1000000000"

const volatile bool watch_other = true; /* processes of no service count, too */

struct request_row {
	/* Of the whole service, in its first shard only. */
	u64 last_receive_ns;
	u64 last_send_ns;
	u64 apart[6]; /* the rest of the cache line */

	u64 exchanges METRIC("total_requests");
	u64 rx_bytes METRIC("if_octets:rx");
	u64 tx_bytes METRIC("if_octets:tx");
	struct moments receive_gap METRIC("gauge-receive_gap frequency " NS);
	struct moments send_gap METRIC("gauge-send_gap frequency " NS);
	struct hist wait METRIC("latency-wait " NS);
	struct hist service_first METRIC("latency-service_first " NS);
	struct hist service METRIC("latency-service " NS);
	struct hist response METRIC("latency-response " NS);
	u64 slack_ns METRIC("percent-slack_estimate per=serving_ns scale=100/1");
	u64 serving_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct request_row);
} requests SEC(".maps") SUBJECT("service via=row_slots owners=slot_owners sharded");

enum role { ROLE_NONE, ROLE_SERVER, ROLE_CLIENT };
enum phase { PHASE_IDLE, PHASE_REQUEST, PHASE_RESPONSE };

/* Of a socket: whose it is, and how far its exchange is. */
struct conversation {
	u64 moves; /* of service_moves when the slot was asked for */
	u32 tgid;
	u32 row;
	u32 slot;
	u32 role;
	u32 phase;
	u64 ready_ns;    /* data that nobody has received yet, 0: none */
	u64 arrived_ns;  /* the request's first data */
	u64 received_ns; /* its first receive */
	u32 service_bucket;
	u32 response_bucket;
	u32 thread; /* the last that has answered */
	u32 watched;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct conversation);
} conversations SEC(".maps");

/* Of a thread that has answered a request. */
struct serving {
	u64 seen_ns;
	u64 busy_ns; /* ran or waited to run, until then */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct serving);
} servings SEC(".maps");

static struct request_row *row_at(u32 index)
{
	return bpf_map_lookup_elem(&requests, &index);
}

/* Streams and datagrams of a network, and UNIX streams. */
static bool talks(const struct sock *sk)
{
	switch (sk->__sk_common.skc_family) {
	case AF_INET:
	case AF_INET6:
		return sk->sk_type == SOCK_STREAM || sk->sk_type == SOCK_DGRAM;
	case AF_UNIX:
		return sk->sk_type == SOCK_STREAM;
	}
	return false;
}

/* What accept returns has inherited from its listener: the backlog (TCP) or
 * the address (UNIX). A datagram server has bound a port and no peer. */
static enum role role_of(const struct sock *sk)
{
	bool server;

	if (sk->__sk_common.skc_family == AF_UNIX)
		server = BPF_CORE_READ((const struct unix_sock *)sk, addr);
	else if (sk->sk_type == SOCK_STREAM)
		server = sk->sk_max_ack_backlog;
	else
		server = BPF_CORE_READ_BITFIELD(sk, sk_userlocks) & SOCK_BINDPORT_LOCK &&
			 sk->__sk_common.skc_state != TCP_ESTABLISHED;
	return server ? ROLE_SERVER : ROLE_CLIENT;
}

static struct conversation *begin(const struct sock *sk)
{
	struct conversation new = { .role = role_of(sk) };

	return bpf_sk_storage_get(&conversations, (void *)sk, &new, BPF_SK_STORAGE_GET_F_CREATE);
}

/* Asks for the slot of the process that uses the socket now, where that may
 * have changed; false: the maps are not there. */
static bool own(struct conversation *c, struct task_struct *task)
{
	u64 *moves = service_moved();
	struct service_task *st;

	if (!moves)
		return false;
	if (c->tgid == (u32)task->tgid && c->moves == *moves && slot_is_of(c->slot, c->row))
		return c->watched;
	c->moves = *moves;
	c->tgid = task->tgid;
	st = service_task(task->group_leader);
	c->row = st ? st->row : SERVICE_OTHER;
	c->watched = c->row != SERVICE_OTHER || watch_other;
	c->slot = c->watched ? slot_take(c->row) : 0;
	return c->watched;
}

static struct conversation *conversation(struct sock *sk, int ret, int flags)
{
	struct conversation *c;

	if (ret <= 0 || flags & MSG_PEEK || !talks(sk))
		return NULL;
	c = bpf_sk_storage_get(&conversations, sk, NULL, 0);
	if (!c)
		c = begin(sk);
	if (!c || c->role != ROLE_SERVER || !own(c, bpf_get_current_task_btf()))
		return NULL;
	return c;
}

/* Time since the last event of the whole service. An event that another CPU
 * has overtaken has no gap, so that the sum of gaps is the time from the first
 * event to the last. The clock is read after `last`. */
static u64 gap(u64 *last, u64 *ret_now)
{
	u64 was = *(volatile u64 *)last, now = bpf_ktime_get_ns(), seen;

	*ret_now = now;
	for (int i = 0; i < 4 && was < now; i++) {
		seen = __sync_val_compare_and_swap(last, was, now);
		if (seen == was)
			return was ? now - was : 0;
		was = seen;
	}
	return 0;
}

static void receive(struct sock *sk, int ret, int flags)
{
	struct conversation *c = conversation(sk, ret, flags);
	struct request_row *row, *whole;
	u64 now, gap_ns;

	if (!c)
		return;
	row = row_at(slot_index(c->slot));
	whole = row_at(c->slot * shards);
	if (!row || !whole)
		return;
	gap_ns = gap(&whole->last_receive_ns, &now);
	add(&row->rx_bytes, ret);
	moments_add(&row->receive_gap, gap_ns);
	if (c->phase != PHASE_REQUEST) {
		c->phase = PHASE_REQUEST;
		c->received_ns = now;
		c->arrived_ns = c->ready_ns && c->ready_ns < now ? c->ready_ns : now;
	}
	c->ready_ns = 0;
}

static void serve(struct conversation *c, struct task_struct *task)
{
	if (c->thread == (u32)task->pid)
		return;
	c->thread = task->pid;
	bpf_task_storage_get(&servings, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

static void answer(struct conversation *c, struct request_row *row, u64 now)
{
	c->phase = PHASE_RESPONSE;
	c->service_bucket = hist_index(now - c->received_ns);
	c->response_bucket = hist_index(now - c->arrived_ns);
	add(&row->exchanges, 1);
	hist_add(&row->wait, c->received_ns - c->arrived_ns);
	hist_count(&row->service_first, c->service_bucket, 1);
	hist_count(&row->service, c->service_bucket, 1);
	hist_count(&row->response, c->response_bucket, 1);
	serve(c, bpf_get_current_task_btf());
}

/* The response goes on: what is counted of it moves to a later bucket. */
static void answer_on(struct conversation *c, struct request_row *row, u64 now)
{
	u32 service = hist_index(now - c->received_ns);
	u32 response = hist_index(now - c->arrived_ns);

	if (service != c->service_bucket) {
		hist_count(&row->service, c->service_bucket, -1);
		hist_count(&row->service, service, 1);
		c->service_bucket = service;
	}
	if (response != c->response_bucket) {
		hist_count(&row->response, c->response_bucket, -1);
		hist_count(&row->response, response, 1);
		c->response_bucket = response;
	}
}

static void send(struct sock *sk, int ret)
{
	struct conversation *c = conversation(sk, ret, 0);
	struct request_row *row, *whole;
	u64 now, gap_ns;

	if (!c)
		return;
	row = row_at(slot_index(c->slot));
	whole = row_at(c->slot * shards);
	if (!row || !whole)
		return;
	gap_ns = gap(&whole->last_send_ns, &now);
	add(&row->tx_bytes, ret);
	moments_add(&row->send_gap, gap_ns);
	if (c->phase == PHASE_REQUEST)
		answer(c, row, now);
	else if (c->phase == PHASE_RESPONSE)
		answer_on(c, row, now);
}

/* Also before accept: the first request of a connection waits, too. */
static void ready(struct sock *sk)
{
	struct conversation *c;

	if (!talks(sk) || sk->__sk_common.skc_state == TCP_LISTEN)
		return;
	c = bpf_sk_storage_get(&conversations, sk, NULL, 0);
	if (!c && role_of(sk) == ROLE_SERVER)
		c = begin(sk);
	if (c && c->role == ROLE_SERVER && !c->ready_ns)
		c->ready_ns = bpf_ktime_get_ns();
}

SEC("tp_btf/sock_recv_length")
TIER(1)
int BPF_PROG(request_receive, struct sock *sk, int ret, int flags)
{
	receive(sk, ret, flags);
	return 0;
}

SEC("tp_btf/sock_send_length")
TIER(1)
int BPF_PROG(request_send, struct sock *sk, int ret)
{
	send(sk, ret);
	return 0;
}

SEC("tp_btf/sk_data_ready")
TIER(1)
int BPF_PROG(request_data_ready, struct sock *sk)
{
	ready(sk);
	return 0;
}

/* Before Linux 6.3, 6e6eda44b939 ("sock: add tracepoint for send recv length"),
 * at the functions of the families that all calls end in. */
#define RECEIVE_HOOK(function)                                                                 \
	SEC("fexit/" #function)                                                                \
	TIER(2)                                                                                \
	int BPF_PROG(request_##function, struct socket *sock, struct msghdr *msg, size_t size, \
		     int flags, int ret)                                                       \
	{                                                                                      \
		receive(sock->sk, ret, flags);                                                 \
		return 0;                                                                      \
	}

#define SEND_HOOK(function)                                                                    \
	SEC("fexit/" #function)                                                                \
	TIER(2)                                                                                \
	int BPF_PROG(request_##function, struct socket *sock, struct msghdr *msg, size_t size, \
		     int ret)                                                                  \
	{                                                                                      \
		send(sock->sk, ret);                                                           \
		return 0;                                                                      \
	}

/* Of sendfile and splice. */
#define SEND_PAGE_HOOK(function)                                                             \
	SEC("fexit/" #function)                                                              \
	TIER(2)                                                                              \
	int BPF_PROG(request_##function, struct socket *sock, struct page *page, int offset, \
		     size_t size, int flags, ssize_t ret)                                    \
	{                                                                                    \
		send(sock->sk, ret);                                                         \
		return 0;                                                                    \
	}

RECEIVE_HOOK(inet_recvmsg)
RECEIVE_HOOK(inet6_recvmsg)
RECEIVE_HOOK(unix_stream_recvmsg)
SEND_HOOK(inet_sendmsg)
SEND_HOOK(inet6_sendmsg)
SEND_HOOK(unix_stream_sendmsg)
SEND_PAGE_HOOK(inet_sendpage)
SEND_PAGE_HOOK(unix_stream_sendpage)

SEC("fentry/sock_def_readable")
TIER(2)
int BPF_PROG(request_sock_def_readable, struct sock *sk)
{
	ready(sk);
	return 0;
}

/* Of a thread that serves, the time in which it neither ran nor waited to. */
static void rest(struct task_struct *task, struct serving *s)
{
	u64 now = bpf_ktime_get_ns(), elapsed = now - s->seen_ns;
	u64 busy = task->se.sum_exec_runtime + task->sched_info.run_delay;
	u64 worked = busy - s->busy_ns;
	struct service_task *st = service_task(task->group_leader);
	u32 service = st ? st->row : SERVICE_OTHER;
	struct request_row *row = row_at(slot_take(service) * shards);

	if (s->seen_ns && row) {
		add(&row->serving_ns, elapsed);
		add(&row->slack_ns, worked < elapsed ? elapsed - worked : 0);
	}
	s->seen_ns = now;
	s->busy_ns = busy;
}

SEC("iter/task")
int request_walk(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct serving *s;

	if (!task || task->exit_state & EXIT_DEAD)
		return 0;
	s = bpf_task_storage_get(&servings, task, NULL, 0);
	if (s)
		rest(task, s);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
