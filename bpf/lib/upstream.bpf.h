/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Who it is that a thread waits for in a call on a connection of its own: by the address that it has
 * connected to. Of a call that waits for several that is not known.
 */
#ifndef UPSTREAM_BPF_H
#define UPSTREAM_BPF_H

#include "blocked.bpf.h"
#include "refused.bpf.h"

#include <bpf/bpf_endian.h>

#define UPSTREAM_NAME_SIZE 56

/* upstream: "192.0.2.1:3306", "[2001:db8::1]:3306", "/run/postgresql/.s.PGSQL.5432". */
struct upstream_key {
	u32 service LABEL("service");
	char upstream[UPSTREAM_NAME_SIZE] LABEL("string");
};

struct upstream_row {
	u64 ns METRIC("delay_rate-upstream rate scale=1/1000000000") UNIT("seconds per second")
		HELP("Waiting for another service: on its connections, by address, by samples")
			DEFAULT(off);
};

/* Whose number others may choose: of the 1024 met last. */
LRU_HASH(upstreams, struct upstream_key, struct upstream_row, 1024) SUBJECT("key");

/* One that has no path has a NUL before its name. */
static void upstream_of_unix(const struct unix_sock *sk, char *ret_name)
{
	const struct unix_sock *peer = (const void *)BPF_CORE_READ(sk, peer);
	const struct unix_address *address = BPF_CORE_READ(peer, addr);
	const char *path;

	if (!address)
		return;
	path = (const char *)address + bpf_core_field_offset(struct unix_address, name) +
	       bpf_core_field_offset(struct sockaddr_un, sun_path);
	if (bpf_probe_read_kernel_str(ret_name, UPSTREAM_NAME_SIZE, path) > 1)
		return;
	ret_name[0] = '@';
	bpf_probe_read_kernel_str(ret_name + 1, UPSTREAM_NAME_SIZE - 1, path + 1);
}

static void upstream_of_inet(const struct sock *sk, u16 family, char *ret_name)
{
	u32 port = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
	u32 address = BPF_CORE_READ(sk, __sk_common.skc_daddr);
	struct in6_addr long_address = {};

	if (family == AF_INET) {
		BPF_SNPRINTF(ret_name, UPSTREAM_NAME_SIZE, "%pI4:%u", &address, port);
		return;
	}
	BPF_CORE_READ_INTO(&long_address, sk, __sk_common.skc_v6_daddr);
	BPF_SNPRINTF(ret_name, UPSTREAM_NAME_SIZE, "[%pI6c]:%u", &long_address, port);
}

/* The socket that the call of a blocked thread is about, NULL: none, or several. */
static const struct sock *upstream_socket(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	switch (call_kind(call_number(regs))) {
	case CALL_RECEIVE:
	case CALL_SEND:
	case CALL_CONNECT:
		return socket_of(task, PT_REGS_PARM1_CORE_SYSCALL(regs));
	default:
		return NULL;
	}
}

/* Of a thread that is BLOCKED_UPSTREAM; without a name: not known. */
static void upstream_find(struct task_struct *task, char *ret_name)
{
	const struct sock *sk = upstream_socket(task);
	u16 family = sk ? BPF_CORE_READ(sk, __sk_common.skc_family) : 0;

	if (family == AF_UNIX)
		upstream_of_unix((const struct unix_sock *)sk, ret_name);
	else if (family == AF_INET || family == AF_INET6)
		upstream_of_inet(sk, family, ret_name);
	if (!ret_name[0])
		__builtin_memcpy(ret_name, "unknown", sizeof("unknown"));
}

/* A thread of this service has waited so long. */
static __noinline void upstream_count(struct task_struct *task, u32 service, u64 ns)
{
	struct upstream_key key = { .service = service };
	struct upstream_row none = {}, *row;

	upstream_find(task, key.upstream);
	row = bpf_map_lookup_elem(&upstreams, &key);
	if (!row) {
		bpf_map_update_elem(&upstreams, &key, &none, BPF_NOEXIST);
		row = or_refused(bpf_map_lookup_elem(&upstreams, &key));
	}
	if (row)
		add(&row->ns, ns);
}

#endif
