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
	POINT_FENTRY, /* of Function blocks alone: a program has its target before it is loaded */
	POINT_TRACEPOINT,
	POINT_PERF,
	POINT_KINDS
};

/* Where a program can be attached. */
struct point {
	enum point_kind kind;
	char *text;    /* which the others are parts of */
	char *service; /* of POINT_UPROBE, POINT_URETPROBE and POINT_USDT: the path is as the processes
			  * of this Service block see it; NULL: as collectd does */
	char *path;    /* of these, absolute; NULL: the program that the service runs */
	char *category;  /* of POINT_TRACEPOINT */
	char *name;      /* of a function (in files also demangled) or tracepoint, PROVIDER:NAME;
			  * NULL: the offset alone */
	uint64_t offset; /* bytes, from the function or in the file */
	uint32_t perf_type;
	uint64_t perf_config;
	uint64_t period;    /* events from one to the next, 0: frequency */
	uint32_t frequency; /* Hz */
};

/* KIND:REST, as Attach has it. false: `why` says what is wrong. */
bool point_parse(const char *text, struct point *ret_point, char *why, size_t size);

/* As it stands in front of the first colon. */
const char *point_kind_name(enum point_kind kind);

void point_done(struct point *point);

#endif
