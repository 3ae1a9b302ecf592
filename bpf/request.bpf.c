/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Requests: what a service does, from its sockets. A socket that the service
 * has accepted alternates between receiving a request and sending the response;
 * sending that begins after receiving is an exchange, whatever the protocol. Of
 * HTTP/2 alone, where this is not so, the frames are counted (protocol.bpf.h,
 * http2.bpf.h). Beside it the gaps between the receives and
 * between the sends of the whole service: the inverse of their mean is equation 1
 * (RPS_obsv, of sends), their variance equation 2 of M. Rezvani, A. Jahanshahi and
 * D. Wong, "Characterizing In-Kernel Observability of Latency-Sensitive
 * Request-level Metrics with eBPF", ISPASS 2024.
 *
 * Hooks, cheapest first; the first three keep their state in the socket, the
 * others by its address:
 *   1  tp_btf sock_recv_length and sock_send_length (each call on a socket, also
 *      by io_uring) and sk_data_ready (data for the reader)
 *   2  the same, where the kernel permits no iterator over socket storages: at each
 *      reading a walk over all open files finds the sockets
 *   3  fexit of the families' recvmsg, sendmsg and sendpage, fentry of
 *      sock_def_readable
 *   4  kprobes of the same
 *   5  tracepoints of the system calls, with Option "syscalls"; when a request
 *      arrived is not known
 *   1 to 3: tp_btf inet_sock_set_state, for what is sent after a connection is closed, and for
 *   connections of clients that fail
 * All: a walk over the sockets of 1 to 3, or the addresses of 4 and 5; the walk over tasks; tp_btf
 * sched_process_exit. With Option "clients" a walk over the upstreams, which 1 to 3 tell apart.
 *
 * Limits: where requests are pipelined or multiplexed over one connection, by
 * another protocol than HTTP/2 or inside TLS, an exchange is a turn of the
 * conversation, not a request. So it is with HTTP/2 before Linux 5.17, and where
 * a program's octets are not to be seen: by io_uring, recvmmsg, or of 32 bits;
 * there the handshakes of TLS are turns, too. A
 * listener with a backlog of 0 accepts what looks like connections of a
 * client. splice from a socket into a pipe is seen by tier 5 alone, io_uring by
 * all others. Of a kprobe at a function's end the kernel keeps few instances: tier
 * 4 misses calls where more threads than that block in them.
 */
#include "client.bpf.h"
#include "protocol.bpf.h"
#include "unsent.bpf.h"
#include "slack.bpf.h"

SK_STORAGE(conversations, struct conversation);

SK_STORAGE(datagrams, struct datagrams);

SK_STORAGE(peers, struct peer);

/* NULL: none that is known. */
static __always_inline struct conversation *conversation_of(struct sock *sk)
{
	struct conversation *c = bpf_sk_storage_get(&conversations, sk, NULL, 0);

	return c && !is_before_pause(c) ? c : NULL;
}

static __noinline void forget_conversation(struct sock *sk)
{
	bpf_sk_storage_delete(&datagrams, sk);
	bpf_sk_storage_delete(&http2_connections, sk);
	bpf_sk_storage_delete(&peers, sk);
	bpf_sk_storage_delete(&conversations, sk);
}

static __noinline struct conversation *conversation_make(struct sock *sk)
{
	struct conversation new = {};

	if (sk->__sk_common.skc_state == TCP_LISTEN)
		return NULL;
	if (attached_ns)
		forget_conversation(sk);
	conversation_init(&new, sk);
	return or_refused(socket_storage_make(&conversations, sk, &new));
}

static __always_inline struct conversation *conversation_find(struct sock *sk)
{
	struct conversation *c;

	if (!socket_may_count(sk, option_clients))
		return NULL;
	c = conversation_of(sk);
	return c ?: conversation_make(sk);
}

static __noinline struct datagrams *datagrams_make(struct sock *sk, u32 unseen)
{
	struct datagrams *d = or_refused(socket_storage_make(&datagrams, sk, NULL));

	if (d)
		datagrams_init(d, unseen);
	return d;
}

/* taken: by this call, -1: this is an arrival. */
static __always_inline struct datagrams *datagrams_of(struct conversation *c, struct sock *sk,
						      int received)
{
	if (!c->datagrams)
		return NULL;
	return bpf_sk_storage_get(&datagrams, sk, NULL, 0)
		       ?: datagrams_make(sk, socket_datagrams(sk) + received);
}

static __always_inline struct peer *peer_of(struct sock *sk)
{
	struct peer *p = bpf_sk_storage_get(&peers, sk, NULL, 0);

	return p ?: or_refused(socket_storage_make(&peers, sk, NULL));
}

/* TCP has just asked the clock, for the segment that has come: round trips are measured
 * so. */
