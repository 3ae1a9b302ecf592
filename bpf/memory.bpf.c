/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Memory: how long threads of services stall because the kernel has to free memory first, and what
 * they request from it. The memory that a service uses, and its page faults by whether a disk was
 * read, are in the process probe, which reads the kernel's own counters.
 *
 * Hooks: tp_btf mm_vmscan_direct_reclaim_begin and _end, mm_vmscan_memcg_reclaim_begin and _end,
 * mm_compaction_begin and _end. By options, because these are busy:
 *   faults     tp_btf page_fault_user and page_fault_kernel, of x86-64: at every page fault
 *   pages      tp_btf mm_page_alloc and mm_page_free: at every allocation of one page or a block
 *   kmalloc    raw_tp kmalloc and kfree, tp_btf kmem_cache_alloc and kmem_cache_free: at every
 *              object that the kernel allocates for itself
 *   mappings   the tracepoints of brk, mmap and munmap: while they are on, every system call of the
 *              machine takes the slow path
 * What an interrupt allocates or frees belongs to no process and counts for the kernel.
 *
 * Limits: whoever frees memory need not be who allocated it. Pages allocated in bulk, as by vmalloc
 * and network drivers, do not pass the tracepoint.
 */
#include "run_counter.bpf.h"
#include "kernel/irq.bpf.h"
#include "kernel/mm.bpf.h"
#include "kernel/syscall.bpf.h"
#include "services/service_slot.bpf.h"
#include "span.bpf.h"

#define NS "scale=1/1000000000"
#define MS "scale=1/1000000"

/* --- stalls --- */

struct stall_row {
	struct hist reclaim METRIC("latency-reclaim " NS) UNIT("seconds")
		HELP("Stall for reclaim: a thread frees pages before it gets its own");
	u64 direct METRIC("total_operations-reclaim_direct") UNIT("stalls")
		HELP("Stalls, direct reclaim: the machine was short of memory");
	u64 cgroup METRIC("total_operations-reclaim_cgroup") UNIT("stalls")
		HELP("Stalls, cgroup reclaim: the cgroup was at its limit");
	u64 reclaimed METRIC("vmpage_action-reclaimed") UNIT("pages")
		HELP("Pages reclaimed: by threads that stalled");
	u64 compactions METRIC("total_operations-compaction") UNIT("compactions")
		HELP("Compactions: pages moved to get contiguous free memory");
	u64 compaction_ns METRIC("total_time_in_ms-compaction " MS) UNIT("milliseconds")
		HELP("Time in compactions: from start to end");
};

MMAP_ARRAY(stalls, struct stall_row, 1) SUBJECT("service via=row_slots owners=slot_owners sharded");

TASK_SPANS(stall_spans);

static struct stall_row *stall_row(void)
{
	u32 index = slot_index(slot_claim(service_of(bpf_get_current_task_btf())));

	return bpf_map_lookup_elem(&stalls, &index);
}

static void stall_begin(void)
{
	struct span *span = or_refused(task_span_make(&stall_spans, bpf_get_current_task_btf()));

	if (span)
		span_begin(span);
}

/* The row to count in; NULL: the stall began before the probe was attached. */
static struct stall_row *stall_end(u64 *ret_taken_ns)
{
	struct span *span = task_span(&stall_spans, bpf_get_current_task_btf());

	if (!span)
		return NULL;
	*ret_taken_ns = span_end(span);
	return stall_row();
}

static void reclaim_end(bool of_cgroup, u64 pages)
{
	u64 taken_ns;
	struct stall_row *row = stall_end(&taken_ns);

	if (!row)
		return;
	hist_add(&row->reclaim, taken_ns);
	add(&row->direct, !of_cgroup);
	add(&row->cgroup, of_cgroup);
	add(&row->reclaimed, pages);
}

SEC("tp_btf/mm_vmscan_direct_reclaim_begin")
RUN_COUNTER(0) int BPF_PROG(memory_direct_begin)
{
	run_counter_add(0);
	stall_begin();
	return 0;
}

