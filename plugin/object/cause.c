/* SPDX-License-Identifier: MIT */
/*
 * Why the kernel or libbpf refuses something, and what to do. Most errors have several causes: one
 * is named only if it is true of the machine. Where none is known to be, the text names those that
 * remain possible.
 */
#include "cause.h"

#include "helper/file.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LIBBPF_ERRNO_FIRST 4000 /* libbpf's own errors follow */
#define KERNEL_ENOTSUPP 524     /* internal to the kernel, unknown to C libraries */

#define LACKS "the running kernel lacks something that this object needs"

static const char *const OF_MACHINE[CAUSES_OF_MACHINE] = {
	[USER_NAMESPACE] = "collectd runs in a user namespace, whose capabilities do not permit "
			   "eBPF; run it outside",
	[NO_RIGHTS] = "collectd needs CAP_BPF and CAP_PERFMON (as root, or "
		      "AmbientCapabilities= in its systemd unit)",
	[LOCKDOWN] = "the kernel's lockdown forbids reading its memory; boot it with "
		     "lockdown=integrity, or without",
	[TRACEFS_CLOSED] = "collectd may not read /sys/kernel/tracing; give it "
			   "CAP_DAC_READ_SEARCH",
	[PARANOID] = "kernel.perf_event_paranoid is above 2, for which this kernel needs "
		     "CAP_SYS_ADMIN; set it to 2, or give collectd that capability",
	[UPROBES_OF_ADMIN] = "before Linux 6.6, hooks in programs need CAP_SYS_ADMIN",
	[UNNAMED] = "the kernel names no cause",
	[NO_TRACEFS] = "tracefs is not there; mount -t tracefs tracefs /sys/kernel/tracing",
	[NO_KPROBES] = "the kernel is built without kprobes (CONFIG_KPROBE_EVENTS)",
	[NO_UPROBES] = "the kernel is built without uprobes (CONFIG_UPROBE_EVENTS)",
	[NO_BTF] = "the kernel must have BTF (CONFIG_DEBUG_INFO_BTF=y), in "
		   "/sys/kernel/btf/vmlinux",
	[BTF_CLOSED] = "collectd may not read /sys/kernel/btf/vmlinux",
	[BTF_BROKEN] = "/sys/kernel/btf/vmlinux is there, but is not the kernel's BTF",
};

static bool has_one(const char *text, const char *const parts[])
{
	for (; *parts; parts++)
		if (strstr(text, *parts))
			return true;
	return false;
}

static bool has_right(const struct machine *machine, unsigned capability)
{
	return machine->capabilities >> capability & 1;
}

static bool has_rights(const struct machine *machine)
{
	return has_right(machine, CAP_SYS_ADMIN) ||
	       (has_right(machine, CAP_BPF) && has_right(machine, CAP_PERFMON));
}

static bool is_kprobe(enum hook_kind kind)
{
	return kind == HOOK_KPROBE || kind == HOOK_KRETPROBE;
}

static bool is_of_file(enum hook_kind kind)
{
	return kind == HOOK_UPROBE || kind == HOOK_URETPROBE || kind == HOOK_USDT;
}

static bool uses_perf_event(enum hook_kind kind)
{
	return kind != HOOK_FENTRY && kind != HOOK_KINDS;
}

/* NULL: nothing is known to forbid it. */
static const char *forbidden(const struct failure *failure, const struct machine *machine)
{
	bool is_admin = has_right(machine, CAP_SYS_ADMIN);

	if (machine->in_user_namespace)
		return OF_MACHINE[USER_NAMESPACE];
	if (!is_admin && strstr(failure->words, "iterate BTF objects"))
		return "the running kernel lacks this hook, or a module has it, and inspecting "
		       "modules needs CAP_SYS_ADMIN";
	if (!has_rights(machine))
		return OF_MACHINE[NO_RIGHTS];
	if (failure->code == -EPERM)
		return machine->lockdown == LOCKDOWN_CONFIDENTIALITY &&
				       (is_kprobe(failure->kind) ||
					failure->kind == HOOK_TRACEPOINT)
			       ? OF_MACHINE[LOCKDOWN]
			       : NULL;
	if (failure->kind == HOOK_TRACEPOINT && machine->tracefs == UNREADABLE)
		return OF_MACHINE[TRACEFS_CLOSED];
	if (is_admin || !uses_perf_event(failure->kind))
		return NULL;
	/* Debian's kernels have level 3, at which perf_event_open(2) needs more than CAP_PERFMON. */
	if (machine->perf_event_paranoid > 2)
		return OF_MACHINE[PARANOID];
	return is_of_file(failure->kind) ? OF_MACHINE[UPROBES_OF_ADMIN] : NULL;
}

