/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Requests: what a service does, measured at its sockets.
 *
 * A socket that the service has accepted alternates between receiving a request and sending the
 * response. A send after a receive completes an exchange, whatever the protocol. Only HTTP/2
 * interleaves requests; there the frames are counted (protocol.bpf.h, http2.bpf.h). In addition,
 * the gaps between the receives and between the sends of the whole service are measured: the
 * inverse of their mean is equation 1 (RPS_obsv, of sends), their variance equation 2 of M.
 * Rezvani, A. Jahanshahi and D. Wong, "Characterizing In-Kernel Observability of Latency-Sensitive
 * Request-level Metrics with eBPF", ISPASS 2024.
 *
 * Hook sets, cheapest first. 1 to 3 keep their state in the socket, 4 and 5 in maps by the
 * socket's address:
 *
 *   1  tp_btf sock_recv_length and sock_send_length (each call on a socket, io_uring included) and
 *      sk_data_ready (data for the program)
 *   2  the same, where the kernel permits no iterator over socket storages: at each reading a walk
 *      over all open files finds the sockets
 *   3  fexit of recvmsg, sendmsg and sendpage of each family, fentry of sock_def_readable
 *   4  kprobes of the same functions
 *   5  tracepoints of the system calls, with Option "syscalls"; the arrival time of a request is
 *      unknown
 *   1 to 3 also: tp_btf inet_sock_set_state, for what is sent after a connection is closed, for
 *      requests that end with it, for failed connections of clients, and for sockets that start
 *      and end to listen; 4: kprobes of inet_csk_listen_start and inet_csk_listen_stop; 5: a
 *      tracepoint of listen
 *
 * All hook sets: a walk over the sockets (1 to 3) or over the addresses (4 and 5); the walk over
 * tasks; tp_btf sched_process_exit; at the start, and at readings that find connections dropped
 * (listener.bpf.h), a walk over all open files. With Option "clients" also a walk over the
 * upstreams, which only 1 to 3 tell apart.
 *
 * Limits: where requests are pipelined or multiplexed over one connection by another protocol than
 * HTTP/2, or inside TLS, an exchange is a turn of the conversation, not a request; tls_hello.bpf.h
 * says which connections with HTTP/2 inside TLS are known and count as unread. The same holds
 * for HTTP/2 before Linux 5.17, and where the bytes of a program cannot be read (io_uring,
 * recvmmsg, 32-bit programs); there TLS handshakes count as exchanges, too. Datagrams are matched by
 * thread and by order (datagram.bpf.h), not by what they contain. Connections that are
 * accepted from a listener with a backlog of 0 look like connections of a client. Only hook set 5
 * sees splice from a socket into a pipe; all others see io_uring. The kernel has few instances of
 * a kprobe at the end of a function: hook set 4 misses calls when more threads than that block in
 * them.
 */
#include "requests/client.bpf.h"
#include "requests/listener.bpf.h"
#include "requests/protocol.bpf.h"
#include "requests/unsent.bpf.h"
#include "requests/slack.bpf.h"

SK_STORAGE(conversations, struct conversation);

SK_STORAGE(datagrams, struct datagrams);

SK_STORAGE(peers, struct peer);

