/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The empty programs of floor.bpf.c where the kernel lacks these tracepoints:
 * on the functions that the request probe hooks instead, for TCP over IPv4.
 */
#include "kernel.bpf.h"

SEC("fexit/inet_recvmsg")
int floor_receive(void *ctx)
{
	return 0;
}

SEC("fexit/inet_sendmsg")
int floor_send(void *ctx)
{
	return 0;
}

SEC("fentry/sock_def_readable")
int floor_data_ready(void *ctx)
{
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
