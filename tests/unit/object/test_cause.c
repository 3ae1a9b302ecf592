/* SPDX-License-Identifier: MIT */
/*
 * The cause of each failure, on machines that differ in one thing from one that permits everything. No
 * cause is named that the machine refutes.
 */
#include "tests/unit/testing.h"

#include "plugin/object/cause.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>

#define ENOTSUPP 524
#define RIGHT(name) (1ULL << CAP_##name)
#define LEAST (RIGHT(BPF) | RIGHT(PERFMON))
#define ALL UINT64_MAX
#define MACHINE(has, level, paranoid)                                                  \
	.capabilities = (has), .lockdown = (level), .perf_event_paranoid = (paranoid), \
	.has_kprobes = true
#define FILES .tracefs = READABLE, .btf = READABLE

static const struct machine
	fine = { MACHINE(ALL, LOCKDOWN_NONE, 2), FILES },
	least = { MACHINE(LEAST, LOCKDOWN_INTEGRITY, 2), FILES },
	administrator = { MACHINE(RIGHT(SYS_ADMIN), LOCKDOWN_NONE, 3), FILES },
	bpf_only = { MACHINE(RIGHT(BPF), LOCKDOWN_NONE, 2), FILES },
	perfmon_only = { MACHINE(RIGHT(PERFMON), LOCKDOWN_NONE, 2), FILES },
	paranoid = { MACHINE(LEAST, LOCKDOWN_NONE, 3), FILES },
	confidential = { MACHINE(ALL, LOCKDOWN_CONFIDENTIALITY, 2), FILES },
	integral = { MACHINE(ALL, LOCKDOWN_INTEGRITY, 2), FILES },
	unknown = { MACHINE(ALL, LOCKDOWN_UNKNOWN, 2), FILES },
	contained = { MACHINE(ALL, LOCKDOWN_NONE, 2), FILES, .in_user_namespace = true },
	contained_least = { MACHINE(0, LOCKDOWN_NONE, 2), FILES, .in_user_namespace = true },
	filtered = { MACHINE(ALL, LOCKDOWN_NONE, 2), FILES, .has_seccomp_filter = true },
	guarded = { MACHINE(ALL, LOCKDOWN_NONE, 2), FILES, .security_modules = "selinux, bpf" },
	both = { MACHINE(ALL, LOCKDOWN_NONE, 2), FILES, .has_seccomp_filter = true,
		 .security_modules = "bpf" },
	closed = { MACHINE(LEAST, LOCKDOWN_NONE, 3), .tracefs = UNREADABLE, .btf = UNREADABLE },
	bare = { MACHINE(ALL, LOCKDOWN_NONE, 2), .tracefs = ABSENT, .btf = ABSENT },
	without_kprobes = { .capabilities = LEAST, .perf_event_paranoid = 2, FILES };

#define NAMES_NONE "the kernel names no cause: see dmesg"
#define FILTER \
	"the kernel names no cause: a seccomp filter (of a container, or SystemCallFilter= of the unit)"
#define RIGHTS \
	"collectd needs CAP_BPF and CAP_PERFMON (as root, or AmbientCapabilities= in its systemd unit)"
#define NAMESPACE \
	"collectd runs in a user namespace, whose capabilities do not permit eBPF; run it outside"
#define LOCKED \
	"the kernel's lockdown forbids reading its memory; boot it with lockdown=integrity, or without"
#define PARANOID \
	"kernel.perf_event_paranoid is above 2, for which this kernel needs CAP_SYS_ADMIN; set it to 2, or give collectd that capability"
#define OLD_UPROBES "before Linux 6.6, hooks in programs need CAP_SYS_ADMIN"
#define NO_KPROBES "the kernel is built without kprobes (CONFIG_KPROBE_EVENTS)"
#define NO_TRACEFS "tracefs is not there; mount -t tracefs tracefs /sys/kernel/tracing"
#define CLOSED "collectd may not read /sys/kernel/tracing; give it CAP_DAC_READ_SEARCH"
#define MODULES \
	"the running kernel lacks this hook, or a module has it, and inspecting modules needs CAP_SYS_ADMIN"
