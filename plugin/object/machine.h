/* SPDX-License-Identifier: MIT */
#ifndef EBPF_MACHINE_H
#define EBPF_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

enum lockdown { LOCKDOWN_UNKNOWN, LOCKDOWN_NONE, LOCKDOWN_INTEGRITY, LOCKDOWN_CONFIDENTIALITY };
enum presence { ABSENT, UNREADABLE, READABLE };

/* What decides whether the kernel permits this process eBPF. */
struct machine {
	uint64_t capabilities; /* effective, as bits */
	enum lockdown lockdown;
	int perf_event_paranoid;
	bool in_user_namespace, has_seccomp_filter, has_kprobes;
	enum presence tracefs, btf; /* btf: of the kernel */
	char security_modules[64];  /* those in force that can forbid eBPF, or "" */
};

void machine_read(struct machine *ret_machine);

#endif
