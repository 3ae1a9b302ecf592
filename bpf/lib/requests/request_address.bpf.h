/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The hooks of the request probe for kernels where programs cannot store state in a socket: it is
 * found by the socket's address, and the arguments of a call are stored until it returns.
 */
#ifndef REQUEST_ADDRESS_BPF_H
#define REQUEST_ADDRESS_BPF_H

#include "client.bpf.h"
#include "protocol.bpf.h"

#define MESSAGES_MAX 128 /* NSD's batches have 100 */

/* With the ends, because another socket may come to be at the same address. */
struct socket_key {
	u64 sk;
	u64 ends;
};

LRU_HASH(addressed, struct socket_key, struct conversation, 16384) HOOK_SET(4) HOOK_SET(5);

LRU_HASH(addressed_datagrams, struct socket_key, struct datagrams, 128) HOOK_SET(4) HOOK_SET(5);

LRU_HASH(addressed_http2, struct socket_key, struct http2, 1024) HOOK_SET(4) HOOK_SET(5);

/* The call that a thread is in. */
struct call {
	struct sock *sk; /* NULL: none that counts */
	void *messages;  /* struct mmsghdr of recvmmsg and sendmmsg */
	u32 flags;
	bool receives;
};

TASK_STORAGE(calls, struct call);

static const struct datagrams no_datagrams;
static const struct http2 no_http2;

/* The look-up may return what another CPU has inserted, or fail because the entry has been evicted:
 * try again. */
static __always_inline void *address_make(void *map, const struct socket_key *at, const void *value)
{
	void *made = NULL;

	for (int i = 0; i < STORAGE_TRIES && !made; i++) {
		bpf_map_update_elem(map, at, value, BPF_NOEXIST);
		made = bpf_map_lookup_elem(map, at);
	}
	return or_refused(made);
}

static __noinline void forget_addressed(const struct socket_key *at)
{
	bpf_map_delete_elem(&addressed_datagrams, at);
	bpf_map_delete_elem(&addressed_http2, at);
	bpf_map_delete_elem(&addressed, at);
}

static struct conversation *conversation_at(struct sock *sk)
{
	struct socket_key at = { .sk = (u64)sk, .ends = socket_ends(sk) };
	struct conversation *c = bpf_map_lookup_elem(&addressed, &at), new = {};

	if (c && !is_before_attachment(c))
		return c;
	if (c)
		forget_addressed(&at);
	conversation_init(&new, sk);
	return new.role == ROLE_NONE ? NULL : address_make(&addressed, &at, &new);
}

static struct datagrams *datagrams_at(struct conversation *c, struct sock *sk, int taken)
{
	struct socket_key at = { .sk = (u64)sk, .ends = socket_ends(sk) };
	struct datagrams *d;

	if (!c->datagrams)
		return NULL;
	d = bpf_map_lookup_elem(&addressed_datagrams, &at);
	if (d)
		return d;
	d = address_make(&addressed_datagrams, &at, &no_datagrams);
	if (d)
		datagrams_init(d, socket_datagrams(sk) + taken);
	return d;
}

static __noinline struct http2 *http2_at(struct conversation *c, struct sock *sk)
{
	struct socket_key at = { .sk = (u64)sk, .ends = socket_ends(sk) };
	struct http2 *h = bpf_map_lookup_elem(&addressed_http2, &at);

	if (h)
		return h;
	h = address_make(&addressed_http2, &at, &no_http2);
	if (h)
		http2_init(h, c);
	return h;
}

