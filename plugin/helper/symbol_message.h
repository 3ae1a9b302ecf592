/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOL_MESSAGE_H
#define EBPF_SYMBOL_MESSAGE_H

/* Messages between the plugin and the program ebpf-symbols, over a socket. Neither trusts the
 * other: sizes are bounded, and the plugin checks the texts and numbers of a reply. */

#include <stdint.h>

/* of this protocol: after an upgrade the two programs may differ in version */
#define SYMBOL_VERSION 3
#define SYMBOL_WANTED_MAX 4096
#define SYMBOL_NAME_MAX 512
#define SYMBOL_TEXT_MAX 512   /* bytes of a reason, or of the arguments of a marker */
#define SYMBOL_NAMED_MAX 1024 /* bytes of the functions at one offset, with the NUL */
#define SYMBOL_BUILD_ID_MAX 64
#define SYMBOL_CPU_S 5
#define SYMBOL_WAIT_MS 8000
#define SYMBOL_REPLY_MAX (16UL << 20)
#define SYMBOL_MEMORY_MAX (512UL << 20)

/* The descriptors of ebpf-symbols. */
enum {
	SYMBOL_FD_SOCKET,
	SYMBOL_FD_FILE,
	SYMBOL_FD_DEBUG, /* a separate file of symbols, or closed */
	SYMBOL_FD_COUNT,
};

enum symbol_request_kind {
	SYMBOL_REQUEST_FIND,
	SYMBOL_REQUEST_NAME,      /* names of code at offsets of a program or library */
	SYMBOL_REQUEST_NAME_MADE, /* names of code at addresses, from a map written for perf */
};

/* The head of every request. */
struct symbol_request {
	uint32_t version;
	uint32_t kind;
	uint32_t has_debug;
	uint32_t wants_inlined; /* SYMBOL_REQUEST_NAME: name inlined functions, too */
	uint32_t count; /* SYMBOL_REQUEST_FIND: of struct symbol_request_name that follow, each
			 * with its name; else of offsets or addresses that follow, uint64_t each */
};

struct symbol_request_name {
	uint32_t kind;
	uint32_t length;
	uint32_t returns;
	uint32_t pad;
	uint64_t offset;
};

/* The reply to SYMBOL_REQUEST_FIND: this head; then for each name in order a struct
 * symbol_reply_name, its reason, and `count` times a struct symbol_reply_location with its arguments
 * behind it. */
struct symbol_reply {
	uint32_t version;
	uint32_t build_id_size;
	uint8_t build_id[SYMBOL_BUILD_ID_MAX]; /* by which a separate file of symbols is found */
	int32_t debug_status; /* why the separate file is not used: -ENOEXEC: it is of another
			       * kind; -ESTALE: it is of another build; -ENODATA: it has no
			       * symbols */
};

struct symbol_reply_name {
	int32_t status;
	uint32_t reason_length;
	uint32_t count;
};

struct symbol_reply_location {
	uint64_t offset;
	uint64_t semaphore;
	uint32_t flags;
	uint32_t arguments_length;
};

/* The reply to the other requests: struct symbol_reply, then this. If the status is 0, for each
 * offset or address in order a uint32_t length below SYMBOL_NAMED_MAX follows, and so many bytes:
 * the names of functions, outermost first, with a NUL between them. Length 0: no name. */
struct symbol_reply_names {
	int32_t status;       /* 0; -ENOEXEC: the file is of another kind; -ENOMEM */
	uint32_t wants_debug; /* 1: a separate file may name more */
};

#endif