static __always_inline u64 arrival_ns(struct sock *sk)
{
	struct tcp_sock *tcp = bpf_skc_to_tcp_sock(sk);

	return tcp ? tcp->tcp_clock_cache : bpf_ktime_get_ns();
}

/* TCP does at once what a program does, unless there is TLS in the kernel or a sockmap
 * between them. A cast by bpf_rdonly_cast would be cheaper, but where that is missing
 * libbpf searches all modules for it, which needs CAP_SYS_ADMIN. */
static __always_inline struct tcp_sock *plain_tcp(struct sock *sk)
{
	struct tcp_sock *tcp = bpf_skc_to_tcp_sock(sk);

	return tcp && !tcp->inet_conn.icsk_ulp_ops && !sk->sk_user_data ? tcp : NULL;
}

/* TCP asks the clock when it has given data to a program, or not since Linux 6.19 ("tcp:
 * remove one ktime_get() from recvmsg() fast path"): then it still has that of the
 * arrival. */
static __always_inline u64 receive_ns(const struct conversation *c, struct sock *sk)
{
	struct tcp_sock *tcp = c->ready_ns ? plain_tcp(sk) : NULL;
	u64 tcp_ns = tcp ? tcp->tcp_clock_cache : 0;

	return tcp_ns > c->latest_ns ? tcp_ns : bpf_ktime_get_ns();
}

/* And when it hands on what a program sends, which it has done if it has nothing left. */
static __always_inline u64 send_ns(const struct tcp_sock *tcp)
{
	return tcp && tcp->snd_nxt == tcp->write_seq ? tcp->tcp_clock_cache : bpf_ktime_get_ns();
}

/* A call that ends a service's request to another. */
static __noinline void call_failed(struct sock *sk, int ret)
{
	struct conversation *c = conversation_of(sk);
	struct peer *p;

	if (!c || c->role != ROLE_CLIENT || c->exchange.phase != PHASE_REQUESTED ||
	    !is_broken(c, sk, ret))
		return;
	p = bpf_sk_storage_get(&peers, sk, NULL, 0);
	if (p && c->cache.watched)
		peer_end(p, &c->exchange, true, bpf_ktime_get_ns());
}

static __always_inline void socket_receives(struct sock *sk, int ret, int flags)
{
	struct conversation *c;
	u64 now;

	if (option_clients && may_break(ret) && !(flags & MSG_NO_DATA) &&
	    socket_may_count(sk, true))
		call_failed(sk, ret);
	if (ret < 0 || flags & MSG_NO_DATA || (ret == 0 && !socket_has_empty(sk)))
		return;
	c = conversation_find(sk);
	if (!c || !conversation_own(c, c->role == ROLE_SERVER))
		return;
	now = receive_ns(c, sk);
	if (c->unsent)
		check_unsent(c, sk, true);
	if (c->protocol != PROTOCOL_ALTERNATING && protocol_receives(c, sk, ret, flags, now))
		return;
	if (c->role == ROLE_CLIENT)
		client_receives(c, peer_of(sk), ret, now);
	else if (c->datagrams)
		server_receives(c, datagrams_of(c, sk, 1), ret, socket_datagrams(sk), now);
	else
		server_receives(c, NULL, ret, sk->sk_receive_queue.qlen, now);
}

static __always_inline void socket_sends(struct sock *sk, int ret)
{
	struct conversation *c;
	struct tcp_sock *tcp;
	u64 now;

	if (option_clients && ret < 0 && may_break(ret) && socket_may_count(sk, true))
		call_failed(sk, ret);
	if (ret < 0 || (ret == 0 && !socket_has_empty(sk)))
		return;
	c = conversation_find(sk);
	if (!c || !conversation_own(c, c->role == ROLE_CLIENT))
		return;
	tcp = plain_tcp(sk);
	now = send_ns(tcp);
	if (c->role == ROLE_CLIENT) {
		if (c->protocol == PROTOCOL_ALTERNATING || !protocol_sends(c, sk, ret, now))
			client_sends(c, peer_of(sk), sk, ret, now);
		return;
	}
	if (c->unsent && span_ns(c->exchange.settled_ns, now) > CORKED_NS)
		check_unsent(c, sk, true);
	if (c->protocol != PROTOCOL_ALTERNATING && protocol_sends(c, sk, ret, now))
		return;
	server_sends(c, datagrams_of(c, sk, 0), sk, ret, now);
	if (tcp && tcp->snd_nxt != tcp->write_seq)
		note_unsent(c, tcp->write_seq);
	else
		c->unsent = 0;
}

