/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Names an upstream, for any probe: by the address to which a socket is connected.
 */
#ifndef UPSTREAM_NAME_BPF_H
#define UPSTREAM_NAME_BPF_H

#include "endpoint.h"
#include "metric.bpf.h"
#include "socket.bpf.h"

#include <bpf/bpf_endian.h>

#define UPSTREAM_NAME_SIZE 56
#define UPSTREAM_UNKNOWN "unknown"
#define UPSTREAM_CUT "..." /* in place of a beginning that does not fit */

/* upstream: the address and the port, or a name such as "/run/postgresql/.s.PGSQL.5432" or
 * "@name". */
struct upstream_key {
	u32 service LABEL("service");
	char upstream[UPSTREAM_NAME_SIZE] LABEL("endpoint");
};

/* Copies a name. If it is too long, its end is copied, where names differ. Returns the number of
 * bytes. */
static __always_inline u64 upstream_put(char *to, u64 room, const char *from, u32 length)
{
	u64 size = length;

	/* In one register, which the verifier of Linux 6.1 bounds. */
	asm volatile("if %0 <= %1 goto +1; %0 = %1" : "+r"(size) : "r"(room));
	bpf_probe_read_kernel(to, size, from + (length - size));
	if (size < length)
		__builtin_memcpy(to, UPSTREAM_CUT, sizeof(UPSTREAM_CUT) - 1);
	return size;
}

/* An abstract name: any bytes after a NUL. NULs are shown as ss(8) does. Global: verified once, and
 * not for each value of a byte. */
__noinline int upstream_of_abstract(u64 name, u32 length, struct upstream_key *ret_key)
{
	char *shown;
	u64 size;

	if (!ret_key)
		return 0;
	shown = ret_key->upstream;
	size = upstream_put(shown + 1, UPSTREAM_NAME_SIZE - 2, (const char *)name + 1, length);
	shown[0] = '@';
	for (u32 i = 1; i < UPSTREAM_NAME_SIZE - 1; i++) {
		if (i > size)
			break;
		if (!shown[i])
			shown[i] = '@';
	}
	return 0;
}

/* The length includes one NUL: at the end of a path, or at the start of an abstract name. */
static void upstream_of_unix(const struct unix_sock *sk, struct upstream_key *ret_key)
{
	const struct unix_sock *peer = (const void *)BPF_CORE_READ(sk, peer);
	const struct unix_address *address = BPF_CORE_READ(peer, addr);
	u32 before = bpf_core_field_offset(struct sockaddr_un, sun_path), length;
	const char *name =
		(const char *)address + before + bpf_core_field_offset(struct unix_address, name);
	char first;

	if (!address || bpf_probe_read_kernel(&first, sizeof(first), name))
		return;
	length = BPF_CORE_READ(address, len) - before - 1;
	if (!first) {
		upstream_of_abstract((u64)name, length, ret_key);
		return;
	}
	upstream_put(ret_key->upstream, UPSTREAM_NAME_SIZE - 1, name, length);
	if ((u8)ret_key->upstream[0] < ' ')
		ret_key->upstream[0] = '_'; /* it is no endpoint */
}

/* Does a socket of IPv6 have an address of IPv4, as in programs that use one kind of socket for
 * both? */
static bool upstream_is_mapped(const struct in6_addr *address)
{
	const u32 *words = (const u32 *)address;

	return !words[0] && !words[1] && words[2] == bpf_htonl(0xffff);
}

static void upstream_of_inet(const struct sock *sk, u16 family, char *ret_name)
{
	u16 port = BPF_CORE_READ(sk, __sk_common.skc_dport);
	u32 address = BPF_CORE_READ(sk, __sk_common.skc_daddr);
	struct in6_addr long_address = {};

	if (family == AF_INET6)
		BPF_CORE_READ_INTO(&long_address, sk, __sk_common.skc_v6_daddr);
	if (!port)
		return;
	if (family == AF_INET || upstream_is_mapped(&long_address)) {
		ret_name[0] = ENDPOINT_IPV4;
		__builtin_memcpy(ret_name + 1, &address, sizeof(address));
		__builtin_memcpy(ret_name + 1 + sizeof(address), &port, sizeof(port));
	} else {
		ret_name[0] = ENDPOINT_IPV6;
		__builtin_memcpy(ret_name + 1, &long_address, sizeof(long_address));
		__builtin_memcpy(ret_name + 1 + sizeof(long_address), &port, sizeof(port));
	}
}

/* Unknown if the socket is not connected. The caller zeroes all of ret_key->upstream. */
static void upstream_name(const struct sock *sk, struct upstream_key *ret_key)
{
	u16 family = sk ? BPF_CORE_READ(sk, __sk_common.skc_family) : 0;

	if (family == AF_UNIX)
		upstream_of_unix((const struct unix_sock *)sk, ret_key);
	else if (family == AF_INET || family == AF_INET6)
		upstream_of_inet(sk, family, ret_key->upstream);
	if (!ret_key->upstream[0])
		__builtin_memcpy(ret_key->upstream, UPSTREAM_UNKNOWN, sizeof(UPSTREAM_UNKNOWN));
}

#endif
