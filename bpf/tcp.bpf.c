/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Connections of TCP: which service opens, accepts, owns and loses them, how long it takes to
 * connect, how long they live and what they carry. What TCP itself counts of a connection (bytes,
 * retransmits, round-trip time) is read at its end and by a walk at each reading.
 *
 * Ownership: a connection that a service opens is its own; one that arrives at a listening socket
 * belongs to the listener's service. A scan of all open files, at most once a second, assigns a
 * socket to the service whose processes have it open, if it was opened before the probe, or if it
 * was handed to another service, as systemd does with sockets on which it listens for others.
 *
 * Hooks: tp_btf inet_sock_set_state, some six times in the life of a connection and never for a
 * packet; tp_btf tcp_send_reset; with Option "opened", in hook set 1, fentry security_sock_graft,
 * once for each accept. At each reading a walk over the sockets; in hook set 3, where the kernel
 * permits no iterator over socket storages, over the open files; a sampler over the open files.
 *
 * Limits: a connect that fails because there is no route never becomes a TCP connection. Events of
 * a socket before it is discovered are not counted. Each path of MPTCP is a connection; paths that
 * a kernel thread adds are the kernel's. /proc/net is that of collectd's network namespace.
 */
#include "connection.bpf.h"
#include "run_counter.bpf.h"
#include "opened.bpf.h"
#include "storage.bpf.h"

#define ABANDONED_NS 50000000ULL /* who closes earlier has not waited for it */

/* Counters of the kernel, for the whole machine. */
struct tcp_machine {
	u64 connects METRIC("protocol_counter-ActiveOpens") UNIT("connects")
		FIELD("Tcp ActiveOpens") HELP("Connects: of the machine, ActiveOpens");
	u64 accepts METRIC("protocol_counter-PassiveOpens") UNIT("connections")
		FIELD("Tcp PassiveOpens")
			HELP("Connections accepted: of the machine, PassiveOpens");
	u64 failed METRIC("protocol_counter-AttemptFails") UNIT("connects")
		FIELD("Tcp AttemptFails") HELP("Failed connects: of the machine, AttemptFails");
	u64 resets METRIC("protocol_counter-EstabResets") UNIT("connections")
		FIELD("Tcp EstabResets") HELP("Connections reset: of the machine, EstabResets");
	u64 resets_sent METRIC("protocol_counter-OutRsts") UNIT("resets") FIELD("Tcp OutRsts")
		HELP("Resets sent: of the machine, OutRsts");
	u64 retransmits METRIC("protocol_counter-RetransSegs") UNIT("segments")
		FIELD("Tcp RetransSegs") HELP("Retransmits: of the machine, RetransSegs");
	u64 segments METRIC("protocol_counter-OutSegs") UNIT("segments") FIELD("Tcp OutSegs")
		HELP("Segments sent: of the machine, OutSegs");
	u64 established METRIC("tcp_connections-established") UNIT("connections")
		FIELD("Tcp CurrEstab") HELP("Open connections: of the machine, CurrEstab");
};

FILE_TABLE(tcp_machine, u32, struct tcp_machine, 1)
SUBJECT("probe") FILE("/proc/net/snmp pairs");

struct tcp_losses {
	u64 overflows METRIC("protocol_counter-ListenOverflows") UNIT("connections")
		FIELD("TcpExt ListenOverflows")
			HELP("Accept queue full: of the machine, ListenOverflows");
	u64 drops METRIC("protocol_counter-ListenDrops") UNIT("segments")
		FIELD("TcpExt ListenDrops") HELP("Listen drops: of the machine, ListenDrops");
	u64 timeouts METRIC("protocol_counter-TCPTimeouts") UNIT("timeouts")
		FIELD("TcpExt TCPTimeouts")
			HELP("Retransmission timeouts: of the machine, TCPTimeouts");
};

FILE_TABLE(tcp_losses, u32, struct tcp_losses, 1)
SUBJECT("probe") FILE("/proc/net/netstat pairs");