#define LACKS "the running kernel lacks something that this object needs"
#define LACKS_HOOK "the running kernel lacks this hook"
#define LACKS_TYPE "the running kernel lacks a function, type or hook that this object needs"
#define LICENCE \
	"the object's section \"license\" must name a licence that the kernel takes for compatible with the GPL, such as \"GPL\" or \"Dual MIT/GPL\""
#define REJECTS "the kernel's verifier rejects the program, which has to be changed"
#define COMPILE "compile it by clang -target bpf -g, for this plugin"
#define FILE_SYSTEM "the kernel refuses this file system, or the instruction there"
#define NO_FUNCTION \
	"the kernel has no function of this name: misspelt, inlined, or of a module that is not loaded"
#define NO_FENTRY \
	"the kernel has no function of this name, or it is inlined, in assembly or of a module; try kprobe"
#define REFUSES_FENTRY "the kernel does not let it be traced by fentry; try kprobe, or its caller"
#define REFUSES \
	"the kernel does not let it be traced: it is not code, or kprobes need it themselves; try its caller"

struct row {
	const struct machine *machine;
	int code;
	const char *want, *words, *verdict;
};

#define FAILURE(machine, error, want, words, verdict)      \
	{                                                  \
		&(machine), -(error), want, words, verdict \
	}
#define ROW(machine, error, want) FAILURE(machine, error, want, "", "")
#define SAID(machine, error, want, words) FAILURE(machine, error, want, words, "")
#define VERDICT(machine, error, want, verdict) FAILURE(machine, error, want, "", verdict)

static void check(const char *what, struct failure failure, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char cause[CAUSE_MAX];

		CASE("%s, row %zu", what, i);
		failure.code = rows[i].code;
		failure.words = rows[i].words;
		failure.verdict = rows[i].verdict;
		cause_find(&failure, rows[i].machine, cause);
		CHECK_TEXT(cause, rows[i].want);
	}
}

#define CHECK_ROWS(what, rows, ...) \
	check(what, (struct failure){ __VA_ARGS__ }, rows, COUNT_OF(rows))

static void test_open(void)
{
	static const struct row rows[] = {
		ROW(fine, EINVAL, COMPILE),
		ROW(fine, ENOEXEC, COMPILE),
		ROW(fine, LIBBPF_ERRNO__FORMAT, COMPILE),
		ROW(fine, ENOMEM, "not enough memory"),
	};

	CHECK_ROWS("open", rows, .step = FAILED_OPEN, .kind = HOOK_KINDS);
}

static void test_load(void)
{
	static const struct row rows[] = {
		ROW(fine, EPERM, NAMES_NONE),
		ROW(least, EPERM, NAMES_NONE),
		ROW(administrator, EPERM, NAMES_NONE),
		ROW(paranoid, EPERM, NAMES_NONE),
		ROW(confidential, EPERM, NAMES_NONE),
		ROW(bpf_only, EPERM, RIGHTS),
		ROW(perfmon_only, EPERM, RIGHTS),
		ROW(contained, EPERM, NAMESPACE),
		ROW(contained_least, EPERM, NAMESPACE),
		ROW(filtered, EPERM, FILTER " may forbid it"),
		ROW(guarded, EACCES,
		    "the kernel names no cause: a security module (selinux, bpf) may forbid it"),
		ROW(both, EPERM, FILTER " or a security module (bpf) may forbid it"),
		SAID(least, EPERM, MODULES, "libbpf: failed to iterate BTF objects: -1"),
		SAID(administrator, EPERM, NAMES_NONE, "libbpf: failed to iterate BTF objects: -1"),
		ROW(fine, ESRCH, LACKS_TYPE),
		ROW(fine, ENOENT, LACKS_TYPE),
		SAID(fine, ESRCH, LACKS_TYPE,
		     "libbpf: prog 'p': failed to find kernel BTF type ID of 'f': -3"),
		ROW(bare, ESRCH,
		    "the kernel must have BTF (CONFIG_DEBUG_INFO_BTF=y), in /sys/kernel/btf/vmlinux"),
		ROW(closed, ESRCH, "collectd may not read /sys/kernel/btf/vmlinux"),
		SAID(fine, ESRCH, "/sys/kernel/btf/vmlinux is there, but is not the kernel's BTF",
		     "libbpf: failed to find valid kernel BTF"),
		ROW(fine, EINVAL, LACKS),
		SAID(fine, EINVAL, "the running kernel does not accept this map",
		     "libbpf: map 'm': failed to create: -22"),
		ROW(fine, E2BIG, "a map is larger than this kernel permits"),
		ROW(fine, ENOMEM, "not enough memory"),
		ROW(fine, EIO, "see dmesg and collectd-ebpf(5)"),
		VERDICT(confidential, EINVAL, LOCKED, "unknown func bpf_probe_read_kernel#113"),
		VERDICT(unknown, EINVAL, LOCKED,
			"program of this type cannot use helper bpf_probe_read#4"),
		VERDICT(integral, EINVAL, LACKS, "unknown func bpf_probe_read_kernel#113"),
		VERDICT(fine, EINVAL, LACKS,
			"program of this type cannot use helper bpf_probe_read#4"),
		VERDICT(confidential, EINVAL, LACKS,
			"program of this type cannot use helper bpf_loop#181"),
		VERDICT(fine, EINVAL, LACKS, "invalid func unknown#195896080"),
		VERDICT(fine, EINVAL, LACKS,
			"failed to resolve CO-RE relocation <byte_off> [20] struct task_struct.none"),
		VERDICT(fine, EINVAL, LICENCE,
			"cannot call GPL-restricted function from non-GPL compatible program"),
		VERDICT(fine, EACCES, REJECTS, "R1 invalid mem access 'scalar'"),
		VERDICT(contained, EPERM, REJECTS, "R1 leaks addr into map"),
		VERDICT(fine, EFAULT, REJECTS, "stack frame of 600 bytes"),
		VERDICT(fine, E2BIG,
			"the program is too long for the verifier of this kernel; a lower MaxServices may help",
			"BPF program is too large. Processed 1000001 insn"),
	};

	CHECK_ROWS("load", rows, .step = FAILED_LOAD, .kind = HOOK_KINDS);
}

