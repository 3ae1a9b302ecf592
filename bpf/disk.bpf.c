/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Disks: the requests of each block device, their number and size, how long they are queued and in
 * service, and which fail. With Option "services": which service submits them.
 *
 * Hooks: tp_btf block_rq_complete. The kernel keeps in each request when it was begun and when it
 * was issued to the device; everything else is read from files of /sys. With Option "services",
 * hook set 1: block_io_start, writeback_start and writeback_written; hook set 2, for kernels before
 * 6.5: block_rq_insert and block_rq_issue.
 *
 * A request belongs to the service of the process that submits it. Kernel threads submit on behalf
 * of others: if the kernel knows the cgroup, the request belongs to that cgroup's service,
 * otherwise it counts as write-back. The process that a completion interrupts is not the owner.
 *
 * Limits: devices without requests, such as zram and most of dm and md, have only what the files
 * say. A request of a loop device counts there and on the device below. Loop devices have at most 64
 * rows in each map; requests of others are refused. A request by a path of NVMe multipath counts for
 * the device that the paths lead to; if the module nvme_core was loaded after collectd's start, it
 * counts for 0:0. Files have figures of each path, and before 6.2 none of the device. A request into
 * which others are merged belongs to the service of the first. If a request ends in parts, its size
 * is that of the last part.
 */
#include "run_counter.bpf.h"
#include "kernel/block.bpf.h"
#include "refused.bpf.h"
#include "services/service_group.bpf.h"
#include "services/slot.bpf.h"
#include "storage.bpf.h"

#define NS "scale=1/1000000000"
#define DISKS_MAX 256
#define OPERATIONS_MAX 256 /* for all disks together, because rows are large */
#define LOOPS_MAX 64       /* rows of loop devices in each of the two maps */
#define LOOP_MAJOR 7
#define MINOR_BITS 20

const volatile bool option_services = false;

/* --- rows --- */

/* The enumerators name series. */
enum disk_operation {
	read,
	write,
	discard,
	flush,
	OPERATIONS, /* no operation that is counted */
};

struct disk_row {
	u64 reads METRIC("disk_ops-completed:read") UNIT("requests")
		HELP("Reads: completed by the device");
	u64 writes METRIC("disk_ops-completed:write") UNIT("requests")
		HELP("Writes: completed by the device");
	u64 read_bytes METRIC("disk_octets-completed:read") UNIT("bytes")
		HELP("Read: from the device");
	u64 written_bytes METRIC("disk_octets-completed:write") UNIT("bytes")
		HELP("Written: to the device");
	u64 discards METRIC("total_operations-discard") UNIT("requests")
		HELP("Discards: of blocks that are no longer in use");
	u64 discarded_bytes METRIC("total_bytes-discard") UNIT("bytes")
		HELP("Discarded: bytes no longer in use");
	u64 flushes METRIC("total_operations-flush") UNIT("requests")
		HELP("Flushes: of the device's cache, as for fsync");
};

PERCPU_HASH(disks, u32, struct disk_row, DISKS_MAX + LOOPS_MAX) SUBJECT("key label=device");

/* A device and a kind of operation. */
struct disk_operation_key {
	u32 device LABEL("device");
	enum disk_operation operation LABEL("enum");
};

struct disk_operation_row {
	struct hist service METRIC("latency-disk_service " NS) UNIT("seconds")
		HELP("Time in service: from issue to end");
	struct hist queued METRIC("latency-disk_queued " NS) UNIT("seconds")
		HELP("Time queued: from the start of a request until it is issued to the device");
	struct hist bytes METRIC("bytes-disk_request least") UNIT("bytes")
		HELP("Size of a request: when it ends") DEFAULT(off);
	u64 errors METRIC("errors-disk") UNIT("requests")
		HELP("Failed requests: reported by the device");
};

SPARSE_HASH(operations, struct disk_operation_key, struct disk_operation_row, OPERATIONS_MAX)
SUBJECT("key");

static const struct disk_operation_row no_operations;

/* Read from /sys: what the kernel counts itself. */
struct queue_key {
	char device[32] LABEL("device") FIELD("*");
};

