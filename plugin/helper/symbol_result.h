/* SPDX-License-Identifier: MIT */
/*
 * What is wanted of a program or library, and what ebpf-symbols finds in it: locations of functions
 * and markers, and names of code.
 */
#ifndef EBPF_SYMBOL_RESULT_H
#define EBPF_SYMBOL_RESULT_H

#include "util/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYMBOL_LOCATIONS_MAX 256 /* locations of one name */
#define SYMBOL_OFFSETS_MAX 4096  /* offsets that are named at once */

/* A function or marker to find. The text stays the caller's. */
struct symbol_wanted {
	enum { SYMBOL_FUNCTION, SYMBOL_MARKER } kind;
	const char *name; /* a function's as in the file, or demangled; a marker's PROVIDER:NAME;
			   * NULL: offset counts from the start of the file */
	uint64_t offset;  /* bytes, from the function, or in the file */
	bool returns;     /* also find the instructions that return from the function */
};

enum {
	SYMBOL_SINGLE_STEP = 1, /* the kernel cannot emulate the instruction: 20 times as slow */
	SYMBOL_GO = 2,          /* a function of Go, whose stacks do not survive a uretprobe */
	SYMBOL_RETURN = 4,     /* not the entry but an instruction that returns from the function */
	SYMBOL_NO_RETURNS = 8, /* an entry; it is unknown where the function returns */
};

struct symbol_location {
	uint64_t offset;    /* in the file */
	uint64_t semaphore; /* offset in the file of the count of a marker's users; 0: none */
	uint32_t flags;     /* SYMBOL_SINGLE_STEP and others */
	char *arguments;    /* of a marker, as sys/sdt.h writes them: "-4@%edi 8@%rax"; else NULL */
};

/* What was found of one struct symbol_wanted. */
struct symbol_found {
	/* 0 or a negative errno, and the error says why and what to do: -ESRCH: no such name;
	 * -ENOTUNIQ: several functions have it; -ENODATA: the file has no symbols; -ENOEXEC: it is
	 * no program of this machine; -EOPNOTSUPP: the program chooses the function when it starts
	 * (IFUNC); -ENOMSG: no such marker; -EFAULT: no code is there; -EAGAIN: the separate file
	 * of symbols, which may have it, could not be read now. With 0 the error says why
	 * SYMBOL_NO_RETURNS is set. */
	int status;
	struct error error;
	struct symbol_location *locations; /* a function's entry comes first */
	size_t count;
};

void symbol_found_done(struct symbol_found *found, size_t count);

/* Names of code, in the order of the offsets or addresses that were asked for. */
struct symbol_names {
	char *bytes;       /* all texts, each with a NUL */
	const char **name; /* NULL: unknown; else the function, and behind it the functions inlined
			    * there, outermost first, with ";" between them */
	size_t count;
};

void symbol_names_done(struct symbol_names *names);

#endif