/* Hooks that an object's sections name. */
static void test_sections(void)
{
	static const struct row others[] = {
		ROW(confidential, EPERM, NAMES_NONE),
		ROW(paranoid, EACCES, NAMES_NONE),
		ROW(bpf_only, EACCES, RIGHTS),
		ROW(bare, ENOENT, LACKS_HOOK),
		ROW(fine, EOPNOTSUPP, LACKS),
		ROW(fine, ENOTSUPP, LACKS),
		ROW(fine, EBUSY, "see dmesg and collectd-ebpf(5)"),
	};
	static const struct row tracepoints[] = {
		ROW(fine, ENOENT, LACKS_HOOK),
		ROW(bare, ENOENT, NO_TRACEFS),
		ROW(closed, EACCES, CLOSED),
		ROW(paranoid, EACCES, PARANOID),
		ROW(administrator, EACCES, NAMES_NONE),
		ROW(least, EACCES, NAMES_NONE),
		ROW(confidential, EPERM, LOCKED),
	};
	static const struct row kprobes[] = {
		ROW(fine, ENOENT, LACKS_HOOK),           ROW(without_kprobes, ENOENT, NO_KPROBES),
		ROW(without_kprobes, EPERM, NO_KPROBES), ROW(confidential, EPERM, LOCKED),
		ROW(integral, EPERM, NAMES_NONE),
	};

	CHECK_ROWS("raw_tp", others, .step = FAILED_ATTACH, .kind = HOOK_KINDS);
	CHECK_ROWS("tracepoint", tracepoints, .step = FAILED_ATTACH, .kind = HOOK_TRACEPOINT);
	CHECK_ROWS("kprobe", kprobes, .step = FAILED_ATTACH, .kind = HOOK_KPROBE);
}

