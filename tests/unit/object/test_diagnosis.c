/* SPDX-License-Identifier: MIT */
/*
 * The reasons for failures, as libbpf and the kernel report them, and the remedies in messages. The
 * test passes libbpf's messages to the print function that libbpf would call.
 */
#include "tests/unit/testing.h"

#include "plugin/object/diagnosis.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <sys/syscall.h>

#define RIGHTS "collectd needs CAP_BPF and CAP_PERFMON (as root, or "
#define NAMES_NONE "; the kernel names no cause: "
#define LACKS "; the running kernel lacks something that this object needs"

__attribute__((format(printf, 2, 3))) static void say(enum libbpf_print_level level,
						      const char *format, ...)
{
	libbpf_print_fn_t print = libbpf_set_print(NULL);
	va_list args;

	libbpf_set_print(print);
	va_start(args, format);
	print(level, format, args);
	va_end(args);
}

static const char *text_of(enum failed_step step, const char *with, int code)
{
	static struct error error;

	CHECK_INT(diagnosis_error(step, with, code, &error), code);
	CHECK_INT(strchr(error.text, '\n') == NULL, 1);
	return error.text;
}

static void test_words(void)
{
	CASE("no words");
	diagnosis_begin();
	CHECK_TEXT(text_of(FAILED_ATTACH, "raw_tp/x", -ENOENT),
		   "cannot attach to raw_tp/x: No such file or directory; "
		   "the running kernel lacks this hook");
	CASE("words that say no more");
	say(LIBBPF_WARN, "libbpf: failed to load object '%s'\n", "service");
	CHECK_HAS(text_of(FAILED_LOAD, "", -ENOMEM), "Cannot allocate memory; not enough");
	CASE("the first words");
	say(LIBBPF_INFO, "libbpf: by the way\n");
	say(LIBBPF_WARN, "libbpf: %s!\nAnd more.\n", "the cause");
	say(LIBBPF_WARN, "libbpf: what follows from it\n");
	CHECK_HAS(text_of(FAILED_LOAD, "", -ENOMEM), "memory (libbpf: the cause!); not enough");
	CASE("of a right");
	CHECK_HAS(text_of(FAILED_LOAD, "", -EPERM), "Operation not permitted; ");
	CASE("of a hook");
	CHECK_HAS(text_of(FAILED_ATTACH, "fexit/x", -ENOMEM), "allocate memory; not enough");
	diagnosis_end();
	CASE("a map");
	diagnosis_begin();
	say(LIBBPF_WARN,
	    "libbpf: Error in bpf_create_map_xattr(%s):Invalid argument(-22). "
	    "Retrying without BTF.\n",
	    "m");
	say(LIBBPF_WARN, "libbpf: map '%s': failed to create: Invalid argument(-22)\n", "m");
	CHECK_HAS(text_of(FAILED_LOAD, "", -EINVAL),
		  "(libbpf: map 'm': failed to create: Invalid argument(-22)); the running kernel "
		  "does not accept this ");
	diagnosis_end();
	CASE("words of another step");
	diagnosis_begin();
	say(LIBBPF_WARN, "libbpf: perhaps RLIMIT_MEMLOCK\n");
	CHECK_HAS(text_of(FAILED_LOAD, "", -ENOMEM), "Cannot allocate memory; not enough");
	diagnosis_end();
}

static void test_verdict(void)
{
	static const char log[] = "libbpf: prog '%s': -- BEGIN PROG LOAD LOG --\n"
				  "0: R1=ctx\n%s\nprocessed 1 insns (limit 1000000)\n"
				  "-- END PROG LOAD LOG --\n";

	CASE("verdict");
	diagnosis_begin();
	say(LIBBPF_WARN, "libbpf: prog 'p': load failed: no\n");
	say(LIBBPF_WARN, log, "p", "unknown func x#113");
	say(LIBBPF_WARN, log, "q", "another");
	CHECK_HAS(text_of(FAILED_LOAD, "", -EINVAL),
		  "argument (libbpf: prog 'p': load failed: no: unknown func x#113)" LACKS);
	CHECK_HAS(text_of(FAILED_LOAD, "", -EACCES), LACKS);
	diagnosis_end();
}

