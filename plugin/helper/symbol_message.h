/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOL_MESSAGE_H
#define EBPF_SYMBOL_MESSAGE_H

/* What the plugin and the program ebpf-symbols tell each other over a socket. Neither believes the
 * other: sizes are bounded, and answers are text and numbers that the plugin checks. */

#include <stdint.h>

#define SYMBOL_VERSION 3 /* of this page: the two may be of different versions after an upgrade */
#define SYMBOL_WANTED_MAX 4096
#define SYMBOL_NAME_MAX 512
#define SYMBOL_TEXT_MAX 512   /* of a reason, and of the arguments of a marker */
#define SYMBOL_NAMED_MAX 1024 /* of the functions at an offset, with the NUL */
#define SYMBOL_BUILD_ID_MAX 64
#define SYMBOL_CPU_S 5
#define SYMBOL_WAIT_MS 8000
#define SYMBOL_ANSWER_MAX (16UL << 20)
#define SYMBOL_MEMORY_MAX (512UL << 20)

/* The descriptors that ebpf-symbols is started with. */
enum {
	SYMBOL_FD_SOCKET,
	SYMBOL_FD_FILE,
	SYMBOL_FD_DEBUG, /* a separate file of symbols, or nothing */
	SYMBOL_FD_COUNT,
};

enum symbol_request_kind {
	SYMBOL_REQUEST_FIND,
	SYMBOL_REQUEST_NAME,      /* code at offsets of a program or library */
	SYMBOL_REQUEST_NAME_MADE, /* code at addresses, by a map for perf */
};

/* What every request begins with. */
struct symbol_request {
	uint32_t version;
	uint32_t kind;
	uint32_t has_debug;
	uint32_t wants_inlined; /* of SYMBOL_REQUEST_NAME: also inlined functions */
	uint32_t count; /* of SYMBOL_REQUEST_FIND: of struct symbol_request_name, each with its
			 * name; else of uint64_t, the offsets or addresses */
};

struct symbol_request_name {
	uint32_t kind;
	uint32_t length;
	uint32_t returns;
	uint32_t pad;
	uint64_t offset;
};

/* The answer to SYMBOL_REQUEST_FIND: one of these, then for each name in order a struct symbol_answer_name, its reason, and
 * so many struct symbol_answer_place, each with its arguments behind it. */
struct symbol_answer {
	uint32_t version;
	uint32_t build_id_size;
	uint8_t build_id[SYMBOL_BUILD_ID_MAX]; /* where a separate file may have more symbols */
	int32_t debug_status; /* why the separate file is of no use: -ENOEXEC: it is of another
			       * kind; -ESTALE: of another build; -ENODATA: it has no symbols */
};

struct symbol_answer_name {
	int32_t status;
	uint32_t reason_length;
	uint32_t count;
};

struct symbol_answer_place {
	uint64_t offset;
	uint64_t semaphore;
	uint32_t flags;
	uint32_t arguments_length;
};

/* The answer to the other requests: struct symbol_answer, one of these, and if its status is 0, for
 * each offset or address in order a uint32_t and so many bytes, fewer than SYMBOL_NAMED_MAX: the names
 * of functions, the outermost first, with a NUL between them; 0: none. */
struct symbol_answer_names {
	int32_t status;       /* -ENOEXEC: the file is of another kind; -ENOMEM */
	uint32_t wants_debug; /* a separate file may name more */
};

#endif