/* --- start of a connection --- */

static __always_inline void connection_init(struct connection *c, struct sock *sk, u32 row,
					    u32 phase, u64 began_ns)
{
	__builtin_memset(c, 0, sizeof(*c));
	c->row = row;
	c->began_ns = began_ns;
	count_from_here(c, sk);
	c->phase = phase;
}

/* NULL: not of a watched service, or no memory. */
static __always_inline struct connection *connection_make(struct sock *sk, u32 row)
{
	struct connection *c = connection_of(sk);

	if (c || !service_watched(row))
		return c;
	return or_refused(socket_storage_make(&connections, sk, NULL));
}

/* Assigns the socket to the service of the current thread. The socket may have had other
 * connections before. */
static __noinline void connection_start(struct sock *sk, u32 phase)
{
	u32 row = service_of(bpf_get_current_task_btf());
	struct connection *c = connection_make(sk, row);

	if (!c)
		return;
	connection_init(c, sk, row, service_watched(row) ? phase : CONNECTION_NONE,
			bpf_ktime_get_ns());
	if (option_opened && phase == CONNECTION_CONNECTS)
		note_opening(c);
}

/* The kernel has copied the listener's storage to the new socket. */
static __noinline void connection_arrive(struct sock *sk)
{
	struct connection *c = connection_of(sk);

	if (!c || c->phase != CONNECTION_LISTENS)
		return;
	connection_init(c, sk, c->row, CONNECTION_ARRIVES, bpf_ktime_get_ns());
	c->opening = OPENED_ACCEPTED;
	c->retransmits = 0; /* TCP stores the number of retransmitted SYN-ACKs in total_retrans */
}

static __noinline void connection_establish(struct sock *sk)
{
	struct connection *c = connection_of(sk);
	struct tcp_row *row;
	u64 now;

	if (!c || (c->phase != CONNECTION_CONNECTS && c->phase != CONNECTION_ARRIVES))
		return;
	row = tcp_row_of(c);
	now = bpf_ktime_get_ns();
	if (!row)
		return;
	if (c->phase == CONNECTION_ARRIVES) {
		add(&row->accepted, 1);
	} else {
		add(&row->connected, 1);
		if (c->began_ns)
			hist_add(&row->connect, now - c->began_ns);
	}
	c->began_ns = now;
	c->phase = CONNECTION_OPEN;
}

/* --- end of a connection --- */

/* Without an error the program has closed the socket, or connect itself has failed, for instance
 * because no port was free. */
static __always_inline void count_failed(const struct connection *c, struct tcp_row *row,
					 const struct sock *sk)
{
	int error = sk->sk_err;

	if (!error && sk->sk_shutdown == SHUTDOWN_MASK) {
		if (bpf_ktime_get_ns() - c->began_ns < ABANDONED_NS)
			return;
		add(&row->abandoned, 1);
	}
	add(&row->failed, 1);
	add(&row->refused, error == ECONNREFUSED);
	add(&row->unanswered, error == ETIMEDOUT);
	add(&row->unreachable, error == ENETUNREACH || error == EHOSTUNREACH);
}

static __always_inline void count_closed(struct connection *c, struct tcp_row *row, struct sock *sk,
					 int before)
{
	struct tcp_sock *tcp = bpf_skc_to_tcp_sock(sk);
	int error = sk->sk_err;

	add(&row->closed, 1);
	add(&row->resets_received,
	    error == ECONNRESET || (error == EPIPE && before == TCP_CLOSE_WAIT));
	add(&row->timeouts, error == ETIMEDOUT);
	if (c->began_ns)
		hist_add(&row->lifetime, (bpf_ktime_get_ns() - c->began_ns) / 1000);
	if (!tcp)
		return;
	hist_add(&row->received, tcp_received(tcp, sk));
	hist_add(&row->sent, tcp_sent(tcp));
}

