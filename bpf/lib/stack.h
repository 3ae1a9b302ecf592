/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Stacks that probes send to the engine, in ring buffers with a STACKS tag: which functions had
 * called each other when something was counted. Included by the BPF side and by the engine.
 */
#ifndef STACK_H
#define STACK_H

#include <linux/types.h>

#define STACK_KERNEL_MAX 64 /* frames */
#define STACK_USER_MAX 127
#define STACK_BUILD_ID_SIZE 20

/* Meaning of a frame's location, as in bpf_get_stack() with BPF_F_USER_BUILD_ID. */
enum stack_status {
	STACK_NONE,    /* the stack has ended */
	STACK_OFFSET,  /* an offset in the file that has this build ID */
	STACK_ADDRESS, /* an address in the process */
};

/* The layout of struct bpf_stack_build_id. */
struct stack_frame {
	__s32 status;
	__u8 build_id[STACK_BUILD_ID_SIZE]; /* padded with zeros if it is shorter */
	__u64 location;
};

/* A record: this, kernel_count addresses of the kernel (__u64), and user_count struct stack_frame,
 * the innermost function first. A record with neither may have text up to its end instead: names,
 * each with a NUL, the innermost first. They are the whole line, without comm. */
struct stack_head {
	__u64 value;    /* in the unit of its view */
	__u64 began_ns; /* start of the process, by CLOCK_BOOTTIME; 0: it is the kernel's own */
	__u64 image;    /* changes with each exec of the process */
	__u32 service;  /* its row */
	__u32 pid;      /* of the process, in the first namespace */
	__u32 syscall;  /* 1 + number of the system call that it is in, 0: none or unknown */
	__u16 kernel_count;
	__u16 user_count;
	char comm[16];
};

#endif