struct queue_row {
	u64 reads_merged METRIC("disk_merged:read") UNIT("requests") FIELD("2")
		HELP("Reads merged: with one that was queued");
	u64 writes_merged METRIC("disk_merged:write") UNIT("requests") FIELD("6")
		HELP("Writes merged: with one that was queued");
	u64 pending METRIC("pending_operations") UNIT("requests") FIELD("9")
		HELP("Requests in flight: queued or in service");
	u64 busy_ms METRIC("disk_io_time:io_time") UNIT("milliseconds") FIELD("10") HELP(
		"I/O time: with at least one request in flight; 1000 per second means always busy");
	u64 weighted_ms METRIC("disk_io_time:weighted_io_time") UNIT("milliseconds") FIELD("11")
		HELP("Weighted I/O time: summed over all requests in flight");
};

FILE_TABLE(queues, struct queue_key, struct queue_row, 4 * DISKS_MAX)
SUBJECT("key") FILE("/sys/block/*/stat lines");

/* --- devices --- */

static __always_inline enum disk_operation operation_of(const struct request *rq)
{
	u32 op = request_op(rq);

	if (op == REQ_OP_DISCARD)
		return discard;
	if (op == REQ_OP_FLUSH)
		return flush;
	if (op >= REQ_OP_DRV_IN)
		return OPERATIONS;
	return op & 1 ? write : read;
}

/* Rows of loop devices: there can be hundreds, and disks must find room. */
u32 loop_disks, loop_operations;

/* Makes a row, unless it is one loop device too many. If another CPU was faster, its row is used. */
static __always_inline void add_disk_row(void *map, const void *key, const void *row, u32 device,
					 u32 *loops)
{
	bool is_loop = device >> MINOR_BITS == LOOP_MAJOR;

	if (is_loop && *loops >= LOOPS_MAX)
		return;
	if (!bpf_map_update_elem(map, key, row, BPF_NOEXIST) && is_loop)
		__sync_fetch_and_add(loops, 1);
}

static __always_inline struct disk_row *disk_row(u32 device)
{
	struct disk_row *row = bpf_map_lookup_elem(&disks, &device), none = {};

	if (row)
		return row;
	add_disk_row(&disks, &device, &none, device, &loop_disks);
	return or_refused(bpf_map_lookup_elem(&disks, &device));
}

static __always_inline struct disk_operation_row *disk_operation_row(u32 device,
								     enum disk_operation operation)
{
	struct disk_operation_key key = { .device = device, .operation = operation };
	struct disk_operation_row *row = bpf_map_lookup_elem(&operations, &key);

	if (row)
		return row;
	add_disk_row(&operations, &key, &no_operations, device, &loop_operations);
	return or_refused(bpf_map_lookup_elem(&operations, &key));
}

/* A completed request, or a completed part of one. A flush has no bytes. */
struct ended {
	u32 device;
	enum disk_operation operation;
	u32 bytes;
	bool failed;
	bool last;
};

static __always_inline void count_disk(const struct ended *c)
{
	struct disk_row *row = disk_row(c->device);

	if (!row)
		return;
	if (c->operation == read) {
		add(&row->reads, c->last);
		add(&row->read_bytes, c->bytes);
	} else if (c->operation == write) {
		add(&row->writes, c->last);
		add(&row->written_bytes, c->bytes);
	} else if (c->operation == discard) {
		add(&row->discards, c->last);
		add(&row->discarded_bytes, c->bytes);
	} else {
		add(&row->flushes, c->last);
	}
}

static __always_inline void count_disk_operation(const struct request *rq, const struct ended *c,
						 u64 now)
{
	struct disk_operation_row *row = disk_operation_row(c->device, c->operation);
	u64 began = request_began(rq), issued = rq->io_start_time_ns;

	if (!row)
		return;
	add(&row->errors, c->failed);
	if (!c->last)
		return;
	if (c->operation != flush)
		hist_add(&row->bytes, c->bytes);
	if (!issued)
		return;
	hist_add(&row->service, grown(now, issued));
	if (began)
		hist_add(&row->queued, grown(issued, began));
}

/* --- services --- */

#define SUBMISSIONS_MAX 16384
#define NOBODY ~0U

