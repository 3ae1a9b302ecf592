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

#define MADE_FOR "; compile it by clang -target bpf -g, for this plugin"
#define RIGHTS "; collectd needs CAP_BPF and CAP_PERFMON (as root, or "
#define OTHERWISE "; collectd has CAP_BPF and CAP_PERFMON, but the kernel's build, its lockdown, "
#define LOCKDOWN "; the kernel's lockdown forbids reading "
#define LICENCE "; the object's section \"license\" must name a licence that the kernel takes "
#define REJECTS "; the kernel's verifier rejects the program, which has to be changed"
#define TOO_LONG "; the program is too long for the verifier of this kernel; a lower MaxServices "
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

static const char *text_of(enum diagnosis_step step, const char *with, int code)
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
	CHECK_TEXT(text_of(DIAGNOSIS_ATTACH, "raw_tp/x", -ENOENT),
		   "cannot attach to raw_tp/x: No such file or directory; "
		   "the running kernel lacks this hook");
	CASE("words that say no more");
	say(LIBBPF_WARN, "libbpf: failed to load object '%s'\n", "service");
	CHECK_HAS(text_of(DIAGNOSIS_LOAD, "", -ENOMEM), "Cannot allocate memory; not enough");
	CASE("the first words");
	say(LIBBPF_INFO, "libbpf: by the way\n");
	say(LIBBPF_WARN, "libbpf: %s!\nAnd more.\n", "the cause");
	say(LIBBPF_WARN, "libbpf: what follows from it\n");
	CHECK_HAS(text_of(DIAGNOSIS_LOAD, "", -ENOMEM), "memory (libbpf: the cause!); not enough");
	CASE("of a right");
	CHECK_HAS(text_of(DIAGNOSIS_LOAD, "", -EPERM), "Operation not permitted; collectd ");
	CASE("of a hook");
	CHECK_HAS(text_of(DIAGNOSIS_ATTACH, "fexit/x", -ENOMEM), "allocate memory; not enough");
	diagnosis_end();
	CASE("a map");
	diagnosis_begin();
	say(LIBBPF_WARN,
	    "libbpf: Error in bpf_create_map_xattr(%s):Invalid argument(-22). "
	    "Retrying without BTF.\n",
	    "m");
	say(LIBBPF_WARN, "libbpf: map '%s': failed to create: Invalid argument(-22)\n", "m");
	CHECK_HAS(text_of(DIAGNOSIS_LOAD, "", -EINVAL),
		  "(libbpf: map 'm': failed to create: Invalid argument(-22)); the running kernel "
		  "does not accept this ");
	diagnosis_end();
	CASE("words of another step");
	diagnosis_begin();
	say(LIBBPF_WARN, "libbpf: perhaps RLIMIT_MEMLOCK\n");
	CHECK_HAS(text_of(DIAGNOSIS_LOAD, "", -ENOMEM), "Cannot allocate memory; not enough");
	diagnosis_end();
}

static void test_verdict(void)
{
	static const char log[] = "libbpf: prog '%s': -- BEGIN PROG LOAD LOG --\n"
				  "0: R1=ctx\n%s\nprocessed 1 insns (limit 1000000)\n"
				  "-- END PROG LOAD LOG --\n";
	static const struct {
		int code;
		const char *verdict, *remedy;
	} verdicts[] = {
		{ -EINVAL, "unknown func bpf_probe_read_kernel#113", LOCKDOWN },
		{ -EINVAL, "program of this type cannot use helper bpf_probe_read#4", LOCKDOWN },
		{ -EINVAL, "program of this type cannot use helper bpf_loop#181", LACKS },
		{ -EINVAL, "invalid func unknown#195896080", LACKS },
		{ -EINVAL,
		  "failed to resolve CO-RE relocation <byte_off> [20] struct task_struct.none",
		  LACKS },
		{ -EINVAL, "cannot call GPL-restricted function from non-GPL compatible program",
		  LICENCE },
		{ -EACCES, "R1 invalid mem access 'scalar'", REJECTS },
		{ -EPERM, "R1 leaks addr into map", REJECTS },
		{ -EINVAL, "back-edge from insn 5 to 3", REJECTS },
		{ -EFAULT, "stack frame of 600 bytes", REJECTS },
		{ -E2BIG, "BPF program is too large. Processed 1000001 insn", TOO_LONG },
	};

	CASE("verdict");
	diagnosis_begin();
	say(LIBBPF_WARN, "libbpf: prog 'p': load failed: no\n");
	say(LIBBPF_WARN, log, "p", "unknown func x#113");
	say(LIBBPF_WARN, log, "q", "another");
	CHECK_HAS(text_of(DIAGNOSIS_LOAD, "", -EINVAL),
		  "argument (libbpf: prog 'p': load failed: no: unknown func x#113)" LACKS);
	CHECK_HAS(text_of(DIAGNOSIS_LOAD, "", -EACCES), LACKS);
	diagnosis_end();
	for (size_t i = 0; i < COUNT_OF(verdicts); i++) {
		CASE("%s", verdicts[i].verdict);
		diagnosis_begin();
		say(LIBBPF_WARN, log, "p", verdicts[i].verdict);
		CHECK_HAS(text_of(DIAGNOSIS_LOAD, "", verdicts[i].code), verdicts[i].verdict);
		CHECK_HAS(text_of(DIAGNOSIS_LOAD, "", verdicts[i].code), verdicts[i].remedy);
		diagnosis_end();
	}
}

