/* SPDX-License-Identifier: MIT */
/*
 * Explains why libbpf or the kernel has refused something, and what to do. libbpf prints through a
 * process-wide function: between diagnosis_begin() and diagnosis_end() it is ours, which keeps
 * libbpf's first message, as that names the program or hook, and the verifier's verdict. One thread
 * loads and attaches: the one that starts the plugin, and after that upkeep.
 */
#include "diagnosis.h"

#include "util/kernel_file.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LIBBPF_ERRNO_FIRST 4000 /* libbpf's own errors follow */
#define KERNEL_ENOTSUPP 524     /* internal to the kernel, unknown to C libraries */

static char words[256], verdict[256];
static libbpf_print_fn_t print_before;

/* The verifier's log ends with the verdict and statistics. */
static void keep_verdict(char *log)
{
	char *saved = NULL;

	for (char *line = strtok_r(log, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved))
		if (strncmp(line, "libbpf: ", 8) != 0 && strncmp(line, "-- END", 6) != 0 &&
		    strncmp(line, "processed ", 10) != 0)
			snprintf(verdict, sizeof(verdict), "%s", line);
}

__attribute__((format(printf, 2, 0))) static int keep_words(enum libbpf_print_level level,
							    const char *format, va_list args)
{
	char *text = NULL;

	/* Messages that mislead or say nothing new: a guess at RLIMIT_MEMLOCK where the right to
	 * load anything is missing; a map that is created at the second attempt; and that an object
	 * was not loaded. */
	if (level != LIBBPF_WARN || strstr(format, "RLIMIT_MEMLOCK") ||
	    strstr(format, "failed to load object") || strstr(format, "Retrying without BTF"))
		return 0;
	if (strstr(format, "PROG LOAD LOG")) {
		if (!verdict[0] && vasprintf(&text, format, args) >= 0) {
			keep_verdict(text);
			free(text);
		}
	} else if (!words[0]) {
		vsnprintf(words, sizeof(words), format, args);
		words[strcspn(words, "\n")] = '\0';
	}
	return 0;
}

void diagnosis_begin(void)
{
	words[0] = verdict[0] = '\0';
	print_before = libbpf_set_print(keep_words);
}

void diagnosis_end(void)
{
	libbpf_set_print(print_before);
}

/* Effective capabilities, as bits. */
static uint64_t capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	if (syscall(SYS_capget, &header, data) != 0)
		return 0;
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

static bool has_rights(void)
{
	uint64_t has = capabilities();

	return has >> CAP_SYS_ADMIN & 1 || (has >> CAP_BPF & has >> CAP_PERFMON & 1);
}

/* Debian's kernels have level 3, at which perf_event_open(2) needs more than CAP_PERFMON. */
static bool is_perf_for_administrators(void)
{
	char level[16] = "";

	kernel_file_read("/proc/sys/kernel/perf_event_paranoid", level, sizeof(level) - 1);
	return atoi(level) > 2 && !(capabilities() >> CAP_SYS_ADMIN & 1);
}

static bool has_tracefs(void)
{
	return access("/sys/kernel/tracing/events", F_OK) == 0 ||
	       access("/sys/kernel/debug/tracing/events", F_OK) == 0;
}

const char *diagnosis_no_right(void)
{
	if (!has_rights())
		return "collectd needs CAP_BPF and CAP_PERFMON (as root, or "
		       "AmbientCapabilities= in its systemd unit)";
	return "collectd has CAP_BPF and CAP_PERFMON, but the kernel's build, its lockdown, "
	       "kernel.perf_event_paranoid or a container forbids this; see collectd-ebpf(5)";
}

static const char *without_right(const char *with)
{
	if (strstr(words, "iterate BTF objects"))
		return "the running kernel lacks this hook, or a module has it, and inspecting "
		       "modules needs CAP_SYS_ADMIN";
	if (has_rights() && !strcmp(with, "perf_event") && is_perf_for_administrators())
		return "kernel.perf_event_paranoid is above 2, for which this kernel needs "
		       "CAP_SYS_ADMIN; set it to 2, or give collectd that capability";
	return diagnosis_no_right();
}