struct submitted_row {
	u64 reads METRIC("disk_ops-submitted:read") UNIT("requests")
		HELP("Reads submitted: to block devices");
	u64 writes METRIC("disk_ops-submitted:write") UNIT("requests")
		HELP("Writes submitted: to block devices");
	u64 read_bytes METRIC("disk_octets-submitted:read") UNIT("bytes")
		HELP("Read by submitted requests: from block devices");
	u64 written_bytes METRIC("disk_octets-submitted:write") UNIT("bytes")
		HELP("Written by submitted requests: to block devices");
	struct hist read_time METRIC("latency-disk_read " NS) UNIT("seconds")
		HELP("Time of a submitted read: from the start of a request to its end");
	struct hist write_time METRIC("latency-disk_write " NS) UNIT("seconds")
		HELP("Time of a submitted write: from the start of a request to its end");
};

MMAP_ARRAY(submitter_slots, u32, 1) OPTION("services");
MMAP_ARRAY(submitter_owners, u32, 1) OPTION("services");

MMAP_ARRAY(submitted, struct submitted_row, 1)
OPTION("services") SUBJECT("service via=submitter_slots owners=submitter_owners sharded");

/* Requests of kernel threads whose service is unknown. The enumerators name series. */
enum kernel_submitter {
	writeback,
	kernel, /* reads */
	KERNEL_SUBMITTERS,
};

PERCPU_ARRAY(kernel_submitted, enum kernel_submitter, struct submitted_row, KERNEL_SUBMITTERS)
OPTION("services") SUBJECT("key");

/* Who has submitted a request. The kernel reuses the same request structs, so the entry is updated
 * in place instead of inserted and deleted for each request. */
struct submission {
	u64 began_ns;
	u32 service; /* SERVICE_KERNEL: a kernel thread submitted it; NOBODY: nobody is to be charged */
	u32 pad;
};

LRU_HASH(submissions, u64, struct submission, SUBMISSIONS_MAX) OPTION("services");

/* The key is a copy of the address: before 6.3 the verifier forgets that a value is a pointer when
 * a helper reads it from the stack. */
static __always_inline struct submission *submission_of(const struct request *rq)
{
	u64 key = (u64)rq;

	return bpf_map_lookup_elem(&submissions, &key);
}

/* Set in a kernel thread while it writes back: the service whose cgroup dirtied the pages, or 0. */
TASK_STORAGE(flushers, u32);

static __always_inline u32 kernel_thread_service(struct task_struct *task, struct request *rq)
{
	struct cgroup *group = request_group(rq);
	u32 service = group ? service_of_group(group) : 0, *flusher;

	if (service)
		return service;
	flusher = bpf_task_storage_get(&flushers, task, NULL, 0);
	return flusher && *flusher ? *flusher : SERVICE_KERNEL;
}

static __always_inline u32 submitter_of(struct task_struct *task, struct request *rq)
{
	return task->flags & PF_KTHREAD ? kernel_thread_service(task, rq) : service_of(task);
}

static __always_inline void remember_submission(struct request *rq, u64 began_ns,
						struct submission *earlier)
{
	struct submission s = {
		.began_ns = began_ns,
		.service = submitter_of(bpf_get_current_task_btf(), rq),
	};
	u64 key = (u64)rq;

	if (earlier)
		*earlier = s;
	else if (bpf_map_update_elem(&submissions, &key, &s, BPF_ANY))
		refuse();
}

static __always_inline struct submitted_row *submitted_row(u32 service,
							   enum disk_operation operation)
{
	u32 index;

	if (service == SERVICE_KERNEL) {
		index = operation == write ? writeback : kernel;
		return bpf_map_lookup_elem(&kernel_submitted, &index);
	}
	index = slot_index(slot_claim_from(&submitter_slots, &submitter_owners, service));
	return bpf_map_lookup_elem(&submitted, &index);
}

static __always_inline void count_submitted(struct submitted_row *row, const struct ended *c,
					    u64 taken_ns)
{
	if (c->operation == read) {
		add(&row->reads, c->last);
		add(&row->read_bytes, c->bytes);
		if (c->last)
			hist_add(&row->read_time, taken_ns);
	} else {
		add(&row->writes, c->last);
		add(&row->written_bytes, c->bytes);
		if (c->last)
			hist_add(&row->write_time, taken_ns);
	}
}

