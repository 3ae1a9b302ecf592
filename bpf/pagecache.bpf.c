/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The page cache: how much of what each service reads from files is in memory, how much has to be
 * brought in, and how much it writes into the cache; for the machine, how much is removed and has
 * to be brought in again.
 *
 * Hooks, hook set 1: tp_btf mm_filemap_get_pages, for reads. Hook set 2, for kernels without it:
 * fexit of filemap_read. Hook set 3: nothing, so hits are unknown. All: tp_btf
 * mm_filemap_add_to_page_cache, mm_filemap_delete_from_page_cache and writeback_dirty_folio, and a
 * pass over the services at each reading. From files: /proc/vmstat.
 *
 * Pages are those of regular files, of the kernel's page size, however many a folio holds. A miss
 * is a page that a service's call brings in, read-ahead included; a hit is a page that it reads and
 * that was not brought in for it since the reading before the last. A file that is read once for
 * the first time therefore has as many misses as pages, and no hits. Pages brought in and not read
 * by then are unused read-ahead; because all pages are counted together, hits of other pages may
 * hide some of it. The system call, read from the registers saved at kernel entry, says whether the
 * thread reads or writes.
 *
 * Limits: reads with O_DIRECT and through mappings are no hits; a page that a mapping brings in has
 * a counter of its own. Writes by io_uring and copy_file_range that bring pages in count as misses.
 * Of tmpfs only removals are seen. In hook set 2 reads by sendfile and splice do not count from
 * Linux 6.5 on.
 */
#include "run_counter.bpf.h"
#include "kernel/pagecache.bpf.h"
#include "kernel/sched.bpf.h"
#include "kernel/syscall.bpf.h"
#include "services/slot.bpf.h"
#include "storage.bpf.h"

#define SHARDS_MAX 8

const volatile u64 page_size = 4096;

struct cached_page_row {
	u64 misses METRIC("cache_result-page_miss") UNIT("pages")
		HELP("Page cache misses: pages brought in by reads, read-ahead included");
	u64 mapped METRIC("cache_result-page_miss_mapped") UNIT("pages")
		HELP("Page cache misses of mappings: pages brought in by page faults");
	u64 written METRIC("cache_operation-page_new") UNIT("pages")
		HELP("New pages: brought in by writes");
	u64 dirtied METRIC("cache_operation-page_dirtied") UNIT("pages")
		HELP("Dirtied pages: to be written to disk later");
	u64 read;     /* pages read, cached or not */
	u64 apart[3]; /* fills the cache line */
};

MMAP_ARRAY(pages, struct cached_page_row, SERVICE_FIRST) SUBJECT("service sharded");

/* Of services that read, in hook sets that see reads. */
struct hit_row {
	u64 hits METRIC("cache_result-page_hit") UNIT("pages")
		HELP("Page cache hits: pages that were read and already in memory");
	u64 hits_again METRIC("cache_ratio-page_hit per=read scale=100/1") UNIT("percent")
		HELP("Page cache hit ratio: share of hits in the pages read");
	u64 unused METRIC("cache_result-page_unused") UNIT("pages") HELP(
		"Read-ahead unused: pages brought in and not read by the next reading but one");
	u64 read;
	u64 misses;
	u64 ahead; /* brought in before the last reading, and not read until then */
};

HASH(hits, u32, struct hit_row, 1024) SUBJECT("key label=service");

struct removal_row {
	u64 reclaimed METRIC("cache_eviction-page_reclaimed") UNIT("pages")
		HELP("Reclaimed pages: left the page cache to make room");
	u64 dropped METRIC("cache_eviction-page_dropped") UNIT("pages") HELP(
		"Dropped pages: removed because the file was truncated, deleted or dropped on request");
};

PERCPU_ARRAY(removals, u32, struct removal_row, 1) SUBJECT("probe");

struct vmstat_row {
	u64 refaults METRIC("vmpage_action-refault_file") UNIT("pages")
		FIELD("workingset_refault_file")
			HELP("Refaults: reclaimed pages of files that were read again");
	u64 dirtied METRIC("vmpage_action-dirtied") UNIT("pages") FIELD("nr_dirtied")
		HELP("Dirtied pages: of the whole machine, any kind of file");
	u64 written METRIC("vmpage_action-written") UNIT("pages") FIELD("nr_written")
		HELP("Written pages: of the whole machine, to disk");
};

FILE_TABLE(vmstat, u32, struct vmstat_row, 1) SUBJECT("probe") FILE("/proc/vmstat");

/* The read that a thread is in; the hook may report its pages several times. */
struct file_read {
	u64 mapping;
	u64 index, last; /* the pages reported last */
	u64 calls;       /* ioac.syscr of the thread at that time */
};

TASK_STORAGE(file_reads, struct file_read);

static __always_inline struct cached_page_row *cached_page_row(struct task_struct *task)
{
	u32 at = slot_index(service_of(task));

	return bpf_map_lookup_elem(&pages, &at);
}

/* --- what is read --- */

/* Are these pages part of a range that the thread has reported already? */
static __always_inline bool goes_on(const struct file_read *r, u64 mapping, u64 index, u64 last,
				    u64 calls)
{
	return r->mapping == mapping && r->last == last && r->calls == calls && index > r->index;
}

/* How many of these pages the file has. */
static __always_inline u64 within(const struct inode *file, u64 index, u64 last)
{
	u64 end = ((u64)file->i_size + page_size - 1) / page_size;

	if (end > last)
		end = last + 1;
	return end > index ? end - index : 0;
}

