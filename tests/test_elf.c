/* SPDX-License-Identifier: MIT */
/*
 * Functions of ELF files, by symbol, and markers, by name: this program's own, whose place the
 * kernel tells, and broken ones.
 */
#include "testing.h"

#include "marker.h"
#include "plugin/system/elf.h"

#include <elf.h>
#include <errno.h>

static unsigned char *bytes;
static size_t size;

int wanted_global(void);
int wanted_weak(void) __attribute__((weak));

__attribute__((noinline)) int wanted_global(void)
{
	return 1;
}

__attribute__((noinline)) int wanted_weak(void)
{
	return 2;
}

MARKER_SEMAPHORE(watchers);

/* Two places of one marker, and one of another. */
__attribute__((noinline, noclone)) static void marked(void)
{
	MARKER("test", "twice", 0);
	MARKER("test", "twice", 0);
	MARKER("test", "watched", watchers);
}

static void read_self(void)
{
	FILE *file = fopen("/proc/self/exe", "rb"),
	     *memory = open_memstream((char **)&bytes, &size);
	int c;

	if (!file || !memory)
		abort();
	while ((c = getc(file)) != EOF)
		putc(c, memory);
	fclose(file);
	fclose(memory);
}

/* By the kernel's mappings of this program. */
static uint64_t offset_of(const void *function)
{
	unsigned long low, high, offset, found = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &low, &high, &offset) == 3 &&
		    (unsigned long)function >= low && (unsigned long)function < high)
			found = (unsigned long)function - low + offset;
	fclose(maps);
	return found;
}

static void test_self(void)
{
	uint64_t offset = 0;

	CASE("a global function");
	CHECK_INT(elf_function(bytes, size, "wanted_global", &offset), 0);
	CHECK_UINT(offset, offset_of(wanted_global));
	CHECK_INT(elf_has_code(bytes, size, offset), 0);
	CASE("a weak function");
	CHECK_INT(elf_function(bytes, size, "wanted_weak", &offset), 0);
	CHECK_UINT(offset, offset_of(wanted_weak));
	CASE("none, and what is no function or not here");
	CHECK_INT(elf_function(bytes, size, "wanted_globa", &offset), -ESRCH);
	CHECK_INT(elf_function(bytes, size, "wanted_globall", &offset), -ESRCH);
	CHECK_INT(elf_function(bytes, size, "", &offset), -ESRCH);
	CHECK_INT(elf_function(bytes, size, "stdout", &offset), -ESRCH);
	CHECK_INT(elf_function(bytes, size, "abort", &offset), -ESRCH);
	CHECK_UINT(offset, offset_of(wanted_weak));
	CASE("no code");
	CHECK_INT(elf_has_code(bytes, size, 0), -EFAULT);
	CHECK_INT(elf_has_code(bytes, size, size), -EFAULT);
	CHECK_INT(elf_has_code(bytes, size, UINT64_MAX), -EFAULT);
}

static void test_markers(void)
{
	static const char *const none[] = { "test:twic", "test:twice2",  "tes:twice", "test",
					    "test:",     ":twice",       ":",         "",
					    "twice",     "test:watched:" };
	struct elf_marker first = { 0 }, second = { 0 }, third = { 0 };

	marked();
	CASE("a marker in two places");
	CHECK_INT(elf_marker(bytes, size, "test:twice", 0, &first), 0);
	CHECK_INT(elf_marker(bytes, size, "test:twice", 1, &second), 0);
	CHECK_INT(elf_marker(bytes, size, "test:twice", 2, &third), -ENOMSG);
	CHECK_UINT(first.offset >= offset_of(marked), 1);
	CHECK_UINT(first.offset < second.offset, 1);
	CHECK_UINT(second.offset < offset_of(marked) + 64, 1);
	CHECK_UINT(first.semaphore | second.semaphore | third.offset, 0);
	CHECK_INT(elf_has_code(bytes, size, first.offset), 0);
	CASE("a marker with a semaphore");
	CHECK_INT(elf_marker(bytes, size, "test:watched", 0, &third), 0);
	CHECK_UINT(third.offset > second.offset && third.offset < offset_of(marked) + 64, 1);
	CHECK_UINT(third.semaphore, offset_of((const void *)&watchers));
	for (size_t i = 0; i < COUNT_OF(none); i++) {
		CASE("no marker \"%s\"", none[i]);
		CHECK_INT(elf_marker(bytes, size, none[i], 0, &third), -ENOMSG);
	}
}

