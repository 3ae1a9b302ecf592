/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Stacks that probes hand to the engine, in ring buffers with a STACKS tag: which functions called each
 * other when something was counted. Included by both sides.
 */
#ifndef STACK_H
#define STACK_H

#include <linux/types.h>

#define STACK_KERNEL_MAX 64 /* frames */
#define STACK_USER_MAX 127
#define STACK_BUILD_ID_SIZE 20

/* What `place` of a frame is: as bpf_get_stack() with BPF_F_USER_BUILD_ID says. */
enum stack_status {
	STACK_NONE,    /* the stack has ended */
	STACK_OFFSET,  /* an offset in the file that has this build ID */
	STACK_ADDRESS, /* an address in the process */
};

/* The same as struct bpf_stack_build_id. */
struct stack_frame {
	__s32 status;
	__u8 build_id[STACK_BUILD_ID_SIZE]; /* with zeros behind, where it is shorter */
	__u64 place;
};

/* A record: this, kernel_count addresses of the kernel (__u64), and user_count struct stack_frame; the
 * innermost function first. One with neither may have text behind it instead, up to its end: names with
 * a NUL behind each, the innermost first, which are the whole line, without comm. */
struct stack_head {
	__u64 value;    /* what it counts for, in the unit of its view */
	__u64 began_ns; /* of the process, by CLOCK_BOOTTIME; 0: it is the kernel's own */
	__u64 image;    /* another number after each exec of the process */
	__u32 service;  /* its row */
	__u32 pid;      /* of the process, in the first namespace */
	__u32 syscall;  /* 1 + the number of the system call that it is in, 0: none is told */
	__u16 kernel_count;
	__u16 user_count;
	char comm[16];
};

#endif