/* As protocol_receives() or protocol_sends(). */
static __noinline bool addressed_protocol(struct conversation *c, struct sock *sk, u64 bytes,
					  u32 flags, bool receives)
{
	struct http2_call call = { .moved = { .end = bytes, .flags = flags } };

	call.moved.now = bpf_ktime_get_ns();
	if (c->protocol == PROTOCOL_NEW && receives)
		inspect_receive(c, &call.moved);
	else if (c->protocol == PROTOCOL_NEW && inspect_send(c, &call.moved))
		return true;
	if (c->protocol == PROTOCOL_FULL_DUPLEX)
		return receives
			       ? full_duplex_receives(c, bytes, socket_has_more(sk), call.moved.now)
			       : full_duplex_sends(c, bytes, call.moved.now);
	if (c->protocol == PROTOCOL_TLS)
		return receives ? tls_receives(c, sk, &call.moved) : tls_sends(c, &call.moved);
	if (c->protocol != PROTOCOL_HTTP2)
		return false;
	return receives ? http2_receives(http2_at(c, sk), c, &call, socket_has_more(sk))
			: http2_sends(http2_at(c, sk), c, &call);
}

static __noinline void addressed_receive(struct conversation *c, struct sock *sk, u64 bytes)
{
	u64 now = bpf_ktime_get_ns();

	if (c->role == ROLE_CLIENT)
		client_receives(c, NULL, bytes, now);
	else if (c->datagrams)
		server_receives(c, datagrams_at(c, sk, 1), bytes, socket_datagrams(sk), now);
	else
		server_receives(c, NULL, bytes, socket_has_more(sk), now);
}

static __noinline void addressed_send(struct conversation *c, struct sock *sk, u64 bytes)
{
	u64 now = bpf_ktime_get_ns();

	if (c->role == ROLE_CLIENT)
		client_sends(c, NULL, sk, bytes, now);
	else
		server_sends(c, datagrams_at(c, sk, 0), sk, bytes, now);
}

static __always_inline void call_begin(struct sock *sk, bool receives, u32 flags, void *messages)
{
	struct call *call = or_refused(task_storage_make(&calls, bpf_get_current_task_btf()));

	if (!call)
		return;
	call->sk = receives && flags & MSG_NO_DATA ? NULL : sk;
	call->receives = receives;
	call->flags = flags;
	call->messages = messages;
}

static __always_inline struct call *call_now(void)
{
	return bpf_task_storage_get(&calls, bpf_get_current_task_btf(), NULL, 0);
}

/* A call that calls another ends with it. Global: verified once, not with each message. */
__noinline int call_end(s64 ret)
{
	struct call *call = call_now();
	struct sock *sk = call ? call->sk : NULL;
	struct conversation *c;

	if (!sk)
		return 0;
	call->sk = NULL;
	if (ret < 0 || (ret == 0 && !socket_has_empty(sk)))
		return 0;
	c = conversation_at(sk);
	if (!c || !conversation_own(c, (c->role == ROLE_SERVER) == call->receives))
		return 0;
	if (c->protocol != PROTOCOL_ALTERNATING &&
	    addressed_protocol(c, sk, ret, call->flags, call->receives))
		return 0;
	if (call->receives)
		addressed_receive(c, sk, ret);
	else
		addressed_send(c, sk, ret);
	return 0;
}