SEC("tp_btf/mm_vmscan_direct_reclaim_end")
RUN_COUNTER(1) int BPF_PROG(memory_direct_end, unsigned long pages)
{
	run_counter_add(1);
	reclaim_end(false, pages);
	return 0;
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_begin")
RUN_COUNTER(2) int BPF_PROG(memory_cgroup_begin)
{
	run_counter_add(2);
	stall_begin();
	return 0;
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_end")
RUN_COUNTER(3) int BPF_PROG(memory_cgroup_end, unsigned long pages)
{
	run_counter_add(3);
	reclaim_end(true, pages);
	return 0;
}

SEC("tp_btf/mm_compaction_begin")
int BPF_PROG(memory_compaction_begin)
{
	stall_begin();
	return 0;
}

SEC("tp_btf/mm_compaction_end")
int BPF_PROG(memory_compaction_end)
{
	u64 taken_ns;
	struct stall_row *row = stall_end(&taken_ns);

	if (!row)
		return 0;
	add(&row->compactions, 1);
	add(&row->compaction_ns, taken_ns);
	return 0;
}

/* --- requests to the kernel --- */

/* The row of a service in a table by service. */
static __always_inline void *row_of_service(void *table, u32 service)
{
	u32 index = slot_index(service);

	return bpf_map_lookup_elem(table, &index);
}

/* The row of the current process. */
static __always_inline void *own_row(void *table)
{
	return row_of_service(table, service_of(bpf_get_current_task_btf()));
}

/* The row of the current context, which may be an interrupt. arguments: those of the program. */
static __always_inline void *row_of_context(void *table, const void *arguments)
{
	return in_interrupt(arguments) ? row_of_service(table, SERVICE_KERNEL) : own_row(table);
}

struct page_use_row {
	u64 allocated METRIC("vmpage_action-alloc") UNIT("pages")
		HELP("Pages allocated: by the service");
	u64 freed METRIC("vmpage_action-free") UNIT("pages")
		HELP("Pages freed: by the service, also those that others allocated");
};

MMAP_ARRAY(pages, struct page_use_row, SERVICE_FIRST) OPTION("pages") SUBJECT("service sharded");

SEC("tp_btf/mm_page_alloc")
OPTION("pages")
RUN_COUNTER(4) int BPF_PROG(memory_page_alloc, struct page *page, unsigned int order)
{
	struct page_use_row *row = row_of_context(&pages, ctx);

	run_counter_add(4);
	if (row)
		add(&row->allocated, 1ULL << (order & 63));
	return 0;
}

SEC("tp_btf/mm_page_free")
OPTION("pages") RUN_COUNTER(5) int BPF_PROG(memory_page_free, struct page *page, unsigned int order)
{
	struct page_use_row *row = row_of_context(&pages, ctx);

	run_counter_add(5);
	if (row)
		add(&row->freed, 1ULL << (order & 63));
	return 0;
}

struct object_row {
	u64 kmallocs METRIC("total_operations-kmalloc") UNIT("calls")
		HELP("kmalloc: memory of any size for the kernel's own use");
	u64 kmalloc_bytes METRIC("total_bytes-kmalloc") UNIT("bytes")
		HELP("kmalloc: bytes, rounded up as they are allocated");
	u64 kfrees METRIC("total_operations-kfree") UNIT("calls")
		HELP("kfree: by the service, also objects that others allocated");
	u64 objects METRIC("total_operations-kmem_cache_alloc") UNIT("calls")
		HELP("kmem_cache_alloc: objects from caches of one size");
	u64 object_bytes METRIC("total_bytes-kmem_cache_alloc") UNIT("bytes")
		HELP("kmem_cache_alloc: bytes of these objects");
	u64 objects_freed METRIC("total_operations-kmem_cache_free") UNIT("calls")
		HELP("kmem_cache_free: by the service, also objects that others allocated");
};

MMAP_ARRAY(objects, struct object_row, SERVICE_FIRST) OPTION("kmalloc") SUBJECT("service sharded");

/* In tp_btf programs many kernels hide pointers to constants. */
SEC("raw_tp/kmalloc")
OPTION("kmalloc")
RUN_COUNTER(6)
int BPF_PROG(memory_kmalloc, unsigned long caller, const void *object, size_t wanted, size_t bytes)
{
	struct object_row *row = row_of_context(&objects, ctx);

	run_counter_add(6);
	if (!row || !object)
		return 0;
	add(&row->kmallocs, 1);
	add(&row->kmalloc_bytes, bytes);
	return 0;
}

SEC("raw_tp/kfree")
OPTION("kmalloc")
RUN_COUNTER(7) int BPF_PROG(memory_kfree, unsigned long caller, const void *object)
{
	struct object_row *row = row_of_context(&objects, ctx);

	run_counter_add(7);
	if (row)
		add(&row->kfrees, (u64)object > ZERO_SIZE_OBJECT);
	return 0;
}

/* Failed allocations count, too: tp_btf does not show the const pointer, see memory_kmalloc(). */
SEC("tp_btf/kmem_cache_alloc")
OPTION("kmalloc")
RUN_COUNTER(8)
int BPF_PROG(memory_object_alloc, unsigned long caller, const void *object,
	     struct kmem_cache *cache)
{
	struct object_row *row = row_of_context(&objects, ctx);

	run_counter_add(8);
	if (!row)
		return 0;
	add(&row->objects, 1);
	add(&row->object_bytes, cache->object_size);
	return 0;
}

SEC("tp_btf/kmem_cache_free")
OPTION("kmalloc") RUN_COUNTER(9) int BPF_PROG(memory_object_free)
{
	struct object_row *row = row_of_context(&objects, ctx);

	run_counter_add(9);
	if (row)
		add(&row->objects_freed, 1);
	return 0;
}

/* --- faults --- */

#ifdef __TARGET_ARCH_x86
struct fault_row {
	u64 read METRIC("total_events-fault_read") UNIT("faults")
		HELP("Page faults, read: of a page that is not mapped yet");
	u64 write METRIC("total_events-fault_write") UNIT("faults")
		HELP("Page faults, write: to a page that is not mapped yet");
	u64 protection METRIC("total_events-fault_protection") UNIT("faults") HELP(
		"Page faults, protection: an access that the page does not permit, mostly copy on write");
	u64 instruction METRIC("total_events-fault_instruction") UNIT("faults")
		HELP("Page faults, instruction: code that is not mapped yet");
	u64 kernel METRIC("total_events-fault_kernel") UNIT("faults")
		HELP("Page faults, kernel: in memory of the process, during a system call");
};

MMAP_ARRAY(faults, struct fault_row, SERVICE_FIRST) OPTION("faults") SUBJECT("service sharded");

SEC("tp_btf/page_fault_user")
OPTION("faults")
RUN_COUNTER(10)
int BPF_PROG(memory_fault_user, unsigned long address, struct pt_regs *regs, unsigned long error)
{
	struct fault_row *row = own_row(&faults);

	run_counter_add(10);
	if (!row)
		return 0;
	if (error & FAULT_PROTECTION)
		add(&row->protection, 1);
	else if (error & FAULT_INSTRUCTION)
		add(&row->instruction, 1);
	else
		add(error & FAULT_WRITE ? &row->write : &row->read, 1);
	return 0;
}

SEC("tp_btf/page_fault_kernel")
OPTION("faults") RUN_COUNTER(11) int BPF_PROG(memory_fault_kernel)
{
	struct fault_row *row = own_row(&faults);

	run_counter_add(11);
	if (row)
		add(&row->kernel, 1);
	return 0;
}
#endif

/* --- mappings --- */

struct mapping_row {
	u64 brks METRIC("total_operations-brk") UNIT("calls")
		HELP("brk: the heap grows or shrinks, or its end is asked for");
	u64 mmaps METRIC("total_operations-mmap") UNIT("calls")
		HELP("mmap: calls, successful or not");
	u64 mmap_bytes METRIC("total_bytes-mmap") UNIT("bytes")
		HELP("mmap: bytes of address space that were asked for");
	u64 munmaps METRIC("total_operations-munmap") UNIT("calls")
		HELP("munmap: calls, successful or not");
	u64 munmap_bytes METRIC("total_bytes-munmap") UNIT("bytes")
		HELP("munmap: bytes of address space that were given back");
};

MMAP_ARRAY(mappings, struct mapping_row, SERVICE_FIRST)
OPTION("mappings") SUBJECT("service sharded");

SEC("tracepoint/syscalls/sys_enter_brk")
OPTION("mappings") RUN_COUNTER(12) int memory_brk(void *ctx)
{
	struct mapping_row *row = own_row(&mappings);

	run_counter_add(12);
	if (row)
		add(&row->brks, 1);
	return 0;
}

SEC("tracepoint/syscalls/sys_enter_mmap")
OPTION("mappings") RUN_COUNTER(13) int memory_mmap(struct syscall_enter *ctx)
{
	struct mapping_row *row = own_row(&mappings);

	run_counter_add(13);
	if (!row)
		return 0;
	add(&row->mmaps, 1);
	add(&row->mmap_bytes, ctx->args[1]);
	return 0;
}

SEC("tracepoint/syscalls/sys_enter_munmap")
OPTION("mappings") RUN_COUNTER(14) int memory_munmap(struct syscall_enter *ctx)
{
	struct mapping_row *row = own_row(&mappings);

	run_counter_add(14);
	if (!row)
		return 0;
	add(&row->munmaps, 1);
	add(&row->munmap_bytes, ctx->args[1]);
	return 0;
}

char LICENSE[] SEC("license") DEFAULT(off)
	HELP("Memory: allocation stalls and memory requests of services") = "Dual MIT/GPL";
