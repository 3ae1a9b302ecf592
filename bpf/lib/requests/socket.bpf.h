/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Sockets: which of them carry exchanges, and which side has connected. Both are read from the
 * socket itself, so that sockets are known, too, that were open before the probe.
 */
#ifndef SOCKET_BPF_H
#define SOCKET_BPF_H

#include "kernel/file.bpf.h"
#include "kernel/net.bpf.h"

/* With either flag a receive does not consume data of the other side. */
#define MSG_NO_DATA (MSG_PEEK | MSG_ERRQUEUE)

enum socket_role { ROLE_NONE, ROLE_SERVER, ROLE_CLIENT };

/* Streams and datagrams of a network, and UNIX streams. */
static __always_inline bool socket_talks(u16 family, u16 type)
{
	switch (family) {
	case AF_INET:
	case AF_INET6:
		return type == SOCK_STREAM || type == SOCK_DGRAM;
	case AF_UNIX:
		return type == SOCK_STREAM;
	}
	return false;
}

/* The cheapest test: may the calls of this socket count? It rejects most of the other sockets. */
static __always_inline bool socket_may_count(const struct sock *sk, bool clients)
{
	u16 family = sk->__sk_common.skc_family;

	return socket_talks(family, sk->sk_type) &&
	       (clients || family == AF_UNIX || sk->sk_type != SOCK_STREAM ||
		sk->sk_max_ack_backlog || sk->sk_protocol == IPPROTO_MPTCP);
}

/* A client's address is not used by another socket, whether it has chosen it or the kernel has
 * (SO_PASSCRED). Not told apart: the last connection of a closed listener, with such a client. */
static bool socket_has_listener_address(const struct unix_sock *sk)
{
	const struct unix_sock *peer = (const struct unix_sock *)BPF_CORE_READ(sk, peer);
	const struct unix_address *own = BPF_CORE_READ(sk, addr);

	return own && (BPF_CORE_READ(own, refcnt.refs.counter) > 1 || !BPF_CORE_READ(peer, addr));
}

/* Is it one of a socketpair? */
static bool socket_is_of_pair(const struct sock *sk)
{
	const struct unix_sock *own = (const struct unix_sock *)sk, *peer;

	if (BPF_CORE_READ(sk, __sk_common.skc_family) != AF_UNIX || BPF_CORE_READ(own, addr))
		return false;
	peer = (const struct unix_sock *)BPF_CORE_READ(own, peer);
	return !BPF_CORE_READ(peer, addr);
}

/* Of MPTCP the first TCP connection. */
static const struct sock *socket_stream(const struct sock *sk)
{
	if (BPF_CORE_READ(sk, sk_protocol) != IPPROTO_MPTCP ||
	    !bpf_core_field_exists(struct mptcp_sock, first))
		return sk;
	return BPF_CORE_READ((const struct mptcp_sock *)sk, first);
}

/* What accept returns has inherited from its listener: the backlog (TCP) or the address (UNIX). A
 * datagram server has bound a port and is not connected; the kernel does not distinguish port 0
 * from none. A socketpair is between processes of one program, such as a daemon and its helpers:
 * none of its ends has connected to a service. */
static enum socket_role socket_role(const struct sock *sk)
{
	u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);
	u16 type = BPF_CORE_READ(sk, sk_type);
	bool server;

	if (!socket_talks(family, type) || BPF_CORE_READ(sk, __sk_common.skc_state) == TCP_LISTEN ||
	    (family == AF_UNIX && socket_is_of_pair(sk)))
		return ROLE_NONE;
	if (family == AF_UNIX)
		server = socket_has_listener_address((const struct unix_sock *)sk);
	else if (type == SOCK_STREAM)
		server = BPF_CORE_READ(socket_stream(sk), sk_max_ack_backlog);
	else
		server = BPF_CORE_READ_BITFIELD_PROBED(sk, sk_userlocks) & SOCK_BINDPORT_LOCK &&
			 BPF_CORE_READ(sk, __sk_common.skc_state) != TCP_ESTABLISHED;
	return server ? ROLE_SERVER : ROLE_CLIENT;
}

static __always_inline bool socket_is_datagram(const struct sock *sk)
{
	return BPF_CORE_READ(sk, sk_type) == SOCK_DGRAM;
}

/* May a call that moves no bytes move an empty datagram? Not after shutdown. */
static __always_inline bool socket_has_empty(const struct sock *sk)
{
	return socket_is_datagram(sk) && !(BPF_CORE_READ(sk, sk_shutdown) & RCV_SHUTDOWN);
}

/* Is there more that has not been received yet? */
static __always_inline bool socket_has_more(const struct sock *sk)
{
	return BPF_CORE_READ(sk, sk_receive_queue.qlen);
}

static bool queue_has_waiter(const struct wait_queue_head *queue)
{
	const struct list_head *first = BPF_CORE_READ(queue, head.next);

	return first && first != __builtin_preserve_access_index(&queue->head);
}

/* Does a thread sleep until something arrives, possibly in a call that waits for several
 * sockets? */
static bool socket_has_waiter(const struct sock *sk)
{
	const struct socket_wq *queue = BPF_CORE_READ(sk, sk_wq);

	return queue_has_waiter(__builtin_preserve_access_index(&queue->wait));
}

