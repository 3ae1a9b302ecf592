/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What an upstream is called, in whatever probe: the address that a socket is connected to.
 */
#ifndef UPSTREAM_NAME_BPF_H
#define UPSTREAM_NAME_BPF_H

#include "endpoint.h"
#include "metric.bpf.h"
#include "socket.bpf.h"

#include <bpf/bpf_endian.h>

#define UPSTREAM_NAME_SIZE 56
#define UPSTREAM_UNKNOWN "unknown"
#define UPSTREAM_CUT "..." /* in place of a begin that does not fit */

/* upstream: the address and the port, or as "/run/postgresql/.s.PGSQL.5432", "@name". */
struct upstream_key {
	u32 service LABEL("service");
	char upstream[UPSTREAM_NAME_SIZE] LABEL("endpoint");
};

/* Of what is too long the end stays, in which names differ. Returns how many bytes there are. */
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

/* Any bytes behind a NUL. NULs are shown as ss(8) does. Global: verified once, and not for each
 * thing that a byte may be. */
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

/* The length has a NUL in it, that at a path's end, or that at the begin of what is no path. */
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

/* Has a socket of IPv6 an address of IPv4, as programs use that know one kind of socket? */
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

/* Of one that is connected to nobody it is not known. ret_key->upstream is zeroed whole before. */
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
