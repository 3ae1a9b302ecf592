/* SPDX-License-Identifier: MIT */
/*
 * A probe for tests that iterates over maps: the sockets on which one process listens, each with
 * its port in a socket storage, the ports on which it ever did, in a hash, and an array that the
 * service object shares.
 *
 * Hooks: tp_btf inet_sock_set_state; iter/bpf_sk_storage_map, iter/bpf_map_elem.
 */
#include "kernel/net.bpf.h"
#include "services/service.bpf.h"

#define STATE_LISTEN 10

const volatile u32 listener = 0; /* thread group */

struct row {
	u64 sockets METRIC("gauge-sockets");
	u64 socket_ports METRIC("gauge-socket_ports");
	u64 keys METRIC("gauge-keys");
	u64 key_ports METRIC("gauge-key_ports");
	u64 times METRIC("gauge-times");
	u64 moves METRIC("derive-moves");
	u64 moves_seen METRIC("derive-moves_seen");
};

MMAP_ARRAY(iter_map_rows, struct row, 1) SUBJECT("probe");

SK_STORAGE(sockets, u64);

HASH(ports, u32, u64, 4096);

struct found {
	u64 count, ports, times;
} in_sockets, in_hash;

static struct row *row(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&iter_map_rows, &zero);
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(iter_map_state, struct sock *sk, int before, int now)
{
	u32 port = sk->__sk_common.skc_portpair >> 16;
	u64 in_socket = port, once = 1, *times;

	if (now != STATE_LISTEN || bpf_get_current_pid_tgid() >> 32 != listener)
		return 0;
	bpf_sk_storage_get(&sockets, sk, &in_socket, BPF_SK_STORAGE_GET_F_CREATE);
	times = bpf_map_lookup_elem(&ports, &port);
	if (times)
		add(times, 1);
	else
		bpf_map_update_elem(&ports, &port, &once, BPF_ANY);
	return 0;
}

SEC("iter/bpf_sk_storage_map")
ITER_MAP(sockets)
int iter_map_sockets(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	u64 *port = ctx->value;
	struct row *to = row();

	if (ctx->sk && port) {
		in_sockets.count++;
		in_sockets.ports += *port;
	} else if (to) {
		to->sockets = in_sockets.count;
		to->socket_ports = in_sockets.ports;
		in_sockets = (struct found){ 0 };
	}
	return 0;
}

SEC("iter/bpf_map_elem")
ITER_MAP(ports)
int iter_map_ports(struct bpf_iter__bpf_map_elem *ctx)
{
	u32 *port = ctx->key;
	u64 *times = ctx->value;
	struct row *to = row();

	if (port && times) {
		in_hash.count++;
		in_hash.ports += *port;
		in_hash.times += *times;
	} else if (to) {
		to->keys = in_hash.count;
		to->key_ports = in_hash.ports;
		to->times = in_hash.times;
		in_hash = (struct found){ 0 };
	}
	return 0;
}

SEC("iter/bpf_map_elem")
ITER_MAP(service_moves)
int iter_map_moves(struct bpf_iter__bpf_map_elem *ctx)
{
	u64 *seen = ctx->value, *moves = service_moves_at();
	struct row *to = row();

	if (!to || !seen || !moves)
		return 0;
	to->moves_seen = *seen;
	to->moves = *moves;
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
