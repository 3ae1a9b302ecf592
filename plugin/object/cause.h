/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CAUSE_H
#define EBPF_CAUSE_H

#include "config/hook.h"
#include "machine.h"

#define CAUSE_MAX 256

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

/* Is the cause in this text one for which other hooks fail, too? */
bool cause_is_of_machine(const char *text);

#endif