static void test_remedies(void)
{
	static const struct {
		enum diagnosis_step step;
		const char *with;
		int code;
		const char *want;
	} row[] = {
		{ DIAGNOSIS_OPEN, "/a.o", -EINVAL, "cannot open /a.o as a BPF object: Invalid" },
		{ DIAGNOSIS_OPEN, "/a.o", -EINVAL, MADE_FOR },
		{ DIAGNOSIS_OPEN, "/a.o", -ENOEXEC, MADE_FOR },
		{ DIAGNOSIS_OPEN, "/a.o", -LIBBPF_ERRNO__FORMAT, MADE_FOR },
		{ DIAGNOSIS_LOAD, "", -EINVAL,
		  "cannot load into the kernel: Invalid argument; the " },
		{ DIAGNOSIS_LOAD, "", -EINVAL, LACKS },
		{ DIAGNOSIS_LOAD, "", -E2BIG, "; a map is larger than this kernel permits" },
		{ DIAGNOSIS_ATTACH, "fexit/x", -ENOENT, "; the running kernel lacks this hook" },
		{ DIAGNOSIS_ATTACH, "fexit/x", -EOPNOTSUPP, LACKS },
		{ DIAGNOSIS_ATTACH, "fexit/x", -524, LACKS },
		{ DIAGNOSIS_ATTACH, "fexit/x", -EBUSY, "; see dmesg and collectd-ebpf(5)" },
	};

	diagnosis_begin();
	for (size_t i = 0; i < COUNT_OF(row); i++) {
		CASE("remedy %zu", i);
		CHECK_HAS(text_of(row[i].step, row[i].with, row[i].code), row[i].want);
	}
	CASE("no type");
	CHECK_HAS(text_of(DIAGNOSIS_LOAD, "", -ESRCH),
		  access("/sys/kernel/btf/vmlinux", R_OK)
			  ? "; the kernel must have BTF"
			  : "; the running kernel lacks a function");
	diagnosis_end();
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

	diagnosis_begin();
	if (keep_rights(both)) {
		CASE("both rights");
		CHECK_HAS(text_of(DIAGNOSIS_LOAD, "", -EPERM), OTHERWISE);
		CHECK_HAS(text_of(DIAGNOSIS_ATTACH, "tp/x/y", -EACCES), OTHERWISE);
		CASE("one right");
		CHECK_INT(keep_rights(1ULL << CAP_BPF), 1);
		CHECK_HAS(text_of(DIAGNOSIS_LOAD, "", -EPERM), RIGHTS);
	} else {
		printf("with rights: left out, this user has none\n");
	}
	CASE("no right");
	CHECK_INT(keep_rights(0), 1);
	CHECK_HAS(text_of(DIAGNOSIS_LOAD, "", -EPERM), RIGHTS);
	CHECK_HAS(text_of(DIAGNOSIS_ATTACH, "tp/x/y", -EACCES), RIGHTS);
	CASE("no right to read modules");
	say(LIBBPF_WARN, "libbpf: failed to iterate BTF objects: -1\n");
	CHECK_HAS(text_of(DIAGNOSIS_LOAD, "", -EPERM),
		  "; the running kernel lacks this hook, or a ");
	diagnosis_end();
}

int main(void)
{
	test_words();
	test_verdict();
	test_remedies();
	test_rights();
	return testing_end();
}