SEC("tp_btf/mm_filemap_get_pages")
HOOK_SET(1)
RUN_COUNTER(0) int BPF_PROG(pagecache_read_1, struct address_space *mapping, u64 index, u64 last)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct cached_page_row *row;
	struct file_read *r;
	bool more;

	run_counter_add(0);
	row = inode_is_regular(mapping->host) ? cached_page_row(task) : NULL;
	r = row ? or_refused(task_storage_make(&file_reads, task)) : NULL;
	if (!r)
		return 0;
	more = goes_on(r, (u64)mapping, index, last, task->ioac.syscr);
	r->mapping = (u64)mapping;
	r->index = index;
	r->last = last;
	r->calls = task->ioac.syscr;
	if (!more)
		add(&row->read, within(mapping->host, index, last));
	return 0;
}

/* before: the part of the result that was read by other means. */
SEC("fexit/filemap_read")
HOOK_SET(2)
RUN_COUNTER(0)
int BPF_PROG(pagecache_read_2, struct kiocb *iocb, void *to, ssize_t before, ssize_t bytes)
{
	u64 end = iocb->ki_pos, begin = end - (bytes - before);
	struct cached_page_row *row;

	run_counter_add(0);
	if (bytes <= before || !inode_is_regular(iocb->ki_filp->f_inode))
		return 0;
	row = cached_page_row(bpf_get_current_task_btf());
	if (row)
		add(&row->read, (end - 1) / page_size - begin / page_size + 1);
	return 0;
}

/* --- additions, writes and removals --- */

/* The counter for a page that is brought in, by the system call of the thread; of the kernel's own
 * threads all are reads. */
static __always_inline u64 *came_by(struct cached_page_row *row, struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	u32 number = call_number(regs);

	if (task->flags & PF_KTHREAD)
		return &row->misses;
	if (number == ~0U)
		return &row->mapped;
	return !regs_32_bit(regs) && call_writes(number) ? &row->written : &row->misses;
}

static __always_inline int came(const struct folio *folio)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct cached_page_row *row =
		inode_is_regular(folio->mapping->host) ? cached_page_row(task) : NULL;

	if (row)
		add(came_by(row, task), folio_pages(folio));
	return 0;
}

#define CAME(set)                                                              \
	SEC("tp_btf/mm_filemap_add_to_page_cache")                             \
	HOOK_SET(set)                                                          \
	RUN_COUNTER(1) int BPF_PROG(pagecache_came_##set, struct folio *folio) \
	{                                                                      \
		run_counter_add(1);                                            \
		return came(folio);                                            \
	}

CAME(1)
CAME(2)
CAME(3)

SEC("tp_btf/writeback_dirty_folio")
RUN_COUNTER(2) int BPF_PROG(pagecache_dirtied, struct folio *folio, struct address_space *mapping)
{
	struct cached_page_row *row;

	run_counter_add(2);
	row = mapping && inode_is_regular(mapping->host)
		      ? cached_page_row(bpf_get_current_task_btf())
		      : NULL;
	if (row)
		add(&row->dirtied, folio_pages(folio));
	return 0;
}

/* Reclaim removes pages of any process, whoever runs it; PF_MEMALLOC marks a task that reclaims and
 * may use the memory reserves meanwhile. */
SEC("tp_btf/mm_filemap_delete_from_page_cache")
RUN_COUNTER(3) int BPF_PROG(pagecache_left, struct folio *folio)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct removal_row *row;
	u32 zero = 0;

	run_counter_add(3);
	row = inode_is_regular(folio->mapping->host) ? bpf_map_lookup_elem(&removals, &zero) : NULL;
	if (row)
		add(task->flags & PF_MEMALLOC ? &row->reclaimed : &row->dropped,
		    folio_pages(folio));
	return 0;
}

/* --- hits --- */

static void sum_up(u32 service, u64 *ret_read, u64 *ret_misses)
{
	for (u32 shard = 0; shard < SHARDS_MAX && shard < shards; shard++) {
		u32 at = service * shards + shard;
		struct cached_page_row *row = bpf_map_lookup_elem(&pages, &at);

		if (!row)
			break;
		*ret_read += row->read;
		*ret_misses += row->misses;
	}
}

/* Pages brought in and read across a reading are no hits. Older read-ahead that has
 * not been read may never be: it counts as unused, unless other reads have been taken for it. */
static void reckon(struct hit_row *row, u64 read, u64 misses)
{
	u64 more_read = grown(read, row->read), more_misses = grown(misses, row->misses);
	u64 brought = more_misses + row->ahead, found = grown(more_read, brought);
	u64 ahead = grown(more_misses, more_read);

	row->hits += found;
	row->hits_again += found;
	row->unused += grown(grown(brought, more_read), ahead);
	row->ahead = ahead;
	row->read = read;
	row->misses = misses;
}

static struct hit_row *hit_row(u32 service)
{
	struct hit_row *row = bpf_map_lookup_elem(&hits, &service), none = {};

	if (row)
		return row;
	bpf_map_update_elem(&hits, &service, &none, BPF_NOEXIST);
	return or_refused(bpf_map_lookup_elem(&hits, &service));
}

/* Runs once for each service, at its first shard. */
static long reckon_service(void *map, u32 *at, void *pages_of_it, void *context)
{
	u64 read = 0, misses = 0;
	struct hit_row *row;

	if (*at & (shards - 1))
		return 0;
	sum_up(*at / shards, &read, &misses);
	row = read ? hit_row(*at / shards) : NULL;
	if (row)
		reckon(row, read, misses);
	return 0;
}

SEC("syscall")
int pagecache_hits(void *ctx)
{
	bpf_for_each_map_elem(&pages, reckon_service, NULL, 0);
	return 0;
}

char LICENSE[] SEC("license") DEFAULT(off)
	HELP("Page cache: hits, misses and dirtied pages by service, and what leaves memory") =
		"Dual MIT/GPL";
