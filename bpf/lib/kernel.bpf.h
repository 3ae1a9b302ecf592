/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Kernel types, as far as probes use them: programs and their contexts here, the others by
 * subsystem in kernel/, together with what differs between kernel versions. They are declared by
 * hand and relocated by CO-RE on the running kernel, so the build needs neither kernel headers nor
 * BTF. Order and offsets of members are meaningless here.
 */
#ifndef KERNEL_BPF_H
#define KERNEL_BPF_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
/* Tells libbpf to use the kernel's own register names, as with vmlinux.h. */
#define __VMLINUX_H__
#include <bpf/bpf_tracing.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef __SIZE_TYPE__ size_t;
typedef long ssize_t;

#define USER_CS 0x33
#define PSR_MODE32_BIT 0x10

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic_long_t;

typedef struct refcount_struct {
	atomic_t refs;
} refcount_t;

struct list_head {
	struct list_head *next, *prev;
};

struct wait_queue_head {
	struct list_head head;
};

/* Registers of x86-64 and of arm64. */
struct pt_regs {
	unsigned long di, si, dx, cx, r8, r10, r14, ax, bp, sp, ip, orig_ax, cs;
	u64 regs[31];
	u64 orig_x0, pstate;
	s32 syscallno;
};

struct user_pt_regs {
	u64 regs[31];
	u64 sp, pc;
};

struct seq_file;
struct sock;
struct task_struct;
struct bpf_map;
struct file;

struct bpf_iter_meta {
	struct seq_file *seq;
	u64 seq_num;
};

/* In both, key, sk or value is NULL after the last element. */
struct bpf_iter__bpf_map_elem {
	struct bpf_iter_meta *meta;
	struct bpf_map *map;
	void *key;
	void *value;
};

struct bpf_iter__bpf_sk_storage_map {
	struct bpf_iter_meta *meta;
	struct bpf_map *map;
	struct sock *sk;
	void *value;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

/* Either is NULL after the last file. */
struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct file *file;
};

struct bpf_array {
	void *pptrs[1];
};

#pragma clang attribute pop

/* Do the registers belong to a 32-bit program, which numbers system calls differently? */
static __always_inline bool regs_32_bit(const struct pt_regs *regs)
{
#ifdef __TARGET_ARCH_x86
	return regs->cs != USER_CS;
#else
	return regs->pstate & PSR_MODE32_BIT;
#endif
}

enum bpf_func_id___loop {
	BPF_FUNC_loop___loop = 181,
};

/* bpf_loop() exists since 5.17: e6f2dd0f8067 ("bpf: Add bpf_loop helper"). */
static __always_inline bool kernel_has_loop(void)
{
	return bpf_core_enum_value_exists(enum bpf_func_id___loop, BPF_FUNC_loop___loop);
}

/* The return value of a callback of bpf_loop() or bpf_for_each_map_elem(): 1 ends the loop. The
 * verifier requires a proven 0 or 1, but a compiler may return a bool from memory unmasked. */
static __always_inline long ends_loop(bool ends)
{
	long result = ends;

	asm volatile("%0 &= 1" : "+r"(result));
	return result;
}

#endif
