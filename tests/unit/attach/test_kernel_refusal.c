/* SPDX-License-Identifier: MIT */
/*
 * Why the kernel refuses a hook, in words that need no knowledge of libbpf.
 */
#include "tests/unit/testing.h"

#include "plugin/attach/kernel_refusal.h"

#include <errno.h>

#define NO_KPROBES "the kernel is built without kprobes (CONFIG_KPROBE_EVENTS); try fentry"

static bool has_kprobes(void)
{
	return access("/sys/bus/event_source/devices/kprobe", F_OK) == 0;
}

static void test_words(void)
{
	static const struct {
		const char *text;
		int status;
		const char *want;
	} cases[] = {
		{ "kprobe:f", -ENOENT, "cannot attach to f: the kernel has no function of this" },
		{ "kretprobe:f", -EINVAL, "cannot attach to f: the kernel does not let it be" },
		{ "kprobe:f+0x10", -EILSEQ, "cannot attach to f+0x10: no instruction begins at" },
		{ "kprobe:f", -EADDRNOTAVAIL, "cannot attach to f: the kernel has several" },
		{ "kprobe:f", -EPERM, "collectd " },
		{ "fentry:f", -ENOENT, "cannot attach to f: the kernel has no function of this" },
		{ "fentry:f", -ESRCH, "; try kprobe" },
		{ "fentry:f", -EBUSY, "cannot attach to f: the kernel does not let it be traced" },
		{ "fentry:f", -524, "cannot attach to f: the kernel does not let it be traced" },
		{ "fentry:f", -E2BIG, "cannot attach to f: too many programs" },
		{ "fentry:f", -EACCES, "collectd " },
		{ "tracepoint:a:b", -ENOENT, "cannot attach to a:b: " },
		{ "tracepoint:a:b", -EINVAL, "cannot attach to a:b: Invalid argument; see dmesg" },
		{ "fentry:f", -EIO, "cannot attach to f: Input/output error; see dmesg" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		bool is_kprobe = cases[i].text[0] == 'k' && cases[i].status != -EPERM;
		struct error error = { "" };
		struct hook hook;
		char why[256];

		CASE("%s: %d", cases[i].text, cases[i].status);
		CHECK_INT(hook_parse(cases[i].text, &hook, why, sizeof(why)), true);
		CHECK_INT(kernel_refusal(&hook, cases[i].status, &error), cases[i].status);
		CHECK_HAS(error.text, is_kprobe && !has_kprobes() ? NO_KPROBES : cases[i].want);
		hook_done(&hook);
	}
}

int main(void)
{
	test_words();
	return testing_end();
}