static __noinline void connection_end(struct sock *sk, int before)
{
	struct connection *c = connection_of(sk);
	struct tcp_row *row = c && c->phase != CONNECTION_NONE ? tcp_row_of(c) : NULL;

	if (!row)
		return;
	count_growth(c, row, sk);
	if (c->phase == CONNECTION_CONNECTS)
		count_failed(c, row, sk);
	else if (c->phase == CONNECTION_OPEN)
		count_closed(c, row, sk, before);
	c->phase = CONNECTION_NONE;
}

SEC("tp_btf/inet_sock_set_state")
RUN_COUNTER(0)
int BPF_PROG(tcp_state, struct sock *sk, int before, int state)
{
	run_counter_add(0);
	if (sk->sk_protocol != IPPROTO_TCP)
		return 0;
	if (state == TCP_SYN_SENT)
		connection_start(sk, CONNECTION_CONNECTS);
	else if (state == TCP_LISTEN)
		connection_start(sk, CONNECTION_LISTENS);
	else if (state == TCP_SYN_RECV)
		connection_arrive(sk);
	else if (state == TCP_ESTABLISHED)
		connection_establish(sk);
	else if (state == TCP_CLOSE)
		connection_end(sk, before);
	return 0;
}

/* A reset that is sent without a socket belongs to no service. The socket may be a small one, of a
 * connection that has ended: these have no storage. */
SEC("tp_btf/tcp_send_reset")
HOOK_SET(1)
HOOK_SET(2)
HOOK_SET(3)
RUN_COUNTER(1)
int BPF_PROG(tcp_reset, struct sock *sk)
{
	struct connection *c;
	struct tcp_row *row;

	run_counter_add(1);
	c = sk ? connection_of(sk) : NULL;
	row = c ? tcp_row_of(c) : NULL;
	if (row)
		add(&row->resets_sent, 1);
	return 0;
}

/* The thread that accepts gets a socket of its own for the connection. */
SEC("fentry/security_sock_graft")
HOOK_SET(1)
OPTION("opened")
RUN_COUNTER(2)
int BPF_PROG(tcp_accept, struct sock *sk)
{
	struct connection *c;

	run_counter_add(2);
	if (sk->sk_protocol != IPPROTO_TCP)
		return 0;
	c = connection_of(sk);
	if (c && c->phase == CONNECTION_OPEN && c->began_ns)
		note_opening(c);
	return 0;
}

/* --- the walk at each reading --- */

/* The first shard of the row. */
static __always_inline struct tcp_row *tcp_whole_of(const struct connection *c)
{
	return tcp_row_at(slot_claim(c->row) * shards);
}

/* A full queue has one connection more than the backlog. */
static void find_listener(struct found *found, const struct sock *sk)
{
	u64 max = sk->sk_max_ack_backlog ?: 1, queued = sk->sk_ack_backlog;
	u64 queue = (queued < max ? queued : max) * QUEUE_FULL / max;

	found->unaccepted += queued;
	found->queue_max = QUEUE_FULL;
	if (queue > found->queue)
		found->queue = queue;
}

static void find_open(struct found *found, const struct sock *sk)
{
	if (!sk->sk_socket)
		return;
	found->open++;
	found->close_wait += sk->__sk_common.skc_state == TCP_CLOSE_WAIT;
}

__noinline int tcp_show(u32 slot)
{
	struct tcp_row *whole = tcp_row_at(slot * shards);

	if (!whole)
		return 0;
	whole->open = whole->found.open;
	whole->close_wait = whole->found.close_wait;
	whole->unaccepted = whole->found.unaccepted;
	whole->queue = whole->found.queue;
	whole->queue_max = whole->found.queue_max;
	__builtin_memset(&whole->found, 0, sizeof(whole->found));
	return 0;
}