static __always_inline void count_service(struct request *rq, const struct ended *c, u64 now)
{
	struct submission *s = submission_of(rq);
	struct submitted_row *row;

	if (!s || s->service == NOBODY || (c->operation != read && c->operation != write))
		return;
	row = submitted_row(s->service, c->operation);
	if (c->last)
		s->service = NOBODY;
	if (row)
		count_submitted(row, c, grown(now, s->began_ns));
}

/* --- hooks --- */

/* A request without bytes that is no flush only asks for a flush; it is skipped. */
static __always_inline int complete(struct request *rq, u8 error, u32 bytes)
{
	struct ended c = {
		.device = request_device(rq),
		.operation = operation_of(rq),
		.bytes = bytes,
		.failed = error,
		.last = bytes >= rq->__data_len,
	};
	u64 now;

	run_counter_add(0);
	if (c.operation == OPERATIONS || (!bytes && c.operation != flush))
		return 0;
	now = bpf_ktime_get_ns();
	count_disk(&c);
	count_disk_operation(rq, &c, now);
	if (option_services)
		count_service(rq, &c, now);
	return 0;
}

SEC("tp_btf/block_rq_complete")
RUN_COUNTER(0) HOOK_SET(1) int BPF_PROG(disk_complete_1, struct request *rq, u8 error, u32 bytes)
{
	return complete(rq, error, bytes);
}

SEC("tp_btf/block_rq_complete")
RUN_COUNTER(0) HOOK_SET(2) int BPF_PROG(disk_complete_2, struct request *rq, u8 error, u32 bytes)
{
	return complete(rq, error, bytes);
}

/* Runs in the process that submits, since 5a80bd075f3b ("block: introduce
 * block_io_start/block_io_done tracepoints"). */
SEC("tp_btf/block_io_start")
OPTION("services") RUN_COUNTER(1) HOOK_SET(1) int BPF_PROG(disk_submit, struct request *rq)
{
	run_counter_add(1);
	remember_submission(rq, bpf_ktime_get_ns(), submission_of(rq));
	return 0;
}

/* On kernels without block_io_start, the first of block_rq_insert and block_rq_issue runs in the
 * process that submits: other contexts issue only requests that are queued already. */
static __always_inline int discover_submission(struct request *rq)
{
	struct submission *s = submission_of(rq);
	u64 began_ns = rq->start_time_ns;
	bool earlier = s && (began_ns ? s->began_ns == began_ns : s->service != NOBODY);

	if (!earlier)
		remember_submission(rq, began_ns ?: bpf_ktime_get_ns(), s);
	return 0;
}

SEC("tp_btf/block_rq_insert")
OPTION("services") RUN_COUNTER(1) HOOK_SET(2) int BPF_PROG(disk_insert, struct request *rq)
{
	run_counter_add(1);
	return discover_submission(rq);
}

SEC("tp_btf/block_rq_issue")
OPTION("services") RUN_COUNTER(2) HOOK_SET(2) int BPF_PROG(disk_issue, struct request *rq)
{
	run_counter_add(2);
	return discover_submission(rq);
}

/* Writes the pages of one cgroup; the requests for them begin before writeback_written. */
SEC("tp_btf/writeback_start")
OPTION("services") HOOK_SET(1) int BPF_PROG(disk_writeback_begin, struct bdi_writeback *wb)
{
	struct cgroup *group = writeback_group(wb);
	u32 *flusher = or_refused(task_storage_make(&flushers, bpf_get_current_task_btf()));

	if (flusher)
		*flusher = group ? service_of_group(group) : 0;
	return 0;
}

SEC("tp_btf/writeback_written")
OPTION("services") HOOK_SET(1) int BPF_PROG(disk_writeback_end)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 *flusher = bpf_task_storage_get(&flushers, task, NULL, 0);

	if (flusher)
		*flusher = 0;
	return 0;
}

char LICENSE[] SEC("license")
	HELP("Disks: requests of block devices, by device and by service") = "Dual MIT/GPL";
