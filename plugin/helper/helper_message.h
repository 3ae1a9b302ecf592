/* SPDX-License-Identifier: MIT */
/*
 * What the daemon and its helper process send each other over a stream socket. Both are the same
 * program, so structs are sent as they are; a helper that a file has stopped is given up, see
 * file_helper.h.
 *
 * A request is its head, the path, the descriptors, each with one byte, and the payload.
 */
#ifndef EBPF_HELPER_MESSAGE_H
#define EBPF_HELPER_MESSAGE_H

#include <stdint.h>
#include <sys/types.h>

#define HELPER_PATH_MAX 4096
#define HELPER_DESCRIPTORS_MAX 4
#define FILE_OWNER_UNKNOWN ((uid_t)-1)

struct helper_request {
	enum helper_kind {
		HELPER_READ,
		HELPER_OPEN,
		HELPER_SYMBOLS,
		HELPER_UPROBE_EVENT,
		HELPER_UPROBE_MULTI,
		HELPER_KINDS,
	} kind;
	uint32_t path_length;
	uint32_t descriptor_count;
	uint32_t payload_size;
};

/* What differs after a file was written or replaced. All 0: of no file. */
struct file_stamp {
	uint64_t device, inode, size;
	uint64_t modified_ns, changed_ns; /* its content; its content or its inode */
};

/* HELPER_READ: reads the regular file at the path, or, if flags have O_DIRECTORY, the names in the
 * directory, each followed by a NUL. */
struct read_request {
	uint64_t size_max;        /* bytes to send at most */
	uint32_t flags;           /* of open(2) */
	int32_t pid;              /* who sees the path, 0: the daemon */
	struct file_stamp unless; /* the file still has this stamp */
};

/* If status is 0, chunks follow: an int32_t size, then that many bytes. The last chunk has size 0,
 * or a negative errno. -EALREADY: the file has the stamp of the request. */
struct read_reply {
	int32_t status;
	uint32_t owner; /* uid, or FILE_OWNER_UNKNOWN */
	uint32_t mode;  /* as st_mode of stat(2) */
	uint32_t pad;
	struct file_stamp stamp;
};

/* HELPER_OPEN: opens the path. */
struct open_request {
	int32_t pid; /* who sees the path, 0: the daemon; path "": its program */
};

/* With the descriptor if status is 0. */
struct open_reply {
	int32_t status;
	uint32_t is_overlay;
	uint64_t device, inode, size, changed_ns;
};

/* HELPER_SYMBOLS: runs the program at the path with the descriptors. No payload. */
struct run_reply {
	int32_t status; /* of confined_run() */
	int32_t ended;  /* its ret_status */
};

/* HELPER_UPROBE_EVENT: opens a perf event in the file of the descriptor. */
struct event_request {
	uint64_t offset;   /* in the file */
	uint64_t config;   /* as pmu_type of perf_event_open(2) */
	uint32_t pmu_type; /* "uprobe" */
	uint32_t pad;
};

/* HELPER_UPROBE_MULTI: links the program of the first descriptor to locations of the file of the
 * second. Behind this struct come their offsets, then their semaphores (0: none), then their
 * cookies, each a uint64_t. */
struct link_request {
	uint64_t flags; /* UPROBE_MULTI_RETURN */
};

/* Of both, with the descriptor of the event or link if status is 0. */
struct uprobe_reply {
	int32_t status;
};

#define UPROBE_MULTI_RETURN 1  /* BPF_F_UPROBE_MULTI_RETURN */
#define UPROBE_MULTI_MAX 65536 /* locations of one link */

#endif
