/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CAUSE_H
#define EBPF_CAUSE_H

#include "config/hook.h"
#include "machine.h"
#include "util/message.h"

#define CAUSE_MAX 256

/* Other hooks fail for these, too. */
enum cause_of_machine {
	USER_NAMESPACE,
	NO_RIGHTS,
	LOCKDOWN,
	TRACEFS_CLOSED,
	PARANOID,
	UPROBES_OF_ADMIN,
	UNNAMED,
	NO_TRACEFS,
	NO_KPROBES,
	NO_UPROBES,
	NO_BTF,
	BTF_CLOSED,
	BTF_BROKEN,
	CAUSES_OF_MACHINE
};

/* For each cause of the machine: what it was logged for, "": it was not. */
struct causes_logged {
	char of[CAUSES_OF_MACHINE][128];
};

/* What was tried with an object. */
enum failed_step { FAILED_OPEN, FAILED_LOAD, FAILED_ATTACH };

struct failure {
	enum failed_step step;
	int code;                    /* a negative errno, or an error of libbpf */
	enum hook_kind kind;         /* of an attachment; HOOK_KINDS: another kind */
	bool is_configured;          /* the configuration names the hook, not the object */
	const char *words, *verdict; /* of libbpf and the verifier, or "" */
};

/* Sets cause to why this failed on this machine, with the remedy. */
void cause_find(const struct failure *failure, const struct machine *machine,
		char cause[CAUSE_MAX]);

/* Is there a cause of the machine in this text? */
bool cause_is_of_machine(const char *text);

/* Before an error is logged for something, which the format names. If its cause was logged before, the
 * error becomes "for the same reason as" what that was logged for. */
void cause_log_once(struct causes_logged *logged, struct error *error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