static void visit_connection(struct connection *c, struct sock *sk)
{
	struct tcp_row *whole = tcp_whole_of(c);

	if (!whole)
		return;
	if (c->phase == CONNECTION_LISTENS) {
		find_listener(&whole->found, sk);
	} else {
		count_growth(c, whole, sk);
		if (c->phase == CONNECTION_OPEN)
			find_open(&whole->found, sk);
		if (option_opened && sk->sk_socket)
			opened_count(c);
	}
}

static struct sock *stream_of(struct file *file)
{
	struct socket *socket = bpf_sock_from_file(file);
	struct sock *sk = socket ? socket->sk : NULL;

	return sk && sk->sk_protocol == IPPROTO_TCP ? sk : NULL;
}

static void tcp_show_all(void)
{
	for (u32 i = 0; i < slots_max; i++)
		tcp_show(i);
}

SEC("iter/bpf_sk_storage_map")
ITER_MAP(connections)
HOOK_SET(1)
HOOK_SET(2)
int tcp_walk(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	struct connection *c = ctx->value;
	struct sock *sk = ctx->sk;

	if (option_opened && ctx->meta->seq_num == 0)
		opened_begin();
	if (!sk || !c)
		tcp_show_all();
	else if (c->phase != CONNECTION_NONE)
		visit_connection(c, sk);
	return 0;
}

static u64 walk; /* number of the current walk */

/* Where the kernel refuses the iterator above. Several processes may have a socket open; one that
 * no process has open is not visited. */
SEC("iter/task_file")
HOOK_SET(3)
int tcp_files(struct bpf_iter__task_file *ctx)
{
	struct file *file = ctx->file;
	struct sock *sk = file ? stream_of(file) : NULL;
	struct connection *c = sk ? connection_of(sk) : NULL;

	if (ctx->meta->seq_num == 0) {
		walk++;
		if (option_opened)
			opened_begin();
	}
	if (c && c->phase != CONNECTION_NONE && c->walk != walk) {
		c->walk = walk;
		visit_connection(c, sk);
	}
	if (!file)
		tcp_show_all();
	return 0;
}

/* --- who has a socket open --- */

static u32 holders_walk; /* number of the current scan */

static u32 connection_phase_of(unsigned char state)
{
	switch (state) {
	case TCP_CLOSE:
		return CONNECTION_NONE;
	case TCP_LISTEN:
		return CONNECTION_LISTENS;
	case TCP_SYN_SENT:
		return CONNECTION_CONNECTS;
	default:
		return CONNECTION_OPEN;
	}
}

/* Starts a connection whose first event was not seen. */
static void discover_connection(struct sock *sk, u32 row)
{
	u32 phase = connection_phase_of(sk->__sk_common.skc_state);
	struct connection *c;

	if (phase == CONNECTION_NONE || !service_watched(row))
		return;
	c = connection_make(sk, row);
	if (c && c->phase == CONNECTION_NONE)
		connection_init(c, sk, row, phase, 0);
}

/* A connection goes to another service if that had it open at the last scan and its own did not;
 * from no service to any at once. */
static void note_holder(struct connection *c, u32 row)
{
	if (c->holders.walk != holders_walk)
		c->row = holders_row(&c->holders, c->row);
	if (c->row == SERVICE_OTHER && service_watched(row))
		c->row = row;
	holders_note(&c->holders, holders_walk, c->row, row);
}

SEC("iter/task_file")
SAMPLE("hz=1")
int tcp_holders(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct connection *c;
	struct sock *sk;

	if (ctx->meta->seq_num == 0)
		holders_walk++;
	if (!task || !file || task->tgid == INIT_TGID)
		return 0;
	sk = stream_of(file);
	if (!sk)
		return 0;
	c = connection_of(sk);
	if (c && c->phase != CONNECTION_NONE)
		note_holder(c, service_of(task));
	else
		discover_connection(sk, service_of(task));
	return 0;
}

char LICENSE[] SEC("license") DEFAULT(off)
	HELP("TCP: connections of services and their errors") = "Dual MIT/GPL";
