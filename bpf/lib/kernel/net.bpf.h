/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Kernel types of sockets.
 */
#ifndef KERNEL_NET_BPF_H
#define KERNEL_NET_BPF_H

#include "file.bpf.h"

#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define SOCK_STREAM 1
#define SOCK_DGRAM 2
#define IPPROTO_TCP 6
#define IPPROTO_MPTCP 262
#define TCP_ESTABLISHED 1
#define TCP_SYN_SENT 2
#define TCP_SYN_RECV 3
#define TCP_FIN_WAIT1 4
#define TCP_FIN_WAIT2 5
#define TCP_CLOSE 7
#define TCP_CLOSE_WAIT 8
#define TCP_LAST_ACK 9
#define TCP_LISTEN 10
#define MSG_PEEK 0x2
#define MSG_TRUNC 0x20
#define MSG_ERRQUEUE 0x2000
#define SOCK_BINDPORT_LOCK 8
#define SOCK_DONE 1 /* bit of skc_flags: the other side has closed */
#define RCV_SHUTDOWN 1
#define SEND_SHUTDOWN 2
#define SHUTDOWN_MASK 3
#define EPIPE 32
#define ENETUNREACH 101
#define ECONNRESET 104
#define ETIMEDOUT 110
#define ECONNREFUSED 111
#define EHOSTUNREACH 113

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct msghdr;
struct page;
struct sk_buff;
struct tcp_ulp_ops;

struct sk_buff_head {
	u32 qlen;
};

struct socket_wq {
	struct wait_queue_head wait;
};

struct in6_addr {
	u8 in6_u[16];
};

struct sock_common {
	u64 skc_addrpair;
	u32 skc_daddr;
	u16 skc_dport;
	struct in6_addr skc_v6_daddr;
	u32 skc_portpair;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	unsigned long skc_flags;
};

struct sock {
	struct sock_common __sk_common;
	unsigned char sk_userlocks : 4;
	u8 sk_shutdown;
	u16 sk_type;
	u16 sk_protocol;
	int sk_err;
	void *sk_user_data;
	u32 sk_ack_backlog;
	u32 sk_max_ack_backlog;
	atomic_t sk_drops;
	struct sk_buff_head sk_receive_queue;
	struct socket_wq *sk_wq;
	struct socket *sk_socket;
};

struct inet_connection_sock {
	const struct tcp_ulp_ops *icsk_ulp_ops;
	struct {
		u32 lrcvtime;
	} icsk_ack;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u64 bytes_received;
	u64 bytes_sent;
	u64 bytes_retrans;
	u32 total_retrans;
	u32 srtt_us; /* in eighths of a microsecond */
	u32 rcv_nxt;
	u32 rcv_wup;
	u32 copied_seq;
	u32 snd_una;
	u32 snd_nxt;
	u32 write_seq;
	u32 lsndtime;
	u64 tcp_clock_cache;
	u64 tcp_wstamp_ns;
	u64 first_tx_mstamp;
};

/* Not in every kernel. */
struct mptcp_sock {
	struct sock *first;
};

struct socket {
	struct file *file;
	struct sock *sk;
};

struct socket_alloc {
	struct inode vfs_inode;
};

struct sockaddr_un {
	char sun_path[1];
};

struct unix_address {
	refcount_t refcnt;
	int len; /* of sockaddr_un, with the family; a path includes its NUL */
	struct sockaddr_un name[1];
};

struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
};

struct udp_sock {
	struct sk_buff_head reader_queue;
};

#pragma clang attribute pop

#endif
