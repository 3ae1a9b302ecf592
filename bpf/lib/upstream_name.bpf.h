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

/* upstream: the address and the port, or as "/run/postgresql/.s.PGSQL.5432". */
struct upstream_key {
	u32 service LABEL("service");
	char upstream[UPSTREAM_NAME_SIZE] LABEL("endpoint");
};

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

/* Of one that is connected to nobody it is not known. ret_name is zeroed whole before. */
static void upstream_name(const struct sock *sk, char *ret_name)
{
	u16 family = sk ? BPF_CORE_READ(sk, __sk_common.skc_family) : 0;

	if (family == AF_UNIX)
		upstream_of_unix((const struct unix_sock *)sk, ret_name);
	else if (family == AF_INET || family == AF_INET6)
		upstream_of_inet(sk, family, ret_name);
	if (!ret_name[0])
		__builtin_memcpy(ret_name, UPSTREAM_UNKNOWN, sizeof(UPSTREAM_UNKNOWN));
}

#endif