/* What is there and may forbid it without a word. */
static void name_suspects(const struct machine *machine, char cause[CAUSE_MAX])
{
	const char *modules = machine->security_modules;
	bool has_filter = machine->has_seccomp_filter;

	if (!has_filter && !modules[0])
		snprintf(cause, CAUSE_MAX, "%s: see dmesg", OF_MACHINE[UNNAMED]);
	else
		snprintf(cause, CAUSE_MAX, "%s: %s%s%s%s%s may forbid it", OF_MACHINE[UNNAMED],
			 has_filter ? "a seccomp filter (of a container, or SystemCallFilter= of "
				      "the unit)"
				    : "",
			 has_filter && modules[0] ? " or " : "",
			 modules[0] ? "a security module (" : "", modules, modules[0] ? ")" : "");
}

static const char *without_type(const struct failure *failure, const struct machine *machine)
{
	static const char *const broken[] = { "valid kernel BTF",
					      "vmlinux BTF:", "parse target BTF", NULL };

	if (machine->btf != READABLE)
		return OF_MACHINE[machine->btf == ABSENT ? NO_BTF : BTF_CLOSED];
	if (has_one(failure->words, broken))
		return OF_MACHINE[BTF_BROKEN];
	return "the running kernel lacks a function, type or hook that this object needs";
}

static const char *refused_load(const struct failure *failure, const struct machine *machine)
{
	/* A helper, kernel function or member that does not exist. */
	static const char *const lacks[] = { "unknown func",      "invalid func",
					     "cannot use helper", "CO-RE relocation",
					     "kernel btf_id",     NULL };
	const char *verdict = failure->verdict;

	/* All kernels have this helper. */
	if (strstr(verdict, "bpf_probe_read") && machine->lockdown != LOCKDOWN_NONE &&
	    machine->lockdown != LOCKDOWN_INTEGRITY)
		return OF_MACHINE[LOCKDOWN];
	if (strstr(verdict, "GPL"))
		return "the object's section \"license\" must name a licence that the kernel "
		       "takes for compatible with the GPL, such as \"GPL\" or \"Dual MIT/GPL\"";
	if (verdict[0] && !has_one(verdict, lacks))
		return "the kernel's verifier rejects the program, which has to be changed";
	if (strstr(failure->words, "failed to create"))
		return "the running kernel does not accept this map";
	return LACKS;
}

static const char *refused(const struct failure *failure, const struct machine *machine)
{
	switch (failure->step) {
	case FAILED_OPEN:
		return "compile it by clang -target bpf -g, for this plugin";
	case FAILED_LOAD:
		return refused_load(failure, machine);
	default:
		return LACKS;
	}
}

static const char *too_big(const struct failure *failure)
{
	return failure->verdict[0] ? "the program is too long for the verifier of this kernel; a "
				     "lower MaxServices may help"
				   : "a map is larger than this kernel permits";
}

/* Of an object and the hooks that its sections name. */
static const char *cause_of_object(const struct failure *failure, const struct machine *machine)
{
	bool is_load = failure->step == FAILED_LOAD;

	if (-failure->code > LIBBPF_ERRNO_FIRST ||
	    (is_load && failure->verdict[0] && failure->code != -E2BIG))
		return refused(failure, machine);
	switch (-failure->code) {
	case ENOENT:
		return failure->step == FAILED_ATTACH ? "the running kernel lacks this hook"
						      : without_type(failure, machine);
	case ESRCH:
		return without_type(failure, machine);
	case ENOMEM:
		return "not enough memory";
	case E2BIG:
		return too_big(failure);
	case ENOEXEC:
	case EINVAL:
	case EOPNOTSUPP:
	case KERNEL_ENOTSUPP:
		return refused(failure, machine);
	default:
		return "see dmesg and collectd-ebpf(5)";
	}
}

/* Of a location in a program or library. */
static const char *cause_of_location(int code)
{
	switch (-code) {
	case ENODEV:
		return OF_MACHINE[NO_UPROBES];
	case EINVAL:
	case EIO:
	case KERNEL_ENOTSUPP:
		return "the kernel refuses this file system, or the instruction there";
	case ENOMEM:
		return "the kernel has no memory for it, or a process that has the file is at the "
		       "memory limit of its cgroup";
	case EPIPE:
		return "the process that attaches has ended";
	case ETIMEDOUT:
		return "the kernel takes too long for it, perhaps because of the file system";
	default:
		return file_strerror(code);
	}
}