/* Does a program have this stream open, so that it may still respond? */
static inline bool socket_is_open(const struct sock *sk)
{
	unsigned char state = BPF_CORE_READ(sk, __sk_common.skc_state);

	return state == TCP_ESTABLISHED || state == TCP_CLOSE_WAIT;
}

/* Does a program have this socket, so that it has not closed it? */
static inline bool socket_is_in_use(const struct sock *sk)
{
	const struct socket *socket = BPF_CORE_READ(sk, sk_socket);

	return socket && BPF_CORE_READ(socket, sk) == sk;
}

/* Number of the inode of a socket that a program has, 0: it has been closed. It distinguishes
 * sockets that have had the same address in memory. */
static inline u64 socket_inode(const struct sock *sk)
{
	const struct socket *socket = BPF_CORE_READ(sk, sk_socket);

	if (!socket_is_in_use(sk))
		return 0;
	return BPF_CORE_READ((const struct socket_alloc *)socket, vfs_inode.i_ino);
}

/* Does this stream have data that has not been received yet? The FIN does not count. */
static inline bool socket_has_unread(const struct sock *sk)
{
	const struct tcp_sock *tcp = (const struct tcp_sock *)sk;

	if (BPF_CORE_READ(sk, __sk_common.skc_family) == AF_UNIX ||
	    BPF_CORE_READ(sk, sk_protocol) == IPPROTO_MPTCP)
		return socket_has_more(sk);
	return BPF_CORE_READ(tcp, rcv_nxt) - BPF_CORE_READ(tcp, copied_seq) >
	       (BPF_CORE_READ(sk, sk_shutdown) & RCV_SHUTDOWN);
}

/* When the last byte before `end` was sent, 0: it has not been. Exact if it is acknowledged and
 * nothing has been sent since; before that, the time of the last segment, which may be an
 * acknowledgement. */
static inline u64 socket_went_ns(const struct sock *sk, u32 end)
{
	const struct tcp_sock *tcp = (const struct tcp_sock *)sk;

	if ((s32)(BPF_CORE_READ(tcp, snd_nxt) - end) < 0)
		return 0;
	if ((s32)(BPF_CORE_READ(tcp, snd_una) - end) >= 0)
		return BPF_CORE_READ(tcp, first_tx_mstamp) * 1000;
	return BPF_CORE_READ(tcp, tcp_wstamp_ns);
}

/* Was all that the socket had sent acknowledged before it sent these bytes? Assumed for sockets
 * other than TCP, where it is unknown. TLS in the kernel sends more than it is given. */
static inline bool socket_was_empty(const struct sock *sk, u64 sent)
{
	const struct tcp_sock *tcp = (const struct tcp_sock *)sk;

	if (BPF_CORE_READ(sk, __sk_common.skc_family) == AF_UNIX ||
	    BPF_CORE_READ(sk, sk_protocol) == IPPROTO_MPTCP || socket_is_datagram(sk))
		return true;
	return BPF_CORE_READ(tcp, write_seq) - BPF_CORE_READ(tcp, snd_una) <= sent;
}

static __always_inline u32 socket_datagrams(const struct sock *sk)
{
	return BPF_CORE_READ(sk, sk_receive_queue.qlen) +
	       BPF_CORE_READ((const struct udp_sock *)sk, reader_queue.qlen);
}

/* Of a UNIX connection: the inode number of the client's socket. It is unique while both sockets
 * may be remembered; a closed socket has none. */
static u64 socket_client_number(const struct sock *sk)
{
	const struct sock *client = sk;
	const struct socket *file;

	if (socket_has_listener_address((const struct unix_sock *)sk))
		client = BPF_CORE_READ((const struct unix_sock *)sk, peer);
	file = BPF_CORE_READ(client, sk_socket);
	return BPF_CORE_READ((const struct socket_alloc *)file, vfs_inode.i_ino);
}

/* Distinguishes sockets that have had the same address in memory. */
static inline u64 socket_ends(const struct sock *sk)
{
	if (BPF_CORE_READ(sk, __sk_common.skc_family) == AF_UNIX)
		return (u64)BPF_CORE_READ((const struct unix_sock *)sk, peer) ^
		       socket_client_number(sk) << 32;
	return BPF_CORE_READ(sk, __sk_common.skc_addrpair) ^
	       (u64)BPF_CORE_READ(sk, __sk_common.skc_portpair) << 16;
}

static __always_inline bool file_is_socket(const struct file *file)
{
	return (BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) == S_IFSOCK;
}

/* The socket of a file that is one. */
static struct sock *socket_in(const struct file *file)
{
	const struct socket *socket = BPF_CORE_READ(file, private_data);

	return BPF_CORE_READ(socket, sk);
}

/* NULL: it is no socket. */
static struct sock *socket_of_file(const struct file *file)
{
	return file_is_socket(file) ? socket_in(file) : NULL;
}

/* The file behind a descriptor of a process, NULL: none. */
static struct file *descriptor_file(const struct task_struct *task, u64 fd)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **files, *file = NULL;

	if (fd >= BPF_CORE_READ(table, max_fds))
		return NULL;
	files = BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof(file), &files[fd]);
	return file;
}

/* The socket behind a descriptor of a process, NULL: none. */
static inline struct sock *socket_of(const struct task_struct *task, u64 fd)
{
	return socket_of_file(descriptor_file(task, fd));
}

#endif