static const char *without_type(void)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
		return "the kernel must have BTF (CONFIG_DEBUG_INFO_BTF=y), in "
		       "/sys/kernel/btf/vmlinux";
	return "the running kernel lacks a function, type or hook that this object needs";
}

static const char *without_hook(const char *section)
{
	bool classic = !strncmp(section, "tracepoint/", 11) || !strncmp(section, "tp/", 3);

	if (classic && !has_tracefs())
		return "tracefs is not there; mount -t tracefs tracefs /sys/kernel/tracing";
	return "the running kernel lacks this hook";
}

/* Does the verifier say that a helper, kernel function or member does not exist? */
static bool verdict_is_lack(void)
{
	static const char *const lacks[] = { "unknown func", "invalid func", "cannot use helper",
					     "CO-RE relocation", "kernel btf_id" };

	for (size_t i = 0; i < sizeof(lacks) / sizeof(*lacks); i++)
		if (strstr(verdict, lacks[i]))
			return true;
	return false;
}

static const char *refused_load(void)
{
	/* All kernels have this helper. */
	if (strstr(verdict, "bpf_probe_read"))
		return "the kernel's lockdown forbids reading its memory; boot it with "
		       "lockdown=integrity, or without";
	if (strstr(verdict, "GPL"))
		return "the object's section \"license\" must name a licence that the kernel "
		       "takes for compatible with the GPL, such as \"GPL\" or \"Dual MIT/GPL\"";
	if (verdict[0] && !verdict_is_lack())
		return "the kernel's verifier rejects the program, which has to be changed";
	if (strstr(words, "failed to create"))
		return "the running kernel does not accept this map";
	return "the running kernel lacks something that this object needs";
}

static const char *refused_remedy(enum diagnosis_step step)
{
	switch (step) {
	case DIAGNOSIS_OPEN:
		return "compile it by clang -target bpf -g, for this plugin";
	case DIAGNOSIS_LOAD:
		return refused_load();
	default:
		return "the running kernel lacks something that this object needs";
	}
}

static const char *too_big(void)
{
	return verdict[0] ? "the program is too long for the verifier of this kernel; a lower "
			    "MaxServices may help"
			  : "a map is larger than this kernel permits";
}

static const char *remedy_of(enum diagnosis_step step, const char *with, int code)
{
	if (-code > LIBBPF_ERRNO_FIRST || (step == DIAGNOSIS_LOAD && verdict[0] && code != -E2BIG))
		return refused_remedy(step);
	switch (-code) {
	case EACCES:
	case EPERM:
		return without_right(with);
	case ENOENT:
		return step == DIAGNOSIS_ATTACH ? without_hook(with) : without_type();
	case ESRCH:
		return without_type();
	case ENOMEM:
		return "not enough memory, or RLIMIT_MEMLOCK on a kernel before 5.11";
	case E2BIG:
		return too_big();
	case ENOEXEC:
	case EINVAL:
	case EOPNOTSUPP:
	case KERNEL_ENOTSUPP:
		return refused_remedy(step);
	default:
		return "see dmesg and collectd-ebpf(5)";
	}
}

int diagnosis_error(enum diagnosis_step step, const char *with, int code, struct error *error)
{
	static const struct {
		const char *verb, *object;
	} what[] = {
		[DIAGNOSIS_OPEN] = { "open ", " as a BPF object" },
		[DIAGNOSIS_LOAD] = { "load", " into the kernel" },
		[DIAGNOSIS_ATTACH] = { "attach to ", "" },
	};
	/* For a hook that is named, and for a missing right, libbpf's words add nothing to the
	 * error. */
	const char *said = step == DIAGNOSIS_ATTACH || code == -EPERM ? "" : words;
	char why[128] = "";

	libbpf_strerror(code, why, sizeof(why));
	return error_set(error, code, "cannot %s%s%s: %s%s%s%s%s%s; %s", what[step].verb, with,
			 what[step].object, why, said[0] ? " (" : "", said, verdict[0] ? ": " : "",
			 verdict, said[0] ? ")" : "", remedy_of(step, with, code));
}