/* The causes are those of test_cause.c. */
static void test_steps(void)
{
	static const struct {
		enum failed_step step;
		const char *with;
		int code;
		const char *want;
	} rows[] = {
		{ FAILED_OPEN, "/a.o", -EINVAL,
		  "cannot open /a.o as a BPF object: Invalid argument; compile" },
		{ FAILED_LOAD, "", -EINVAL, "cannot load into the kernel: Invalid argument; the " },
		{ FAILED_ATTACH, "fexit/x", -EOPNOTSUPP,
		  "cannot attach to fexit/x: Operation not supported; the" },
	};

	diagnosis_begin();
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CASE("step %zu", i);
		CHECK_HAS(text_of(rows[i].step, rows[i].with, rows[i].code), rows[i].want);
	}
	diagnosis_end();
}

static void test_hooks(void)
{
	static const struct {
		const char *text;
		int status;
		const char *want;
	} rows[] = {
		{ "kprobe:f+0x10", -E2BIG, "cannot attach to f+0x10: too many programs" },
		{ "fentry:f", -ENOENT, "cannot attach to f: the kernel has no function of this" },
		{ "tracepoint:a:b", -EINVAL, "cannot attach to a:b: Invalid argument; see dmesg" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		bool is_without = rows[i].text[0] == 'k' &&
				  access("/sys/bus/event_source/devices/kprobe", F_OK);
		struct error error = { "" };
		struct hook hook;
		char why[256];

		CASE("%s: %d", rows[i].text, rows[i].status);
		CHECK_INT(hook_parse(rows[i].text, &hook, why, sizeof(why)), true);
		CHECK_INT(diagnosis_of_hook(&hook, rows[i].status, &error), rows[i].status);
		CHECK_HAS(error.text,
			  is_without ? "the kernel is built without kprobes" : rows[i].want);
		hook_done(&hook);
	}
}

static bool keep_rights(uint64_t rights)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = (uint32_t)rights, .permitted = (uint32_t)rights },
		{ .effective = rights >> 32, .permitted = rights >> 32 },
	};

	return syscall(SYS_capset, &header, data) == 0;
}

static void test_rights(void)
{
	uint64_t both = 1ULL << CAP_BPF | 1ULL << CAP_PERFMON;
	struct hook hook = { .kind = HOOK_FENTRY, .name = (char *)"f" };
	struct error error = { "" };

	diagnosis_begin();
	if (keep_rights(both)) {
		CASE("both rights");
		CHECK_HAS(text_of(FAILED_LOAD, "", -EPERM), NAMES_NONE);
		CASE("one right");
		CHECK_INT(keep_rights(1ULL << CAP_BPF), 1);
		CHECK_HAS(text_of(FAILED_LOAD, "", -EPERM), RIGHTS);
	} else {
		printf("with rights: left out, this user has none\n");
	}
	CASE("no right");
	CHECK_INT(keep_rights(0), 1);
	CHECK_HAS(text_of(FAILED_LOAD, "", -EPERM), "Operation not permitted; " RIGHTS);
	CHECK_HAS(text_of(FAILED_ATTACH, "tp/x/y", -EACCES), RIGHTS);
	CASE("no right for any hook");
	CHECK_INT(diagnosis_of_hook(&hook, -EPERM, &error), -EPERM);
	CHECK_INT(strncmp(error.text, RIGHTS, strlen(RIGHTS)), 0);
	CASE("no right to read modules");
	say(LIBBPF_WARN, "libbpf: failed to iterate BTF objects: -1\n");
	CHECK_HAS(text_of(FAILED_LOAD, "", -EPERM), "; the running kernel lacks this hook, or a ");
	diagnosis_end();
}

int main(void)
{
	struct machine machine;

	machine_read(&machine);
	test_words();
	test_verdict();
	test_steps();
	test_hooks();
	if (machine.in_user_namespace)
		printf("rights: left out, those of a user namespace do not count\n");
	else
		test_rights();
	return testing_end();
}