/* NULL: none, or one of before the latest attachment. */
static __always_inline struct conversation *conversation_of(struct sock *sk)
{
	struct conversation *c = bpf_sk_storage_get(&conversations, sk, NULL, 0);

	return c && !is_before_attachment(c) ? c : NULL;
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
	struct conversation *old = bpf_sk_storage_get(&conversations, sk, NULL, 0), new = {};

	if (sk->__sk_common.skc_state == TCP_LISTEN)
		return NULL;
	/* Another CPU may have made a new one meanwhile. */
	if (old && is_before_attachment(old))
		forget_conversation(sk);
	conversation_init(&new, sk);
	new.served.close_seen = sk->sk_protocol == IPPROTO_TCP;
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

/* received: the datagrams that this call has removed from the queue; -1 for an arrival, which is
 * already in it. */
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

/* TCP has just read the clock for the segment that arrived, because it measures round trips. */
static __always_inline u64 arrival_ns(struct sock *sk)
{
	struct tcp_sock *tcp = bpf_skc_to_tcp_sock(sk);

	return tcp ? tcp->tcp_clock_cache : bpf_ktime_get_ns();
}

/* NULL if TLS in the kernel or a sockmap stands between the program and TCP, so that TCP does not
 * act at the moment of the call. A cast by bpf_rdonly_cast would be cheaper, but where that is
 * missing libbpf searches the BTF of all modules for it, which needs CAP_SYS_ADMIN. */
static __always_inline struct tcp_sock *plain_tcp(struct sock *sk)
{
	struct tcp_sock *tcp = bpf_skc_to_tcp_sock(sk);

	return tcp && !tcp->inet_conn.icsk_ulp_ops && !sk->sk_user_data ? tcp : NULL;
}

/* TCP reads the clock after it has copied data to a program. Since Linux 6.19 ("tcp: remove one
 * ktime_get() from recvmsg() fast path") it may not: the cached time is that of the arrival then,
 * and the clock is read here. */
static __always_inline u64 receive_ns(const struct conversation *c, struct sock *sk)
{
	struct tcp_sock *tcp = c->ready_ns ? plain_tcp(sk) : NULL;
	u64 tcp_ns = tcp ? tcp->tcp_clock_cache : 0;

	return tcp_ns > c->latest_ns ? tcp_ns : bpf_ktime_get_ns();
}

/* TCP also reads the clock when it transmits. The cached time is that of this send if nothing is
 * left in the send buffer. */
static __always_inline u64 send_ns(const struct tcp_sock *tcp)
{
	return tcp && tcp->snd_nxt == tcp->write_seq ? tcp->tcp_clock_cache : bpf_ktime_get_ns();
}

/* A call that failed ends the open request of a service to its upstream. */
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

/* Counts what a walk has withdrawn of it, or an acknowledgement. Hook sets 4 and 5 have no event for
 * that: their walk finds out. */
static __noinline void conversation_ends(struct conversation *c)
{
	struct request_row *row = conversation_row(c);

	if (!row || c->role != ROLE_SERVER || !c->cache.watched ||
	    !slot_cache_has_slot(&c->cache, &slot_owners))
		return;
	end_response(c, row);
	end_acknowledgement(c, row);
}

/* The other side has closed this UNIX stream, which has no event when it is closed here. */
static __noinline void stream_ends(struct sock *sk)
{
	struct conversation *c = conversation_of(sk);

	if (c && c->role == ROLE_SERVER && c->cache.watched)
		put_back(c);
}

static __always_inline void socket_receives(struct sock *sk, int ret, int flags)
{
	struct conversation *c;
	u64 now;

	if (option_clients && may_break(ret) && !(flags & MSG_NO_DATA) &&
	    socket_may_count(sk, true))
		call_failed(sk, ret);
	if (ret < 0 || flags & MSG_NO_DATA || (ret == 0 && !socket_has_empty(sk))) {
		if (ret == 0 && !(flags & MSG_NO_DATA) && sk->__sk_common.skc_family == AF_UNIX)
			stream_ends(sk);
		return;
	}
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

/* Has the service closed the connection just now, or sends no more on it? */
static __always_inline bool is_closing(const struct sock *sk, int state)
{
	return state == TCP_FIN_WAIT1 || state == TCP_LAST_ACK ||
	       (state == TCP_CLOSE && sk->sk_shutdown & SEND_SHUTDOWN);
}

/* A closed connection has no more socket events until the peer has acknowledged all that was
 * sent. */
static __always_inline void socket_closed(struct sock *sk, int state)
{
	bool closing = is_closing(sk, state);
	struct conversation *c;

	if ((!closing && state != TCP_FIN_WAIT2 && state != TCP_CLOSE) ||
	    !socket_may_count(sk, false))
		return;
	c = conversation_of(sk);
	if (!c)
		return;
	if (closing)
		serve_close(&c->served, bpf_ktime_get_ns());
	else if (state == TCP_CLOSE)
		serve_reset(&c->served);
	if (state != TCP_FIN_WAIT2 && state != TCP_CLOSE)
		return;
	if (c->unsent)
		check_unsent(c, sk, true);
	if (c->protocol == PROTOCOL_HTTP2)
		http2_closed(c, sk);
	if (state == TCP_CLOSE)
		conversation_ends(c);
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
	struct client_row *row;

	if (!p)
		return;
	row = client_row(slot_index(c->cache.slot));
	if (row && state == TCP_CLOSE && slot_cache_has_slot(&c->cache, &client_owners))
		client_ends(row, p, &c->exchange, bpf_ktime_get_ns());
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
HOOK_SET(1)
HOOK_SET(2)
int BPF_PROG(request_receive, struct sock *sk, int ret, int flags)
{
	socket_receives(sk, ret, flags);
	return 0;
}

SEC("tp_btf/sock_send_length")
HOOK_SET(1)
HOOK_SET(2)
int BPF_PROG(request_send, struct sock *sk, int ret)
{
	socket_sends(sk, ret);
	return 0;
}

SEC("tp_btf/sk_data_ready")
HOOK_SET(1)
HOOK_SET(2)
int BPF_PROG(request_data_ready, struct sock *sk)
{
	socket_ready(sk);
	return 0;
}

SEC("tp_btf/inet_sock_set_state")
HOOK_SET(1)
HOOK_SET(2)
HOOK_SET(3)
int BPF_PROG(request_state, struct sock *sk, int before, int state)
{
	listener_changes_state(sk, before, state);
	socket_changes_state(sk, before, state);
	return 0;
}

/* Linux before 6.3 has none of these tracepoints: hook the functions of the socket families in
 * which all calls end. */
#define RECEIVE_HOOK(function)                                                                 \
	SEC("fexit/" #function)                                                                \
	HOOK_SET(3)                                                                            \
	int BPF_PROG(request_##function, struct socket *sock, struct msghdr *msg, size_t size, \
		     int flags, int ret)                                                       \
	{                                                                                      \
		socket_receives(sock->sk, ret, flags);                                         \
		return 0;                                                                      \
	}

#define SEND_HOOK(function)                                                                    \
	SEC("fexit/" #function)                                                                \
	HOOK_SET(3)                                                                            \
	int BPF_PROG(request_##function, struct socket *sock, struct msghdr *msg, size_t size, \
		     int ret)                                                                  \
	{                                                                                      \
		socket_sends(sock->sk, ret);                                                   \
		return 0;                                                                      \
	}

/* For sendfile and splice. */
#define SEND_PAGE_HOOK(function)                                                             \
	SEC("fexit/" #function)                                                              \
	HOOK_SET(3)                                                                          \
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
HOOK_SET(3)
int BPF_PROG(request_sock_def_readable, struct sock *sk)
{
	socket_ready(sk);
	return 0;
}

#include "requests/request_address.bpf.h"

#include "requests/progress.bpf.h"

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

char LICENSE[] SEC("license")
	HELP("Requests: how services respond on their sockets, in any protocol") = "Dual MIT/GPL";
