/* SPDX-License-Identifier: MIT */
/*
 * Stack frames of this process, as numbers and as names; the truth is the dynamic linker's list of
 * objects.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/names.h"

#include "plugin/helper/ksym.h"
#include "plugin/stack/code.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096

static struct file_helper files = FILE_HELPER_NONE;
static unsigned messages;

static void count_message(int severity, const char *text)
{
	(void)severity;
	(void)text;
	messages++;
}

/* The start of this process by CLOCK_BOOTTIME. */
static uint64_t began_ns(void)
{
	char text[1024] = "";
	FILE *file = fopen("/proc/self/stat", "r");
	const char *at = file && fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;

	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (file)
		fclose(file);
	return at ? strtoull(at, NULL, 10) * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK)) : 0;
}

static struct stack_head own(void)
{
	return (struct stack_head){ .pid = (uint32_t)getpid(), .began_ns = began_ns(), .image = 1 };
}

static struct stack_frame at_address(const void *address)
{
	return (struct stack_frame){ .status = STACK_ADDRESS, .location = (uintptr_t)address };
}

static uint64_t offset_of(const void *function)
{
	Dl_info info = { 0 };

	dladdr(function, &info);
	return (uint64_t)((const char *)function - (const char *)info.dli_fbase);
}

static const char *expected(char letter, uint64_t address)
{
	static char text[32];

	snprintf(text, sizeof(text), "%c%llx", letter, (unsigned long long)address);
	return text;
}

static struct ksyms ksyms = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void begin(struct codes **ret_codes)
{
	fake_requests = 0;
	fake_status = 0;
	fake_name = NULL;
	fake_inode = 0;
	messages = 0;
	*ret_codes = codes_new(&files, &ksyms);
	if (!*ret_codes)
		abort();
}

static void test_addresses(void)
{
	struct stack_head head = own(), other = head;
	struct stack_frame frame = at_address((const void *)(uintptr_t)test_addresses);
	struct codes *codes;
	uint32_t number;

	CASE("an address");
	begin(&codes);
	number = codes_of(codes, &head, &frame);
	CHECK_INT(number != CODE_UNKNOWN, 1);
	other.image++;
	CHECK_UINT(codes_of(codes, &other, &frame), number);
	codes_resolve(codes, NULL, NULL);
	CHECK_TEXT(codes_name(codes, number),
		   expected('f', offset_of((const void *)(uintptr_t)test_addresses)));
	CASE("one request");
	codes_forget(codes);
	number = codes_of(codes, &head, &frame);
	codes_resolve(codes, NULL, NULL);
	CHECK_UINT(fake_requests, 1);
	CHECK_TEXT(codes_name(codes, number),
		   expected('f', offset_of((const void *)(uintptr_t)test_addresses)));
	CASE("of a process that is another one, and of none");
	other.began_ns -= 20000000;
	CHECK_UINT(codes_of(codes, &other, &frame), CODE_UNKNOWN);
	frame.location = 1;
	CHECK_UINT(codes_of(codes, &head, &frame), CODE_UNKNOWN);
	frame.status = 77;
	CHECK_UINT(codes_of(codes, &head, &frame), CODE_UNKNOWN);
	CHECK_TEXT(codes_name(codes, CODE_UNKNOWN), "[unknown]");
	CHECK_TEXT(codes_name(codes, 12345), "[unknown]");
	codes_free(codes);
}

