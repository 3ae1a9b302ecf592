/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * How a probe says what it counts.
 *
 * A table is a map whose value is a struct ("row"): an array with BPF_F_MMAPABLE, which
 * is read without a system call, a per-CPU array, or a hash, LRU or not, per CPU or not;
 * map.bpf.h declares each in a line:
 *
 *     MMAP_ARRAY(rows, struct row, 1) SUBJECT("service");
 *
 * Of maps per CPU a row is the sum over the CPUs.
 * A member of the row that carries a METRIC tag is a column: the engine reads
 * it on each interval and dispatches it to collectd. Members without a tag are
 * the probe's own.
 *
 *     METRIC("TYPE[-TYPE_INSTANCE][:DATA_SOURCE] [WORD...]")
 *
 * TYPE and DATA_SOURCE are looked up in collectd's types.db; a DATA_SOURCE is
 * needed where TYPE has more than one, and all of them must be tagged. Whether
 * the type's data source is a DERIVE or a GAUGE decides what is dispatched:
 * the counter itself, or the number as it stands.
 *
 * The member's type decides what the column is:
 *   integer          one value
 *   struct moments   TYPE-INSTANCE-average, -variance and -cv of what was added
 *                    since the last reading; where that is fewer than 2048, of
 *                    what was added since so many whole intervals more that it
 *                    is as many, 6 intervals at most. It goes back neither over an
 *                    interval without samples nor into the first one after such:
 *                    load and pause are not mixed. -samples says of how many
 *                    they are; with fewer than 2 there is that alone. The
 *                    relative standard error of the average is cv /
 *                    sqrt(samples).
 *   struct hist      TYPE-INSTANCE-average and -percentile-P for each P that
 *                    is configured, of what was added since the last reading
 *
 * Words, in any order:
 *   rate             the integer is a counter, dispatch its growth per second
 *   per=MEMBER       the integer is a counter, dispatch its growth divided by that
 *                    of MEMBER, an integer of the same row with or without a
 *                    tag of its own; nothing where MEMBER has not grown
 *   over=MEMBER      dispatch the integer divided by MEMBER, both as they stand;
 *                    nothing where MEMBER is 0
 *   where=MEMBER     the integer is told of rows alone in which MEMBER, an integer of the
 *                    same row, is not 0
 *   frequency        of moments: TYPE-INSTANCE-frequency, too, 1 / average
 *   rank             where rows are those of processes, TopN takes those in which
 *                    this integer grew most, of a GAUGE without rate those in
 *                    which it is highest; one member of such a table has it.
 *                    Where rows are named by keys, those that grow most by it
 *                    have series; without it that is the first member with a tag
 *   tail=MEMBER      of a struct hist: at each reading the engine writes the 95th
 *                    percentile of what was added since the last one into MEMBER,
 *                    of all shards into the row's first, in the unit of the samples
 *                    (no scale), 0 where nothing was added. So a program knows what
 *                    is slow. MEMBER is a u64 of the row without METRIC, the table
 *                    an MMAP_ARRAY. The histogram need not be collected, as long as
 *                    something of the table is
 *   scale=A/B        multiply by A/B (two positive integers)
 *   notable=N        a command name whose counter grows by N per second or
 *                    more earns a series of its own at once
 *
 * Counters only ever grow, the engine takes differences, nothing is cleared. In a
 * struct hist alone a sample may move: one less in its bucket, one more in that
 * where it belongs now. The bucket that fell then counts 0, until it is past what
 * it has counted.
 *
 * SUBJECT("WORD...") on a map says what its rows stand for. A table has one of the
 * first three words, and the others in any order:
 *   service          row = service_task.row
 *   process          row = service_task.process_row; one member has the word rank
 *   probe            the probe itself: the rows are called "PROBE" if there is
 *                    one, "PROBE-INDEX" if there are more
 *   key              what the labels of the row's key say; rows of a hash have this
 *   sharded          shard s of row r is entry r * shards + s, the engine adds
 *                    them up; so that CPUs need not share cache lines
 *   via=MAP owners=MAP
 *                    with service or process: row = slot, which the probe gives
 *                    out on first use; `Rows` of the Probe block says how many
 *                    there are. So a histogram takes memory for those alone that
 *                    have events. service_slot.bpf.h and process_slot.bpf.h have
 *                    the maps and functions for it. Both are arrays of u32 with
 *                    BPF_F_MMAPABLE, a pair of its own for each table. `via` has
 *                    the slot by service_task.row or process_row, 0: none yet, 2^31
 *                    and more: refused; `owners` has that row + 1 by slot, 0: free,
 *                    to be taken by compare-and-swap before `via` is set. Slot 0
 *                    is never given out: with service it is for what finds no free
 *                    slot and counts under "other", with process it is not read.
 *                    What has no slot has no series. The engine takes the slots of
 *                    those that are gone back, as often as owners[0] says; what
 *                    they hold stays. A process that has ended takes none later
 *                    than 10 ms after.
 *   cpu              with key, in a per-CPU map: the rows of each CPU are rows of
 *                    their own, named by the CPU, too; those that hold only zeros
 *                    are left out
 *   label=WORD       with key: what a key means that is an integer; a key that is an
 *                    enum needs no label
 * The engine sizes the maps of services and processes; with probe and key there are as
 * many rows as the map has entries, 16384 at most. With cpu as many rows of all CPUs are
 * read: those that hold more than zeros.
 *
 * BY_CPU("NAME") behind SUBJECT("key") of a per-CPU map makes the word cpu an option: with
 * Option "NAME" in the Probe block each CPU has rows of its own, without it a row is the sum
 * over the CPUs. The program is the same, and so is its cost.
 *
 * LABEL("WORD") on members of a key that is a struct says what they mean. WORD is
 *   service          a row as service_task.row has it, of 32 bits: the service
 *   cpu              a number: "cpuN"
 *   device           the kernel's dev_t: its name in /sys, or "MAJOR:MINOR"; or an array
 *                    of char, which is the name
 *   device_stat      likewise, with the major and minor number as stat(2) has them
 *   interface        an index, in collectd's network namespace: its name, or "ifN"; or an
 *                    array of char, which is the name
 *   syscall          a system call's number, or "syscall_N"
 *   errno            a number, below zero or not: "ENOENT", 0 is "none"
 *   signal           a number: "SIGTERM"
 *   user             a user's number: the name in /etc/passwd, which is read again each
 *                    minute, or "user_N"; a key that has a name keeps it
 *   cgroup           a number of cgroup2, as bpf_get_current_cgroup_id() has it: its path below
 *                    the root, or "cgroup_N"
 *   ksym             an address: the kernel's function that it is in, or "ksym_ADDRESS"
 *   number           any integer, as it is
 *   address          an array of 4 or 16 bytes, or an integer of 4, in network order:
 *                    "192.0.2.1", "2001:db8::1"
 *   endpoint         an array of char. Where the first is ENDPOINT_IPV4 or ENDPOINT_IPV6 (see
 *                    endpoint.h), the address and a port of 2 bytes follow, in network order:
 *                    "192.0.2.1:80", "[2001:db8::1]:80"; else as string
 *   string           an array of char, up to its NUL; where it is empty, the row counts as "other"
 *                    (see below): what finds no room in the map may be counted there
 *   hex              an array of char: two digits for each byte
 *   class            likewise, of a response: a name that Response of a Service block has, or
 *                    "unknown"; as these are known, they meet no other series
 *   enum             an enum of C: its names, or the number
 * A key has 8 labels at most. None of these names is waited for. The records of events take the
 * word service alone.
 * A key is zeroed whole, padding too, before its members are set. Members without a label
 * are the probe's own: rows that differ in them alone add up.
 *
 * One label becomes the plugin instance: that of the service, else the CPU of the word cpu,
 * else the first of cpu, device and interface, else it is the probe's name. The others, in
 * the order of the members, stand behind the type instance, joined by hyphens: row {web, read}
 * of the member METRIC("total_operations-syscall") is ebpf-web/total_operations-syscall-read,
 * of METRIC("duration") ebpf-web/duration-read. Statistics stand behind them. In each a hyphen
 * becomes an underscore, and all else is cleaned as names of services are; together they have
 * 63 bytes, and where they are longer the longest are cut. Names that are the same then add up.
 *
 * Rows that have never counted anything have no series. At most `Rows` (of the Probe block, 256
 * by default, of an array with the word cpu 256 of each CPU, and as many as there are CPUs where
 * the label cpu is the only one) names of a table have series at once; so many may be new at
 * once, and so many more in each hour. What finds no room counts as "other" in place of the
 * labels behind the type instance, and of the plugin instance, too, unless that is a service or
 * the probe.
 * A name without series gets those of another that counts half of what it does, or less, and
 * has had them for 10 readings. A key may be deleted: its name keeps its counters for 13
 * readings, and goes on with them if it comes back. A counter of 64 bits that has fallen is
 * one of a key that was deleted and has come back in between.
 *
 * What the kernel counts already need not be counted again: FILE("PATH [WORD...]") on a map
 * makes its rows those of a text file, which is read at each reading. No map is made of it, so
 * no program may use it, and an object of such tables alone needs no program:
 *
 *     struct pressure {
 *             u64 some_us METRIC("total_time_in_ms-io_some scale=1/1000") FIELD("some total");
 *     };
 *     FILE_TABLE(pressures, u32, struct pressure, 1) SUBJECT("service") FILE("cgroup:io.pressure");
 *
 * PATH is
 *   /proc/... or /sys/...
 *                    a file there, or several: one asterisk in it stands for any text in
 *                    one part of the path. Of processes there is none.
 *   cgroup:NAME      with SUBJECT("service"): the file of this name of each cgroup of the
 *                    service: of a unit the unit's, whichever cgroup below it a process is in,
 *                    of a user that of the user's slice, of a container the container's, of
 *                    a Service block those that it has by Cgroup, Unit and Container, with
 *                    what is below. With a LABEL("service") in the key: those by Cgroup alone.
 *                    Other services have no row, nor has "other". Else that of the root.
 * Only what everybody may read is read, up to 64 KiB, and 1 MiB where there are rows by
 * line; no link leads out of the file system.
 *
 * Lines have words, with blanks between them; a colon at the end of a word is none of it. A member
 * of the row is a 64-bit integer, and FIELD("[LINE] WORD") says which word of the file it is. WORD
 * is a position, counted from 1, or the name in NAME=VALUE or NAME VALUE. One of these
 * words of FILE says how:
 *   keys             (the default) the file is one row. LINE is the first word of a line; behind
 *                    it the positions begin, and FIELD("LINE") is the first:
 *                    memory.stat: FIELD("pgfault"), io.pressure: FIELD("some total"),
 *                    /proc/stat: FIELD("cpu 3")
 *   pairs            likewise, of pairs of lines that begin with the same word: the first
 *                    has the names, the second what they stand for, as in /proc/net/snmp:
 *                    FIELD("Tcp RetransSegs")
 *   lines            each line is a row, whose first word is number 1: io.stat: FIELD("1") is
 *                    the device, FIELD("rbytes") its octets; /sys/block/vda/stat: FIELD("5")
 *   header           likewise, below a line that has the names: /proc/swaps: FIELD("Used")
 *   cells            below a line that names columns, each value is a row of three words, which are
 *                    "1", what its line is called, "2", what its column is called, and "3", the
 *                    value, as in /proc/softirqs
 * and others are
 *   skip=N           N lines at the begin are none
 *   only=NAME        other lines than those whose first word is NAME, in which an asterisk
 *                    stands for any text, are none
 * and, with cgroup:NAME,
 *   controller=NAME  cpu or memory: where this controller has a hierarchy of its own (v1), the
 *                    file is that of the cgroup there, in the words of cgroup2. So are cpu.max,
 *                    cpu.stat (periods and throttling), memory.max and memory.events
 *                    (oom_kill); others are not there then
 *   limited=NAME     only of cgroups whose file NAME begins with a number, as cpu.max and
 *                    memory.max do where there is a limit
 *   optional         that there is no such file, or not a word of it, is nothing to be told
 *   single           nothing of a service with several cgroups: a limit of one is not its own
 *   highest          of a service with several cgroups, what has grown most, or is highest; without
 *                    either of these words they add up
 * Behind WORD, FIELD may have
 *   decimals=N       N digits behind the point belong to the number, without it: avg10=0.27 is
 *                    27 with decimals=2, and scale=1/100 makes it 0.27 again
 *   base=16          the number is hexadecimal
 *
 * With SUBJECT("probe") and SUBJECT("service") the rows of all lines and files add up. With
 * SUBJECT("key") members of the key have FIELD, too: arrays of char take the word, integers
 * the number that it ends with (7 of "CPU7") or, of MAJOR:MINOR, the dev_t; FIELD("*") is the
 * part of the path that has the asterisk. The map's max_entries says how many rows there are at
 * most. What is no number counts as not there: a gauge is 0 then, a counter waits. What
 * no row has is not dispatched. Growth begins at what a file of /proc or /sys says
 * first; that of a cgroup that comes later, at zero.
 *
 * No two columns of an object, nor of all that are loaded, may come to one series:
 * to the same TYPE-INSTANCE (also of a statistic, as TYPE-INSTANCE-average) of the
 * same kind of row. The probe that is opened later is off then.
 *
 * TIER(N) on a program makes it part of hook set N, several tags of several. The engine tries tiers in
 * the order of their numbers and keeps the first that loads and attaches;
 * programs without a tier belong to all of them. On a map it says that only these
 * tiers need more than one entry.
 *
 * OPTION(NAME) is for what costs something at every event of a busy hook. Where
 * the Probe block does not say Option "NAME", a program with it is not loaded,
 * a map with it has one entry and is not read; and where it does,
 *   const volatile bool option_NAME;
 * is set before load. Any of the three makes the option known, and so does BY_CPU. A program that
 * has the tag several times needs all of these options. A tier whose programs all need an option
 * is tried only with it.
 *
 * DEFAULT(off) on the licence, or on any other variable, or function: the object is loaded only
 * where its Probe block says Enable true, as for what costs much. On a member with METRIC: it has
 * series only where the block names it by Collect, as for what is rarely looked at. Of a type
 * with several data sources one such member is enough.
 *
 * HOT(NUMBER) on a program says that it may run thousands of times a second, and counts that
 * itself: see hot.bpf.h. So the engine knows what the probe costs, and can switch it off
 * (MaxOverhead).
 *
 * SHARED(LAYOUT) on a map makes it that of this name in the engine's own object, if
 * that has the tag, too, and type, sizes and LAYOUT are the same; else the object does
 * not open. Such are the maps of service.bpf.h. Any other map is the object's own,
 * whatever it is called.
 *
 * A parameter is a variable
 *   const volatile TYPE NAME;
 * of an integer type of up to 8 bytes, an enum or bool, which the Probe block sets before
 * load with Parameter "NAME" VALUE. RANGE(LOW, HIGH) behind the name says which numbers it
 * takes, where that is less than its type has.
 *
 * EVENT("SEVERITY TYPE[-INSTANCE] TEXT") on a ring buffer makes a notification of each
 * record, a moment after it:
 *
 *     RINGBUF(MAP, struct NAME, 64 * 1024)
 *     EVENT("failure total_events-oom_kills {comm} of {service}");
 *
 * SEVERITY is failure, warning or okay. TYPE-INSTANCE is the series that it is about. It has the
 * plugin instance of the service whose row is in the member with LABEL("service"), a u32; without
 * such a member, that of the probe. In TEXT, {MEMBER} is what the record has there: an
 * integer; a string of char[]; of an enum the enumerator's name in small letters with spaces for
 * underscores; of LABEL("service") the name of the service. {MEMBER:octets} is an unsigned
 * integer in KiB, MiB and so on. Strings are cleaned as names are. Of one ring 10 go out at once
 * and then one a minute, which says how many more there were; besides one a minute of each service,
 * so that no other keeps it back. ebpf-self counts what is kept back. See event.bpf.h.
 *
 * A program SEC("uprobe"), "uretprobe", "usdt", "kprobe", "kretprobe", "tracepoint" or
 * "perf_event" is attached to what the Attach lines of the Probe block name, and so may be one
 * whose section names something, as SEC("uprobe/PATH:FUNCTION"); see collectd-ebpf(5).
 *
 * UNIT("UNIT") and HELP("TITLE[: TEXT]") on a member with METRIC, HELP on a ring buffer with EVENT
 * and on the licence say what a person wants to know of the series, the event and the probe. The
 * engine passes them over; the tables of README, manual and docs/metrics.md and what ebpf-graph
 * draws are made of them by `make describe`. The title is a few words; both are of printable ASCII
 * without a bar (|). UNIT is that of the series, after scale: seconds, bytes, percent, or what is
 * counted ("requests").
 *
 * Variables that the engine knows in every object:
 *   const volatile u32 service_rows, process_rows_max, cpus_possible;
 *                         set before load
 *   const volatile u64 page_size, tick_ns_max;
 *                         set before load: bytes, and the longest that a busy CPU takes to
 *                         update the scheduler's counters
 *   const volatile bool watch_other;
 *                         set before load: may what counts under "other" become a
 *                         service, so that its processes must be told apart?
 *   const volatile u32 configured_end;
 *                         set before load: rows of Service blocks are below. An object that has
 *                         it counts for these alone, see service_configured.bpf.h
 *   const volatile u32 shards;
 *                         set before load: a power of two, at most 8
 *   const volatile u32 slots_max;
 *                         set before load: slots of the table with via that has
 *                         most, slot 0 too
 *   const volatile u32 slots_kept, slots_open;
 *                         set before load: see slot.bpf.h. With slots_open, services that are
 *                         not configured have slots by the engine's leave alone, see slot.h
 *   const volatile bool responses_wanted;
 *                         set before load: has any Service block Response? See response.bpf.h
 *   u32 cpus_online, cpus_end;
 *                         set before each reading: how many, and the highest + 1
 *   u64 interval_began_ns, previous_began_ns;
 *                         set at each reading, before the tables are read: when the interval
 *                         that goes on has begun, by bpf_ktime_get_ns(), 0: the first; and the
 *                         one before it
 *   u64 read_ns;          set by an iterator: the time of what it has read, of
 *                         CLOCK_BOOTTIME; rates are per time between two such
 *   u64 refused;          counted by the probe, reported under ebpf-self
 *   u64 events_dropped;   likewise: records that found no room in their ring
 *   u64 readings;         set after each reading: how many there were
 *   u64 attached_ns;      set before the probe is attached again after a pause, by
 *                         bpf_ktime_get_ns(): see attached.bpf.h
 *   u64 sample_ns;        set before each run of a sampler: how long since its last one
 *
 * Programs SEC("iter/...") and SEC("syscall") are run at each reading, before the tables are read, in
 * the order in which they stand in the object. One of the latter walks over hashes and arrays by
 * bpf_for_each_map_elem(), which also kernels permit that refuse SEC("iter/bpf_map_elem"). SEC("iter/task")
 * with WALK takes part in the walk that all probes share instead, see walk.bpf.h. With
 * SAMPLE("hz=NUMBER") they are samplers: run so many times a second, 1 to 1000, at random
 * moments, by a thread beside the readings. All samplers together take no more than a small share
 * of one CPU (MaxSampling, 0.5 %, or the Probe block's Budget), for which they are run less
 * often; Frequency in that block replaces NUMBER. So what is seen counts
 * sample_ns, not 1. A sampler looks at what the kernel has, never at the memory of other
 * processes. See sample.bpf.h. OVER(MAP) on one that is SEC("iter/bpf_map_elem") or
 * SEC("iter/bpf_sk_storage_map") says which map it walks over: a hash or array, or a socket
 * storage; the object's own, or one that it has by SHARED.
 */
#ifndef METRIC_BPF_H
#define METRIC_BPF_H

#include "kernel/sched.bpf.h"
#include "map.bpf.h"
#include "hist.h"

#define METRIC(text) __attribute__((btf_decl_tag("metric:" text)))
#define SUBJECT(text) __attribute__((btf_decl_tag("subject:" text)))
#define EVENT(text) __attribute__((btf_decl_tag("event:" text)))
#define LABEL(word) __attribute__((btf_decl_tag("label:" word)))
#define UNIT(text) __attribute__((btf_decl_tag("unit:" text)))
#define HELP(text) __attribute__((btf_decl_tag("help:" text)))
#define SAMPLE(text) __attribute__((btf_decl_tag("sample:" text)))
#define PERIODIC(text) __attribute__((btf_decl_tag("periodic:" text)))
#define STACKS(text) __attribute__((btf_decl_tag("stacks:" text)))
#define OPTION(name) __attribute__((btf_decl_tag("option:" name)))
#define BY_CPU(option) __attribute__((btf_decl_tag("by_cpu:" option)))
#define OVER(map) __attribute__((btf_decl_tag("over:" #map)))
#define RANGE(low, high) __attribute__((btf_decl_tag("range:" #low ".." #high)))
#define FILE(text) __attribute__((btf_decl_tag("file:" text)))
#define FIELD(text) __attribute__((btf_decl_tag("field:" text)))
/* Of which the rows are read from files: FILE_TABLE(...) SUBJECT(...) FILE(...); */
#define FILE_TABLE(name, key, row, rows) HASH(name, key, row, rows)
#define DEFAULT(state) __attribute__((btf_decl_tag("default:" #state)))
#define SHARED(layout) __attribute__((btf_decl_tag("shared:" #layout)))
#define TIER(number) __attribute__((btf_decl_tag("tier:" #number)))

/* For mean and variance of what is added. The sum of squares is in limbs of 32 bits, each in its
 * own counter: no carry, so several CPUs may add at once, and no overflow for values below 2^48. */
struct moments {
	u64 count;
	u64 sum;
	u64 squares[3];
};

struct hist {
	u64 bucket[HIST_BUCKETS];
};

static __always_inline void add(u64 *counter, u64 n)
{
	__sync_fetch_and_add(counter, n);
}

/* By how much, 0 where another CPU's look came later. */
static __always_inline u64 grown(u64 now, u64 before)
{
	return now > before ? now - before : 0;
}

static __always_inline void moments_add(struct moments *m, u64 value)
{
	u64 high = value >> 32, low = (u32)value;
	u64 cross = 2 * high * low;
	u64 mid = (low * low >> 32) + (u32)cross;

	add(&m->count, 1);
	add(&m->sum, value);
	add(&m->squares[0], (u32)(low * low));
	add(&m->squares[1], (u32)mid);
	add(&m->squares[2], high * high + (cross >> 32) + (mid >> 32));
}

/* In a register of 64 bits, which the verifier of older kernels bounds. */
static __always_inline void hist_count(struct hist *h, u64 bucket, u64 n)
{
	asm volatile("" : "+r"(bucket));
	if (bucket < HIST_BUCKETS)
		add(&h->bucket[bucket], n);
}

static __always_inline void hist_add(struct hist *h, u64 value)
{
	hist_count(h, hist_index(value), 1);
}

#endif
