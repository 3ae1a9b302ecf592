/* SPDX-License-Identifier: MIT */
/*
 * What the daemon and its helper process send each other over a stream socket. Both are the same
 * program, so structs are sent as they are; a helper that a file has stopped is given up, see
 * file_helper.h.
 */
#ifndef EBPF_HELPER_MESSAGE_H
#define EBPF_HELPER_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define HELPER_PATH_MAX 4096
#define HELPER_DESCRIPTORS_MAX 4
#define FILE_OWNER_UNKNOWN ((uid_t)-1)

/* To a helper. The path follows, then the descriptors, each with one byte. */
struct helper_request {
	enum {
		HELPER_FILE,
		HELPER_OPEN,
		HELPER_SYMBOLS,
		HELPER_UPROBE,
		HELPER_UPROBE_MULTI,
	} kind;
	uint32_t path_length;
	uint32_t descriptor_count;
	int32_t pid;       /* HELPER_OPEN: who sees the path, 0: the daemon; path "": its
			    * program */
	uint32_t count;    /* HELPER_UPROBE_MULTI: locations */
	uint64_t offset;   /* HELPER_UPROBE: in the file */
	uint64_t config;   /* HELPER_UPROBE: of perf_event_open(2); _MULTI: flags of the link */
	uint32_t pmu_type; /* HELPER_UPROBE: of perf_event_open(2) */
	uint32_t flags;    /* HELPER_FILE: of open(2) */
	uint64_t size_max; /* HELPER_FILE: bytes to send at most */
};

/* Reply to HELPER_FILE. If status is 0, chunks follow: an int32_t size, then that many bytes. The
 * last chunk has size 0, or a negative errno. */
struct file_status {
	int32_t status;
	uint32_t owner; /* uid, or FILE_OWNER_UNKNOWN */
};

/* Reply to HELPER_OPEN, with the descriptor if status is 0. */
struct open_reply {
	int32_t status;
	uint32_t is_overlay;
	uint64_t device, inode, size, changed_ns;
};

/* Reply to HELPER_SYMBOLS, whose path is that of the program to run with the descriptors. */
struct run_reply {
	int32_t status; /* of confined_run() */
	int32_t ended;  /* its ret_status */
};

/* Reply to HELPER_UPROBE and HELPER_UPROBE_MULTI, with the descriptor of the event or link if
 * status is 0. */
struct uprobe_reply {
	int32_t status;
};

/* Receives exactly this many bytes; false: the other end has closed the socket. */
bool socket_receive(int fd, void *to, size_t size);

/* Sends all bytes; false: the other end has closed the socket. */
bool socket_send(int fd, const void *from, size_t size);

#endif