static const char *without_function(enum hook_kind kind)
{
	if (kind == HOOK_FENTRY)
		return "the kernel has no function of this name, or it is inlined, in assembly or "
		       "of a module; try kprobe";
	return "the kernel has no function of this name: misspelt, inlined, or of a module that is "
	       "not loaded";
}

static const char *refused_function(enum hook_kind kind)
{
	if (kind == HOOK_FENTRY)
		return "the kernel does not let it be traced by fentry; try kprobe, or its caller";
	return "the kernel does not let it be traced: it is not code, or kprobes need it "
	       "themselves; try its caller";
}

/* Of a function, tracepoint or event of the kernel that the configuration names; NULL: the error's
 * own text is enough. */
static const char *cause_of_hook(enum hook_kind kind, int code)
{
	bool is_function = is_kprobe(kind) || kind == HOOK_FENTRY;

	if (kind == HOOK_PERF && (code == -ENOENT || code == -ENODEV || code == -EOPNOTSUPP))
		return "this machine cannot count it";
	switch (-code) {
	case ENOENT:
	case ESRCH:
		return is_function ? without_function(kind)
				   : "the kernel has no tracepoint of this name; "
				     "ls /sys/kernel/tracing/events lists them";
	case EADDRNOTAVAIL:
		return "the kernel has several functions of this name; name another one";
	case EILSEQ:
		return "no instruction begins at this offset";
	case EINVAL:
	case EBUSY:
	case EOPNOTSUPP:
	case KERNEL_ENOTSUPP:
		return is_function ? refused_function(kind) : NULL;
	case E2BIG:
		return "too many programs are attached to it; detach one";
	default:
		return NULL;
	}
}

static void set_cause_of_hook(enum hook_kind kind, int code, char cause[CAUSE_MAX])
{
	const char *why = is_of_file(kind) ? cause_of_location(code) : cause_of_hook(kind, code);

	snprintf(cause, CAUSE_MAX, "%s%s", why ?: strerror(-code), why ? "" : "; see dmesg");
}

void cause_find(const struct failure *failure, const struct machine *machine, char cause[CAUSE_MAX])
{
	int code = failure->code;
	/* The verifier returns these, too. */
	bool is_forbidden = (code == -EPERM || code == -EACCES) && !failure->verdict[0];
	const char *why = is_forbidden ? forbidden(failure, machine) : NULL;

	if (why)
		snprintf(cause, CAUSE_MAX, "%s", why);
	else if (failure->step == FAILED_ATTACH && is_kprobe(failure->kind) &&
		 !machine->has_kprobes)
		snprintf(cause, CAUSE_MAX, "%s%s", OF_MACHINE[NO_KPROBES],
			 failure->is_configured ? "; try fentry" : "");
	else if (failure->kind == HOOK_TRACEPOINT && code == -ENOENT && machine->tracefs == ABSENT)
		snprintf(cause, CAUSE_MAX, "%s", OF_MACHINE[NO_TRACEFS]);
	else if (is_forbidden)
		name_suspects(machine, cause);
	else if (failure->is_configured)
		set_cause_of_hook(failure->kind, code, cause);
	else
		snprintf(cause, CAUSE_MAX, "%s", cause_of_object(failure, machine));
}

/* CAUSES_OF_MACHINE: none is in the text. */
static size_t find_in(const char *text)
{
	size_t i = 0;

	while (i < CAUSES_OF_MACHINE && !strstr(text, OF_MACHINE[i]))
		i++;
	return i;
}

bool cause_is_of_machine(const char *text)
{
	return find_in(text) < CAUSES_OF_MACHINE;
}

void cause_log_once(struct causes_logged *logged, struct error *error, const char *format, ...)
{
	size_t cause = find_in(error->text);
	struct error why = *error;
	const char *after;
	va_list args;

	if (cause == CAUSES_OF_MACHINE)
		return;
	if (logged->of[cause][0]) {
		after = strstr(why.text, OF_MACHINE[cause]) + strlen(OF_MACHINE[cause]);
		error_set(error, 0, "for the same reason as %s%s", logged->of[cause],
			  after + strcspn(after, ";"));
		return;
	}
	va_start(args, format);
	vsnprintf(logged->of[cause], sizeof(logged->of[cause]), format, args);
	va_end(args);
}
