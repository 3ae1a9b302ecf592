/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Kernel types of tasks and of the scheduler.
 */
#ifndef KERNEL_SCHED_BPF_H
#define KERNEL_SCHED_BPF_H

#include "kernel.bpf.h"

#define PF_EXITING 0x00000004
#define PF_IO_WORKER 0x00000010
#define PF_MEMALLOC 0x00000800
#define PF_KTHREAD 0x00200000
#define EXIT_DEAD 0x00000010
#define TASK_COMM_LEN 16
#define TASK_UNINTERRUPTIBLE 2
#define TASK_STOPPED_OR_TRACED 12
/* Since 6.1: f5d39b020809 ("freezer,sched: Rewrite core freezer logic"). */
#define TASK_FROZEN 0x8000
#define SIGNAL_GROUP_EXIT 4
#define JOBCTL_TRAP_FREEZE (1 << 23)

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct completion;
struct css_set;
struct files_struct;
struct io_uring_task;
struct mm_struct;

struct rq {
	u64 clock;
	u64 clock_task;
	int cpu;
	unsigned long nr_uninterruptible; /* only the sum of all CPUs, of 32 bits, has a meaning */
};

struct cfs_bandwidth {
	s64 period;
	u64 quota;
};

struct task_group {
	struct task_group *parent;
	struct cfs_bandwidth cfs_bandwidth;
};

struct cpumask {
	unsigned long bits[1];
};

struct cfs_rq {
	struct rq *rq;
};

struct sched_entity {
	u64 exec_start;
	u64 sum_exec_runtime;
	u64 nr_migrations;
	struct cfs_rq *cfs_rq;
};

struct sched_info {
	unsigned long pcount;
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

struct signal_struct {
	atomic_t live;
	int nr_threads;
	int group_exit_code;
	unsigned int flags;
	unsigned long maxrss;
	struct task_struct *group_exec_task; /* since 5.17: 60700e38fb68 */
};

struct kernel_siginfo {
	int si_code;
};

struct signal_struct___v5_16 {
	struct task_struct *group_exit_task;
};

typedef struct {
	u32 val;
} kuid_t;

struct cred {
	kuid_t euid;
};

struct thread_info {
	u32 cpu;
};

struct pollfd;

struct restart_block {
	struct {
		u32 val;
	} futex;
	struct {
		struct pollfd *ufds; /* the address of the futex, too */
		u32 nfds;
	} poll;
};

struct task_struct {
	struct thread_info thread_info;
	struct restart_block restart_block;
	unsigned int __state;
	unsigned int flags;
	/* Both have 8 bits in 7.3. libbpf adjusts the size of loads of unsigned members; where the
	 * task is no pointer to the verifier, they are read as bit fields, which have any size. */
	unsigned int on_cpu;
	unsigned int on_rq;
	unsigned int exit_state;
	int exit_code;
	unsigned int in_iowait : 1;
	unsigned int in_memstall : 1; /* not in every kernel */
	unsigned int frozen : 1;      /* all that a frozen cgroup of version 2 waits for */
	unsigned long jobctl;
	int pid;
	int tgid;
	char comm[TASK_COMM_LEN];
	struct task_struct *real_parent;
	struct list_head children; /* of this thread, the newest last */
	struct list_head sibling;  /* in the children of real_parent */
	struct task_struct *group_leader;
	struct completion *vfork_done;
	struct mm_struct *mm;
	struct files_struct *files;
	struct io_uring_task *io_uring; /* not in every kernel */
	struct signal_struct *signal;
	struct css_set *cgroups;
	const struct cred *cred;
	u64 self_exec_id; /* 32 bits before 5.7 */
	u64 parent_exec_id;
	u64 start_time; /* by the clock of bpf_ktime_get_ns() */
	u64 start_boottime;
	u64 utime;
	u64 stime;
	unsigned long nvcsw;
	unsigned long nivcsw;
	unsigned long min_flt;
	unsigned long maj_flt;
	struct sched_entity se;
	struct sched_info sched_info;
	struct task_group *sched_task_group;
	int nr_cpus_allowed;
	struct cpumask cpus_mask;
	struct task_io_accounting ioac;
};

#pragma clang attribute pop

/* For iterators since 6.2: 3f0e6f2b41d3 ("bpf: Add bpf_task_from_pid() kfunc"). */
extern struct task_struct *bpf_task_from_pid(s32 pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;

enum bpf_func_id___6_2 {
	BPF_FUNC_cgrp_storage_get___6_2 = 210,
};

/* Older kernels refuse a program with this as one for which they lack something, as that helper is
 * of the same version. Without it the verifier stops somewhere else, with a misleading verdict. */
static __always_inline void needs_task_from_pid(void)
{
	u32 number = bpf_core_enum_value(enum bpf_func_id___6_2, BPF_FUNC_cgrp_storage_get___6_2);

	asm volatile("" : : "r"(number));
}

/* The current task. However often a function asks, it is fetched once: unlike calls of the helper,
 * these are merged by the compiler. */
static __always_inline struct task_struct *current_task(void)
{
	struct task_struct *task;

	asm("call %1; %0 = r0"
	    : "=r"(task)
	    : "i"(BPF_FUNC_get_current_task_btf)
	    : "r0", "r1", "r2", "r3", "r4", "r5");
	return task;
}

/* Without CONFIG_FAIR_GROUP_SCHED a task does not point to its run queue. */
static __always_inline bool task_has_rq(const struct task_struct *task)
{
	return bpf_core_field_exists(task->se.cfs_rq->rq);
}

/* Since when the task waits for a CPU, by its run queue's clock; 0: it does not. Since 6.12 a
 * thread that falls asleep may stay on its run queue for a while (sched_delayed). If it is moved to
 * another CPU meanwhile, last_queued is set again, and not cleared when it leaves that queue.
 * __state says that it sleeps. */
static __always_inline u64 task_queued(const struct task_struct *task)
{
	return task->__state ? 0 : task->sched_info.last_queued;
}

/* The run queue that the task is in, or was in last. */
static __always_inline struct rq *task_rq(const struct task_struct *task)
{
	return task->se.cfs_rq->rq;
}

/* 0 on a kernel for one CPU. */
static __always_inline u64 task_migrations(const struct task_struct *task)
{
	return bpf_core_field_exists(task->se.nr_migrations) ? task->se.nr_migrations : 0;
}

/* Is a thread of the process in an exec, in which it replaces the leader? */
static inline bool task_group_execs(const struct task_struct *task)
{
	const struct signal_struct___v5_16 *old = (const void *)task->signal;

	if (bpf_core_field_exists(task->signal->group_exec_task))
		return task->signal->group_exec_task;
	return bpf_core_field_exists(old->group_exit_task) && old->group_exit_task;
}

#endif