static void test_build_ids(void)
{
	struct stack_head head = own(), exited = { .pid = 1, .began_ns = 1, .image = 1 };
	struct stack_frame frame = { .status = STACK_OFFSET, .build_id = { 0xaa, 0xbb } };
	struct stat program;
	struct codes *codes;
	uint32_t number, unknown;

	begin(&codes);
	CHECK_INT(stat("/proc/self/exe", &program), 0);
	fake_inode = program.st_ino;
	memcpy(fake_build_id, frame.build_id, sizeof(fake_build_id));
	frame.location = offset_of((const void *)(uintptr_t)test_build_ids);
	number = codes_of(codes, &head, &frame);
	frame.build_id[0]++;
	unknown = codes_of(codes, &head, &frame);
	codes_resolve(codes, NULL, NULL);
	CASE("a build ID of a file of the process, and of none");
	CHECK_TEXT(codes_name(codes, number), expected('f', frame.location));
	CHECK_TEXT(codes_name(codes, unknown), "[unknown]");
	CASE("of a process that has ended, by a file that is known");
	codes_forget(codes);
	frame.build_id[0]--;
	number = codes_of(codes, &exited, &frame);
	codes_resolve(codes, NULL, NULL);
	CHECK_TEXT(codes_name(codes, number), expected('f', frame.location));
	codes_free(codes);
}

static void test_made(void)
{
	struct stack_head head = own();
	char *code = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct stack_frame frame = at_address(code + 8);
	char path[64];
	struct codes *codes;
	uint32_t number;
	FILE *map;

	CASE("without a map");
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path);
	begin(&codes);
	number = codes_of(codes, &head, &frame);
	codes_resolve(codes, NULL, NULL);
	CHECK_TEXT(codes_name(codes, number), "[made]");
	CASE("with one");
	map = fopen(path, "w");
	CHECK_INT(map != NULL, 1);
	if (map)
		fclose(map);
	codes_forget(codes);
	number = codes_of(codes, &head, &frame);
	codes_resolve(codes, NULL, NULL);
	CHECK_TEXT(codes_name(codes, number), expected('m', (uintptr_t)code + 8));
	unlink(path);
	codes_free(codes);
	munmap(code, PAGE);
}

static bool not_now(void *with)
{
	++*(unsigned *)with;
	return false;
}

static void test_names(void)
{
	struct stack_head head = own();
	struct stack_frame frame = at_address((const void *)(uintptr_t)test_names);
	char program[512] = "", want[512];
	unsigned calls = 0;
	struct codes *codes;
	uint32_t number;

	CHECK_INT(readlink("/proc/self/exe", program, sizeof(program) - 1) > 0, 1);
	snprintf(want, sizeof(want), "[%s]", strrchr(program, '/') + 1);
	CASE("what a name may be");
	begin(&codes);
	fake_name = "  a\tb;c d ";
	number = codes_of(codes, &head, &frame);
	codes_resolve(codes, NULL, NULL);
	CHECK_TEXT(codes_name(codes, number), "a?b;c d");
	codes_free(codes);
	CASE("an unreadable file is logged once");
	begin(&codes);
	fake_status = -EBADMSG;
	number = codes_of(codes, &head, &frame);
	codes_resolve(codes, NULL, NULL);
	CHECK_TEXT(codes_name(codes, number), want);
	codes_resolve(codes, NULL, NULL);
	CHECK_UINT(fake_requests, 1);
	CHECK_UINT(messages, 1);
	codes_free(codes);
	CASE("no time");
	begin(&codes);
	number = codes_of(codes, &head, &frame);
	codes_resolve(codes, not_now, &calls);
	CHECK_UINT(calls, 1);
	CHECK_UINT(fake_requests, 0);
	CHECK_TEXT(codes_name(codes, number), want);
	codes_free(codes);
}

static void test_kernel(void)
{
	char text[] = "ffffffff81000000 T first\nffffffff81000100 t second\n";
	struct codes *codes;
	uint32_t number;

	CASE("the kernel");
	begin(&codes);
	CHECK_INT(ksyms_parse(&ksyms, text), 0);
	number = codes_of_kernel(codes, 0xffffffff81000123);
	CHECK_UINT(codes_of_kernel(codes, 0xffffffff81000123), number);
	codes_resolve(codes, NULL, NULL);
	CHECK_TEXT(codes_name(codes, number), "second_[k]");
	codes_free(codes);
	ksyms_done(&ksyms);
}

int main(void)
{
	message_to(count_message);
	test_kernel();
	test_addresses();
	test_build_ids();
	test_made();
	test_names();
	file_helper_done(&files);
	return testing_end();
}