#define KPROBE_RETURN(function)                                  \
	SEC("kretprobe/" #function)                              \
	HOOK_SET(4)                                              \
	int BPF_KRETPROBE(request_kretprobe_##function, int ret) \
	{                                                        \
		call_end(ret);                                   \
		return 0;                                        \
	}

#define KPROBE_RECEIVE(function)                                                           \
	SEC("kprobe/" #function)                                                           \
	HOOK_SET(4)                                                                        \
	int BPF_KPROBE(request_kprobe_##function, struct socket *sock, struct msghdr *msg, \
		       size_t size, int flags)                                             \
	{                                                                                  \
		call_begin(BPF_CORE_READ(sock, sk), true, flags, NULL);                    \
		return 0;                                                                  \
	}                                                                                  \
	KPROBE_RETURN(function)

#define KPROBE_SEND(function)                                          \
	SEC("kprobe/" #function)                                       \
	HOOK_SET(4)                                                    \
	int BPF_KPROBE(request_kprobe_##function, struct socket *sock) \
	{                                                              \
		call_begin(BPF_CORE_READ(sock, sk), false, 0, NULL);   \
		return 0;                                              \
	}                                                              \
	KPROBE_RETURN(function)

KPROBE_RECEIVE(inet_recvmsg)
KPROBE_RECEIVE(inet6_recvmsg)
KPROBE_RECEIVE(unix_stream_recvmsg)
KPROBE_SEND(inet_sendmsg)
KPROBE_SEND(inet6_sendmsg)
KPROBE_SEND(unix_stream_sendmsg)
KPROBE_SEND(inet_sendpage)
KPROBE_SEND(unix_stream_sendpage)

SEC("kprobe/sock_def_readable")
HOOK_SET(4)
int BPF_KPROBE(request_kprobe_sock_def_readable, struct sock *sk)
{
	struct conversation *c = conversation_at(sk);

	if (c && c->role == ROLE_SERVER)
		note_arrival(c, datagrams_at(c, sk, -1), bpf_ktime_get_ns());
	return 0;
}

static struct sock *socket_at(u64 fd)
{
	return socket_of(bpf_get_current_task_btf(), fd);
}

/* What recvmmsg and sendmmsg write for each message. */
struct mmsghdr_out {
	u64 msg_hdr[7];
	u32 msg_len;
};

static void messages_end(s64 messages)
{
	struct call *call = call_now();
	struct sock *sk = call ? call->sk : NULL;

	if (!sk)
		return;
	for (u32 i = 0; i < MESSAGES_MAX && i < messages; i++) {
		struct mmsghdr_out *out = call->messages;
		u32 length = 0;

		bpf_probe_read_user(&length, sizeof(length), &out[i].msg_len);
		call->sk = sk;
		call_end(length);
	}
	call->sk = NULL;
}

#define SYSCALL_RETURN(name, end)                         \
	SEC("tracepoint/syscalls/sys_exit_" #name)        \
	HOOK_SET(5)                                       \
	OPTION("syscalls")                                \
	int request_exit_##name(struct syscall_exit *ctx) \
	{                                                 \
		end(ctx->ret);                            \
		return 0;                                 \
	}

#define SYSCALL(name, receives, flags, messages, end)                           \
	SEC("tracepoint/syscalls/sys_enter_" #name)                             \
	HOOK_SET(5)                                                             \
	OPTION("syscalls")                                                      \
	int request_enter_##name(struct syscall_enter *ctx)                     \
	{                                                                       \
		call_begin(socket_at(ctx->args[0]), receives, flags, messages); \
		return 0;                                                       \
	}                                                                       \
	SYSCALL_RETURN(name, end)

SYSCALL(read, true, 0, NULL, call_end)
SYSCALL(readv, true, 0, NULL, call_end)
SYSCALL(recvfrom, true, ctx->args[3], NULL, call_end)
SYSCALL(recvmsg, true, ctx->args[2], NULL, call_end)
SYSCALL(recvmmsg, true, ctx->args[3], (void *)ctx->args[1], messages_end)
SYSCALL(write, false, 0, NULL, call_end)
SYSCALL(writev, false, 0, NULL, call_end)
SYSCALL(sendto, false, 0, NULL, call_end)
SYSCALL(sendmsg, false, 0, NULL, call_end)
SYSCALL(sendmmsg, false, 0, (void *)ctx->args[1], messages_end)
SYSCALL(sendfile64, false, 0, NULL, call_end)

SEC("tracepoint/syscalls/sys_enter_splice")
HOOK_SET(5)
OPTION("syscalls")
int request_enter_splice(struct syscall_enter *ctx)
{
	struct sock *to = socket_at(ctx->args[2]);

	call_begin(to ?: socket_at(ctx->args[0]), !to, 0, NULL);
	return 0;
}
SYSCALL_RETURN(splice, call_end)

#endif