static __always_inline void socket_ready(struct sock *sk)
{
	struct conversation *c = conversation_find(sk);

	if (!c || c->role != ROLE_SERVER || !(c->cache.watched || !c->tgid))
		return;
	if (c->unsent)
		check_unsent(c, sk, false);
	note_arrival(c, datagrams_of(c, sk, -1), arrival_ns(sk));
}

/* A connection that is closed is one without events until all that it has sent is acknowledged. */
static __always_inline void socket_closed(struct sock *sk, int state)
{
	struct conversation *c;

	if ((state != TCP_FIN_WAIT2 && state != TCP_CLOSE) || !socket_may_count(sk, false))
		return;
	c = conversation_of(sk);
	if (c && c->unsent)
		check_unsent(c, sk, true);
	if (c && c->protocol == PROTOCOL_HTTP2)
		http2_closed(c, sk);
}

static __noinline void socket_connects(struct sock *sk)
{
	struct conversation *c = conversation_find(sk);
	struct peer *p =
		c && c->role == ROLE_CLIENT && conversation_own(c, true) ? peer_of(sk) : NULL;

	if (!p)
		return;
	c->exchange.phase = PHASE_IDLE;
	peer_connect(p, c, sk, bpf_ktime_get_ns());
}

static __noinline void connection_changes(struct sock *sk, int before, int state)
{
	struct conversation *c = conversation_of(sk);
	struct peer *p = c && c->role == ROLE_CLIENT && c->cache.watched
				 ? bpf_sk_storage_get(&peers, sk, NULL, 0)
				 : NULL;

	if (p)
		peer_changes(c, p, sk, before, state, bpf_ktime_get_ns());
}

static __always_inline void socket_changes_state(struct sock *sk, int before, int state)
{
	socket_closed(sk, state);
	if (!option_clients || sk->sk_protocol != IPPROTO_TCP || sk->sk_max_ack_backlog)
		return;
	if (state == TCP_SYN_SENT)
		socket_connects(sk);
	else
		connection_changes(sk, before, state);
}

SEC("tp_btf/sock_recv_length")
TIER(1)
TIER(2)
int BPF_PROG(request_receive, struct sock *sk, int ret, int flags)
{
	socket_receives(sk, ret, flags);
	return 0;
}

SEC("tp_btf/sock_send_length")
TIER(1)
TIER(2)
int BPF_PROG(request_send, struct sock *sk, int ret)
{
	socket_sends(sk, ret);
	return 0;
}

SEC("tp_btf/sk_data_ready")
TIER(1)
TIER(2)
int BPF_PROG(request_data_ready, struct sock *sk)
{
	socket_ready(sk);
	return 0;
}

SEC("tp_btf/inet_sock_set_state")
TIER(1)
TIER(2)
TIER(3)
int BPF_PROG(request_state, struct sock *sk, int before, int state)
{
	socket_changes_state(sk, before, state);
	return 0;
}

/* Before Linux 6.3, which has the tracepoints, at the functions of the families
 * that all calls end in. */
#define RECEIVE_HOOK(function)                                                                 \
	SEC("fexit/" #function)                                                                \
	TIER(3)                                                                                \
	int BPF_PROG(request_##function, struct socket *sock, struct msghdr *msg, size_t size, \
		     int flags, int ret)                                                       \
	{                                                                                      \
		socket_receives(sock->sk, ret, flags);                                         \
		return 0;                                                                      \
	}

#define SEND_HOOK(function)                                                                    \
	SEC("fexit/" #function)                                                                \
	TIER(3)                                                                                \
	int BPF_PROG(request_##function, struct socket *sock, struct msghdr *msg, size_t size, \
		     int ret)                                                                  \
	{                                                                                      \
		socket_sends(sock->sk, ret);                                                   \
		return 0;                                                                      \
	}

/* Of sendfile and splice. */
#define SEND_PAGE_HOOK(function)                                                             \
	SEC("fexit/" #function)                                                              \
	TIER(3)                                                                              \
	int BPF_PROG(request_##function, struct socket *sock, struct page *page, int offset, \
		     size_t size, int flags, ssize_t ret)                                    \
	{                                                                                    \
		socket_sends(sock->sk, ret);                                                 \
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
TIER(3)
int BPF_PROG(request_sock_def_readable, struct sock *sk)
{
	socket_ready(sk);
	return 0;
}

#include "request_address.bpf.h"

#include "progress.bpf.h"

SEC("iter/task")
WALK int request_walk(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (ctx->meta->seq_num == 0)
		slack_begin();
	if (!task)
		slack_end();
	else if (!(task->flags & PF_EXITING))
		slack_visit(task);
	return walk_on(ctx);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(request_exit, struct task_struct *task)
{
	slack_exit(task);
	return 0;
}

char LICENSE[] SEC("license") HELP(
	"Requests: what services answer on their sockets, whatever the protocol") = "Dual MIT/GPL";
