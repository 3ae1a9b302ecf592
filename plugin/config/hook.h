/* SPDX-License-Identifier: MIT */
#ifndef EBPF_HOOK_H
#define EBPF_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOOK_TEXT_MAX 4600 /* bytes; 4095 of them a path */

enum hook_kind {
	HOOK_UPROBE,
	HOOK_URETPROBE,
	HOOK_USDT,
	HOOK_KPROBE,
	HOOK_KRETPROBE,
	HOOK_FENTRY, /* only in Function blocks: a program's function is set before it is loaded */
	HOOK_TRACEPOINT,
	HOOK_PERF,
	HOOK_KINDS
};

/* Where a program can run. */
struct hook {
	enum hook_kind kind;
	char *text;    /* owns the strings below */
	char *service; /* of HOOK_UPROBE, HOOK_URETPROBE and HOOK_USDT: the path is as the processes
			  * of this Service block see it; NULL: as collectd does */
	char *path;    /* of these: absolute, or a name; NULL: the program that the service runs */
	char *category;  /* of HOOK_TRACEPOINT */
	char *name;      /* of a function (in files also demangled) or tracepoint, PROVIDER:NAME;
			  * NULL: only the offset counts */
	uint64_t offset; /* bytes, from the function or in the file */
	uint32_t perf_type;
	uint64_t perf_config;
	uint64_t period;    /* events per run, 0: frequency */
	uint32_t frequency; /* Hz */
};

/* Parses KIND:..., as Attach has it. false: `why` says what is wrong. */
bool hook_parse(const char *text, struct hook *ret_hook, char *why, size_t size);

/* The word before the first colon. */
const char *hook_kind_name(enum hook_kind kind);

void hook_done(struct hook *hook);

#endif