/* Hooks that the configuration names. */
static void test_configured(void)
{
	static const struct row kprobes[] = {
		ROW(fine, ENOENT, NO_FUNCTION),
		ROW(fine, EINVAL, REFUSES),
		ROW(fine, EILSEQ, "no instruction begins at this offset"),
		ROW(fine, EADDRNOTAVAIL,
		    "the kernel has several functions of this name; name another one"),
		ROW(without_kprobes, ENOENT, NO_KPROBES "; try fentry"),
		ROW(bpf_only, EPERM, RIGHTS),
		ROW(paranoid, EACCES, PARANOID),
	};
	static const struct row fentries[] = {
		ROW(without_kprobes, ENOENT, NO_FENTRY),
		ROW(fine, ESRCH, NO_FENTRY),
		ROW(fine, EBUSY, REFUSES_FENTRY),
		ROW(fine, ENOTSUPP, REFUSES_FENTRY),
		ROW(fine, E2BIG, "too many programs are attached to it; detach one"),
		ROW(paranoid, EACCES, NAMES_NONE),
		ROW(fine, EIO, "Input/output error; see dmesg"),
	};
	static const struct row tracepoints[] = {
		ROW(fine, ENOENT,
		    "the kernel has no tracepoint of this name; ls /sys/kernel/tracing/events lists them"),
		ROW(bare, ENOENT, NO_TRACEFS),
		ROW(fine, EINVAL, "Invalid argument; see dmesg"),
	};
	static const struct row events[] = {
		ROW(fine, ENODEV, "this machine cannot count it"),
		ROW(paranoid, EACCES, PARANOID),
		ROW(fine, EINVAL, "Invalid argument; see dmesg"),
	};
	static const struct row uprobes[] = {
		ROW(least, EACCES, OLD_UPROBES),
		ROW(paranoid, EACCES, PARANOID),
		ROW(perfmon_only, EACCES, RIGHTS),
		ROW(contained, EACCES, NAMESPACE),
		ROW(fine, ENODEV, "the kernel is built without uprobes (CONFIG_UPROBE_EVENTS)"),
		ROW(fine, EINVAL, FILE_SYSTEM),
		ROW(fine, ENOTSUPP, FILE_SYSTEM),
		ROW(fine, EPIPE, "the process that attaches has ended"),
	};

	CHECK_ROWS("kprobe", kprobes, .step = FAILED_ATTACH, .kind = HOOK_KRETPROBE,
		   .is_configured = true);
	CHECK_ROWS("fentry", fentries, .step = FAILED_ATTACH, .kind = HOOK_FENTRY,
		   .is_configured = true);
	CHECK_ROWS("tracepoint", tracepoints, .step = FAILED_ATTACH, .kind = HOOK_TRACEPOINT,
		   .is_configured = true);
	CHECK_ROWS("event", events, .step = FAILED_ATTACH, .kind = HOOK_PERF,
		   .is_configured = true);
	CHECK_ROWS("uprobe", uprobes, .step = FAILED_ATTACH, .kind = HOOK_USDT,
		   .is_configured = true);
}

static void test_of_machine(void)
{
	CASE("of the machine");
	CHECK_INT(cause_is_of_machine("cannot load: Operation not permitted; " RIGHTS), true);
	CHECK_INT(cause_is_of_machine(NO_KPROBES "; try fentry"), true);
	CHECK_INT(cause_is_of_machine(LACKS_TYPE), false);
}

static void test_once(void)
{
	struct causes_logged logged = { .of = { "" } };
	struct error error = { "" };

	CASE("the first");
	error_set(&error, -EPERM, "cannot load: no; " PARANOID);
	cause_log_once(&logged, &error, "hook set %u of probe %s", 1U, "block");
	CHECK_TEXT(error.text, "cannot load: no; " PARANOID);
	CASE("another hook");
	error_set(&error, -EPERM, "cannot attach: no; " PARANOID);
	cause_log_once(&logged, &error, "probe %s", "tcp");
	CHECK_TEXT(error.text, "for the same reason as hook set 1 of probe block");
	CASE("another cause, whose end differs");
	error_set(&error, -EPERM, "cannot load: no; " FILTER " may forbid it; Option \"x\" helps");
	cause_log_once(&logged, &error, "probe %s", "tcp");
	CHECK_HAS(error.text, "cannot load: no; " FILTER);
	cause_log_once(&logged, &error, "probe %s", "files");
	CHECK_TEXT(error.text, "for the same reason as probe tcp; Option \"x\" helps");
	CASE("of an object");
	for (int i = 0; i < 2; i++) {
		error_set(&error, -ESRCH, "cannot load: no; " LACKS_TYPE);
		cause_log_once(&logged, &error, "probe %s", "tcp");
		CHECK_TEXT(error.text, "cannot load: no; " LACKS_TYPE);
	}
}

int main(void)
{
	test_open();
	test_load();
	test_sections();
	test_configured();
	test_of_machine();
	test_once();
	return testing_end();
}
