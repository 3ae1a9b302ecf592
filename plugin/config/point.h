/* SPDX-License-Identifier: MIT */
#ifndef EBPF_POINT_H
#define EBPF_POINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POINT_TEXT_MAX 4600 /* bytes; 4095 of them a path */

enum point_kind {
	POINT_UPROBE,
	POINT_URETPROBE,
	POINT_USDT,
	POINT_KPROBE,
	POINT_KRETPROBE,
	POINT_FENTRY, /* only in Function blocks: a program's function is set before it is loaded */
	POINT_TRACEPOINT,
	POINT_PERF,
	POINT_KINDS
};

/* Where a program can run. */
struct point {
	enum point_kind kind;
	char *text;    /* owns the strings below */
	char *service; /* of POINT_UPROBE, POINT_URETPROBE and POINT_USDT: the path is as the processes
			  * of this Service block see it; NULL: as collectd does */
	char *path;    /* of these: absolute, or a name; NULL: the program that the service runs */
	char *category;  /* of POINT_TRACEPOINT */
	char *name;      /* of a function (in files also demangled) or tracepoint, PROVIDER:NAME;
			  * NULL: only the offset counts */
	uint64_t offset; /* bytes, from the function or in the file */
	uint32_t perf_type;
	uint64_t perf_config;
	uint64_t period;    /* events per run, 0: frequency */
	uint32_t frequency; /* Hz */
};

/* Parses KIND:..., as Attach has it. false: `why` says what is wrong. */
bool point_parse(const char *text, struct point *ret_hook, char *why, size_t size);

/* The word before the first colon. */
const char *point_kind_name(enum point_kind kind);

void point_done(struct point *point);

#endif
