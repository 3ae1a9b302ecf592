/* SPDX-License-Identifier: MIT */
/*
 * Explains why the kernel refuses a function or tracepoint that the configuration names.
 */
#include "kernel_refusal.h"

#include "object/diagnosis.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KERNEL_ENOTSUPP 524 /* internal to the kernel, unknown to C libraries */

static bool path_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

/* Reasons that hold for all hooks of a kind; NULL: none. */
static const char *reason_of_all(enum hook_kind kind, int status)
{
	if (status == -EACCES || status == -EPERM)
		return diagnosis_no_right();
	if ((kind == HOOK_KPROBE || kind == HOOK_KRETPROBE) &&
	    !path_exists("/sys/bus/event_source/devices/kprobe"))
		return "the kernel is built without kprobes (CONFIG_KPROBE_EVENTS); try fentry";
	return NULL;
}

static const char *without_tracepoint(void)
{
	if (!path_exists("/sys/kernel/tracing/events") &&
	    !path_exists("/sys/kernel/debug/tracing/events"))
		return "tracefs is not there; mount -t tracefs tracefs /sys/kernel/tracing";
	return "the kernel has no tracepoint of this name; ls /sys/kernel/tracing/events lists them";
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

/* NULL: the error's own text is enough. */
static const char *reason_of_hook(const struct hook *hook, int status)
{
	switch (-status) {
	case ENOENT:
	case ESRCH:
		return hook->kind == HOOK_TRACEPOINT ? without_tracepoint()
						     : without_function(hook->kind);
	case EADDRNOTAVAIL:
		return "the kernel has several functions of this name; name another one";
	case EILSEQ:
		return "no instruction begins at this offset";
	case EINVAL:
	case EBUSY:
	case EOPNOTSUPP:
	case KERNEL_ENOTSUPP:
		return hook->kind == HOOK_TRACEPOINT ? NULL : refused_function(hook->kind);
	case E2BIG:
		return "too many programs are attached to it; detach one";
	default:
		return NULL;
	}
}

int kernel_refusal(const struct hook *hook, int status, struct error *error)
{
	char offset[32] = "";
	const char *of_all = reason_of_all(hook->kind, status), *why = reason_of_hook(hook, status);

	if (of_all)
		return error_set(error, status, "%s", of_all);
	if (hook->offset)
		snprintf(offset, sizeof(offset), "+%#" PRIx64, hook->offset);
	return error_set(error, status, "cannot attach to %s%s%s%s: %s%s", hook->category ?: "",
			 hook->category ? ":" : "", hook->name, offset, why ?: strerror(-status),
			 why ? "" : "; see dmesg");
}
