/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Empty programs on the hooks of the request probe: the least that anything
 * costs which sees each call on a socket.
 */
#include "kernel.bpf.h"

SEC("tp_btf/sock_recv_length")
int floor_receive(void *ctx)
{
	return 0;
}

SEC("tp_btf/sock_send_length")
int floor_send(void *ctx)
{
	return 0;
}

SEC("tp_btf/sk_data_ready")
int floor_data_ready(void *ctx)
{
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