/* As if the program had been moved after the notes were made (prelink). */
static void test_moved(void)
{
	struct elf_marker before, after;
	uint64_t addresses[3];
	unsigned char *note = NULL;

	for (size_t i = 0; i + 64 < size && !note; i++)
		if (!memcmp(bytes + i, "stapsdt\0", 8) &&
		    !memcmp(bytes + i + 32, "test\0watched", 12))
			note = bytes + i + 8;
	CASE("moved");
	CHECK_INT(note != NULL, 1);
	if (!note)
		return;
	CHECK_INT(elf_marker(bytes, size, "test:watched", 0, &before), 0);
	memcpy(addresses, note, sizeof(addresses));
	for (int i = 0; i < 3; i++)
		addresses[i] += 0x10000;
	memcpy(note, addresses, sizeof(addresses));
	CHECK_INT(elf_marker(bytes, size, "test:watched", 0, &after), 0);
	CHECK_UINT(after.offset, before.offset);
	CHECK_UINT(after.semaphore, before.semaphore);
	for (int i = 0; i < 3; i++)
		addresses[i] -= 0x10000;
	memcpy(note, addresses, sizeof(addresses));
}

/* Changes every 8 bytes of the headers, and what the file has of sections' headers, one by one. */
static void test_broken(void)
{
	static const uint64_t values[] = { 0, 1, 0x7fffffff, 0xffffffff, 1ULL << 63, UINT64_MAX };
	struct elf_marker marker;
	Elf64_Ehdr header;
	uint64_t before, ignored;

	memcpy(&header, bytes, sizeof(header));
	CASE("broken");
	for (size_t at = 0; at + 8 <= size; at += 4) {
		if (at == 1024 && header.e_shoff > 1024)
			at = header.e_shoff & ~3ULL;
		memcpy(&before, bytes + at, sizeof(before));
		for (size_t i = 0; i < COUNT_OF(values); i++) {
			memcpy(bytes + at, &values[i], sizeof(values[i]));
			elf_function(bytes, size, "wanted_global", &ignored);
			elf_has_code(bytes, size, 4096);
			elf_marker(bytes, size, "test:watched", 0, &marker);
		}
		memcpy(bytes + at, &before, sizeof(before));
	}
	CASE("cut");
	for (size_t cut = 0; cut < size; cut += cut < 1024 ? 1 : 509) {
		unsigned char *copy = malloc(cut + 1);

		memcpy(copy, bytes, cut);
		CHECK_INT(elf_function(copy, cut, "wanted_global", &ignored) != 0, 1);
		elf_marker(copy, cut, "test:watched", 0, &marker);
		free(copy);
	}
}

static void test_others(void)
{
	struct elf_marker marker;
	uint64_t offset;
	unsigned char before;

	CASE("no ELF");
	CHECK_INT(elf_function("text", 4, "f", &offset), -ENOEXEC);
	CHECK_INT(elf_has_code("", 0, 0), -ENOEXEC);
	CHECK_INT(elf_marker("", 0, "a:b", 0, &marker), -ENOEXEC);
	CASE("32 bits");
	before = bytes[EI_CLASS];
	bytes[EI_CLASS] = ELFCLASS32;
	CHECK_INT(elf_function(bytes, size, "wanted_global", &offset), -ENOEXEC);
	bytes[EI_CLASS] = before;
	CASE("without sections");
	memset(bytes + offsetof(Elf64_Ehdr, e_shnum), 0, 2);
	CHECK_INT(elf_function(bytes, size, "wanted_global", &offset), -ENODATA);
}

int main(void)
{
	read_self();
	test_self();
	test_markers();
	test_moved();
	test_broken();
	test_others();
	free(bytes);
	return testing_end();
}
