/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The kernel's types, as far as the probes touch them. Declared by hand and
 * relocated by CO-RE on the running kernel, so that the build needs neither
 * kernel headers nor BTF. Member order and offsets here mean nothing.
 */
#ifndef KERNEL_BPF_H
#define KERNEL_BPF_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
/* For libbpf this is vmlinux.h: registers have the kernel's own names. */
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

#define PF_EXITING 0x00000004
#define PF_KTHREAD 0x00200000
#define EXIT_DEAD 0x00000010
#define EXIT_ZOMBIE 0x00000020
#define TASK_COMM_LEN 16

#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define SOCK_STREAM 1
#define SOCK_DGRAM 2
#define IPPROTO_MPTCP 262
#define TCP_ESTABLISHED 1
#define TCP_LISTEN 10
#define MSG_PEEK 0x2
#define MSG_ERRQUEUE 0x2000
#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define SOCK_BINDPORT_LOCK 8
#define RCV_SHUTDOWN 1
#define USER_CS 0x33
#define PSR_MODE32_BIT 0x10

enum { MM_FILEPAGES, MM_ANONPAGES, MM_SWAPENTS, MM_SHMEMPAGES, NR_MM_COUNTERS };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* Of x86-64 and of arm64. */
struct pt_regs {
	unsigned long di, si, dx, cx, r8, ax, bp, sp, ip, orig_ax, cs;
	u64 pstate;
	s32 syscallno;
};

struct user_pt_regs {
	u64 regs[31];
	u64 sp, pc;
};

struct rq {
	u64 clock;
	u64 clock_task;
	int cpu;
};

struct cfs_rq {
	struct rq *rq;
};

struct sched_entity {
	u64 exec_start;
	u64 sum_exec_runtime;
	struct cfs_rq *cfs_rq;
};

struct sched_info {
	unsigned long long run_delay;
	unsigned long long last_arrival;
	unsigned long long last_queued;
};

struct task_io_accounting {
	u64 rchar;
	u64 wchar;
	u64 syscr;
	u64 syscw;
	u64 read_bytes;
	u64 write_bytes;
};

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic_long_t;

struct signal_struct {
	atomic_t live;
	unsigned long maxrss;
	struct task_struct *group_exec_task; /* of 5.17: 60700e38fb68 */
};

struct signal_struct___v5_16 {
	struct task_struct *group_exit_task;
};

struct percpu_counter {
	s64 count;
	s32 *counters;
};

struct mm_rss_stat {
	atomic_long_t count[NR_MM_COUNTERS];
};

struct mm_struct {
	unsigned long hiwater_rss;
	unsigned long total_vm;
	struct percpu_counter rss_stat[NR_MM_COUNTERS];
};

struct kernfs_node {
	const char *name;
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	int level;
	struct cgroup *ancestors[1]; /* as many as level, and the group itself */
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct completion;

typedef struct {
	u32 val;
} kuid_t;

struct cred {
	kuid_t euid;
};

struct inode {
	unsigned short i_mode;
};

struct file {
	struct inode *f_inode;
	void *private_data;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct thread_info {
	u32 cpu;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int flags;
	unsigned int on_cpu; /* of 8 bits in 7.3: libbpf adjusts loads of unsigned members */
	int on_rq;
	unsigned int exit_state;
	int pid;
	int tgid;
	char comm[TASK_COMM_LEN];
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct completion *vfork_done;
	struct mm_struct *mm;
	struct files_struct *files;
	struct signal_struct *signal;
	struct css_set *cgroups;
	const struct cred *cred;
	u64 self_exec_id; /* of 32 bits before 5.7 */
	u64 parent_exec_id;
	u64 start_boottime;
	u64 utime;
	u64 stime;
	unsigned long nvcsw;
	unsigned long nivcsw;
	unsigned long min_flt;
	unsigned long maj_flt;
	struct sched_entity se;
	struct sched_info sched_info;
	struct task_io_accounting ioac;
};

struct sk_buff_head {
	u32 qlen;
};

struct sock_common {
	u64 skc_addrpair;
	u32 skc_portpair;
	unsigned short skc_family;
	volatile unsigned char skc_state;
};

struct sock {
	struct sock_common __sk_common;
	unsigned char sk_userlocks : 4;
	u8 sk_shutdown;
	u16 sk_type;
	u16 sk_protocol;
	void *sk_user_data;
	u32 sk_max_ack_backlog;
	struct sk_buff_head sk_receive_queue;
};

struct tcp_ulp_ops;

struct inet_connection_sock {
	const struct tcp_ulp_ops *icsk_ulp_ops;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 snd_nxt;
	u32 write_seq;
	u64 tcp_clock_cache;
};

/* Not of every kernel. */
struct mptcp_sock {
	struct sock *first;
};

struct socket {
	struct sock *sk;
};

typedef struct refcount_struct {
	atomic_t refs;
} refcount_t;

struct unix_address {
	refcount_t refcnt;
};

struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
};

struct udp_sock {
	struct sk_buff_head reader_queue;
};

struct msghdr;
struct page;
struct linux_binprm;
struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	u64 seq_num;
};

struct bpf_map;

/* Both with key, sk or value NULL when all have been shown. */
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

struct bpf_array {
	void *pptrs[1];
};

#pragma clang attribute pop

#endif
