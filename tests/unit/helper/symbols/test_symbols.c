/* SPDX-License-Identifier: MIT */
/*
 * Functions in ELF files, by their symbols and by their names in the source, and markers: those of
 * this program, whose offsets the kernel's mappings give, and those of damaged files.
 */
#include "tests/unit/testing.h"

#include "plugin/helper/symbols/demangle.h"
#include "plugin/helper/symbols/found.h"
#include "plugin/helper/symbols/search.h"
#include "tests/unit/marker.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

static char *bytes;
static size_t size;

/* Symbols as compilers of C++ and Rust make them; none of these is needed. */
#define NAMED(function, name)                                         \
	__attribute__((noinline, used)) int function(void) asm(name); \
	__attribute__((noinline, used)) int function(void)            \
	{                                                             \
		return __LINE__;                                      \
	}
NAMED(wanted_global, "wanted_global")
NAMED(same_one, "same_one")
NAMED(same_other, "same_other")
NAMED(cxx, "_ZN2ns4workEi")
NAMED(cxx_one, "_ZN2ns5twiceEi")
NAMED(cxx_other, "_ZN2ns5twiceEc")
NAMED(cxx_operator, "_ZN2nsplERKNS_1AE")
NAMED(cxx_template, "_ZN2ns5firstIiEEvT_")
NAMED(rust_legacy, "_ZN5crate6module4work17h0123456789abcdefE")
NAMED(rust, "_RNvNtC5crate6module5other")
NAMED(clone, "cloned.constprop.0")

int wanted_weak(void) __attribute__((weak));
__attribute__((noinline)) int wanted_weak(void)
{
	return 2;
}

MARKER_SEMAPHORE(watchers);

/* Two locations of a marker, and one of another. */
__attribute__((noinline, noclone)) static void marked(void)
{
	MARKER("test", "twice", 0);
	MARKER("test", "twice", 0);
	MARKER("test", "watched", watchers);
}

static void read_self(void)
{
	FILE *file = fopen("/proc/self/exe", "rb"), *memory = open_memstream(&bytes, &size);
	int c;

	if (!file || !memory)
		abort();
	while ((c = getc(file)) != EOF)
		putc(c, memory);
	fclose(file);
	fclose(memory);
}

/* From the kernel's list of mappings of this program. */
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

static int find_in(char *in, size_t length, const char *name, uint64_t offset,
		   struct symbol_found *ret_found)
{
	struct symbol_wanted wanted = { .kind = name && strchr(name, ':') && name[0] != '!' &&
								!strstr(name, "::")
							? SYMBOL_MARKER
							: SYMBOL_FUNCTION,
					.name = name,
					.offset = offset };
	struct image image;
	int status = image_open_bytes(&image, in, length);

	if (status == 0) {
		status = symbols_find(&image, &wanted, 1, ret_found);
		image_close(&image);
	}
	return status;
}

/* The offset of the only location, or the status. */
static int64_t find(const char *name)
{
	struct symbol_found found;
	int64_t got = find_in(bytes, size, name, 0, &found);

	if (got == 0)
		got = found.status       ? found.status
		      : found.count == 1 ? (int64_t)found.locations[0].offset
					 : 0;
	found_done(&found);
	return got;
}

static void test_functions(void)
{
	static const char *const none[] = { "wanted_globa", "wanted_globall", "stdout", "nothing" };

	CASE("by symbol");
	CHECK_INT(find("wanted_global"), (int64_t)offset_of((const void *)wanted_global));
	CHECK_INT(find("wanted_weak"), (int64_t)offset_of((const void *)wanted_weak));
	CHECK_INT(find("_ZN2ns4workEi"), (int64_t)offset_of((const void *)cxx));
	for (size_t i = 0; i < COUNT_OF(none); i++) {
		CASE("none: %s", none[i]);
		CHECK_INT(find(none[i]), -ESRCH);
	}
}

static void test_source_names(void)
{
	const struct {
		const char *name;
		const void *function;
	} cases[] = {
		{ "ns::work(int)", (const void *)cxx },
		{ "ns::work", (const void *)cxx },
		{ "ns::work( int )", (const void *)cxx },
		{ "ns::twice(char)", (const void *)cxx_other },
		{ "ns::operator+(ns::A const&)", (const void *)cxx_operator },
		{ "ns::operator+", (const void *)cxx_operator },
		{ "void ns::first<int>(int)", (const void *)cxx_template },
		{ "ns::first<int>", (const void *)cxx_template },
		{ "crate::module::work", (const void *)rust_legacy },
		{ "crate::module::other", (const void *)rust },
	};
	struct symbol_found found;

	if (!demangle_is_there) {
		printf("built without libiberty: no names of C++ and Rust\n");
		return;
	}
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("%s", cases[i].name);
		CHECK_INT(find(cases[i].name), (int64_t)offset_of(cases[i].function));
	}
	CASE("without parameters, two");
	CHECK_INT(find_in(bytes, size, "ns::twice", 0, &found), 0);
	CHECK_INT(found.status, -ENOTUNIQ);
	CHECK_HAS(found.error.text, "_ZN2ns5twiceEi");
	CHECK_HAS(found.error.text, "_ZN2ns5twiceEc");
	found_done(&found);
	CHECK_INT(find("ns::work(char)"), -ESRCH);
}

/* The symbol of a function, in a copy of this program's file. */
static Elf64_Sym *symbol_of(const char *name)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)bytes;
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(bytes + header->e_shoff);

	for (unsigned i = 0; i < header->e_shnum; i++) {
		Elf64_Sym *symbols = (Elf64_Sym *)(bytes + sections[i].sh_offset);

		if (sections[i].sh_type != SHT_SYMTAB)
			continue;
		for (size_t j = 0; j < sections[i].sh_size / sizeof(*symbols); j++)
			if (strcmp(bytes + sections[sections[i].sh_link].sh_offset +
					   symbols[j].st_name,
				   name) == 0)
				return &symbols[j];
	}
	abort();
}

/* Moves the code of this copy to other addresses. */
static void move_code(uint64_t distance)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)bytes;
	Elf64_Phdr *segments = (Elf64_Phdr *)(bytes + header->e_phoff);

	for (unsigned i = 0; i < header->e_phnum; i++)
		if (segments[i].p_type == PT_LOAD && segments[i].p_flags & PF_X)
			segments[i].p_vaddr += distance;
	symbol_of("same_one")->st_value += distance;
	symbol_of("same_other")->st_value += distance;
}

/* Like instances of a generic function in Go: several functions of one name, selected by the
 * offsets in the message, none of which is an address. */
static void test_one_name(void)
{
	const uint64_t distance = 1ULL << 32;
	Elf64_Sym *one = symbol_of("same_one"), *other = symbol_of("same_other");
	uint64_t first = offset_of((const void *)same_one),
		 second = offset_of((const void *)same_other);
	Elf64_Word name = other->st_name;
	struct symbol_found found;
	char want[128], turned[128];

	move_code(distance);
	other->st_name = one->st_name;
	CASE("two functions of one name");
	CHECK_INT(find_in(bytes, size, "same_one", 0, &found), 0);
	other->st_name = name;
	move_code(-distance);
	CHECK_INT(found.status, -ENOTUNIQ);
	snprintf(want, sizeof(want), ": %#" PRIx64 ", %#" PRIx64 "; choose one by its offset",
		 first, second);
	snprintf(turned, sizeof(turned), ": %#" PRIx64 ", %#" PRIx64 "; choose one by its offset",
		 second, first);
	CHECK_HAS(found.error.text, strstr(found.error.text, turned) ? turned : want);
	found_done(&found);
}

/* A copy with code only, and a separate debug file with the symbols. */
static void test_debug(void)
{
	struct symbol_wanted wanted = { .name = "wanted_global" };
	int stripped = memfd_create("stripped", 0), debug = open("/proc/self/exe", O_RDONLY);
	Elf64_Ehdr header;
	struct symbol_found found;
	struct image image;

	memcpy(&header, bytes, sizeof(header));
	header.e_shoff = header.e_shnum = header.e_shstrndx = 0;
	if (stripped < 0 || write(stripped, bytes, size) != (ssize_t)size ||
	    pwrite(stripped, &header, sizeof(header), 0) != sizeof(header))
		abort();
	CASE("symbols in a separate file");
	CHECK_INT(image_open(&image, stripped, -1), 0);
	CHECK_INT(symbols_find(&image, &wanted, 1, &found), 0);
	CHECK_INT(found.status, -ENODATA);
	CHECK_HAS(found.error.text, "install its package of debug symbols");
	found_done(&found);
	image_close(&image);
	CHECK_INT(image_open(&image, stripped, debug), 0);
	CHECK_INT(symbols_find(&image, &wanted, 1, &found), 0);
	CHECK_INT(found.status, 0);
	CHECK_UINT(found.locations[0].offset, offset_of((const void *)wanted_global));
	found_done(&found);
	image_close(&image);
	CASE("a file that becomes shorter");
	CHECK_INT(image_open(&image, stripped, debug), 0);
	if (ftruncate(stripped, 100) != 0)
		abort();
	CHECK_INT(symbols_find(&image, &wanted, 1, &found), 0);
	CHECK_INT(found.status != 0, 1);
	found_done(&found);
	image_close(&image);
	close(stripped);
	close(debug);
}

static void test_near(void)
{
	static const struct {
		const char *name, *want;
	} cases[] = {
		{ "wanted_globl", "did you mean \"wanted_global\"?" },
		{ "Wanted_weak", "\"wanted_weak\"" },
		{ "cloned", "did you mean \"cloned.constprop.0\"" },
		{ "ns::first", "\"ns::first<int>\"" },
		{ "abort", "it only calls this function: name the library that has it" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct symbol_found found;

		if (strstr(cases[i].name, "::") && !demangle_is_there)
			continue;
		CASE("%s", cases[i].name);
		CHECK_INT(find_in(bytes, size, cases[i].name, 0, &found), 0);
		CHECK_INT(found.status, -ESRCH);
		CHECK_HAS(found.error.text, cases[i].want);
		found_done(&found);
	}
}

static void test_offsets(void)
{
	static const uint64_t none[] = { 0, 1, UINT64_MAX };
	uint64_t main_at = offset_of((const void *)wanted_global);
	struct symbol_found found;

	CASE("by offset");
	CHECK_INT(find_in(bytes, size, NULL, main_at, &found), 0);
	CHECK_INT(found.status, 0);
	CHECK_UINT(found.locations[0].offset, main_at);
	found_done(&found);
	CHECK_INT(find_in(bytes, size, "wanted_global", 1, &found), 0);
	CHECK_UINT(found.locations[0].offset, main_at + 1);
	found_done(&found);
	for (size_t i = 0; i < COUNT_OF(none); i++) {
		CASE("no code at %" PRIu64, none[i]);
		CHECK_INT(find_in(bytes, size, NULL, none[i], &found), 0);
		CHECK_INT(found.status, -EFAULT);
		found_done(&found);
	}
}

static void test_markers(void)
{
	static const char *const none[] = { "test:twic", "test:twice2", "tes:twice",    "test:",
					    ":twice",    ":",           "test:watched:" };
	uint64_t begin = offset_of((const void *)marked);
	struct symbol_found found;

	marked();
	CASE("a marker with two locations");
	CHECK_INT(find_in(bytes, size, "test:twice", 0, &found), 0);
	CHECK_UINT(found.count, 2);
	CHECK_INT(found.locations[0].offset >= begin, 1);
	CHECK_INT(found.locations[0].offset < found.locations[1].offset, 1);
	CHECK_INT(found.locations[1].offset < begin + 64, 1);
	CHECK_UINT(found.locations[0].semaphore | found.locations[1].semaphore, 0);
	CHECK_UINT(found.locations[0].flags, 0);
	found_done(&found);
	CASE("a marker with a semaphore");
	CHECK_INT(find_in(bytes, size, "test:watched", 0, &found), 0);
	CHECK_UINT(found.count, 1);
	CHECK_UINT(found.locations[0].semaphore, offset_of((const void *)&watchers));
	CHECK_TEXT(found.locations[0].arguments, "");
	found_done(&found);
	for (size_t i = 0; i < COUNT_OF(none); i++) {
		CASE("no marker \"%s\"", none[i]);
		CHECK_INT(find(none[i]), -ENOMSG);
	}
}

/* As after prelink, which moves a program without its notes. */
static void test_moved(void)
{
	struct symbol_found before, after;
	uint64_t addresses[3];
	char *note = NULL;

	for (size_t i = 0; i + 64 < size && !note; i++)
		if (!memcmp(bytes + i, "stapsdt\0", 8) &&
		    !memcmp(bytes + i + 32, "test\0watched", 12))
			note = bytes + i + 8;
	CASE("moved");
	CHECK_INT(note != NULL, 1);
	if (!note)
		return;
	find_in(bytes, size, "test:watched", 0, &before);
	memcpy(addresses, note, sizeof(addresses));
	for (int i = 0; i < 3; i++)
		addresses[i] += 0x10000;
	memcpy(note, addresses, sizeof(addresses));
	find_in(bytes, size, "test:watched", 0, &after);
	CHECK_UINT(after.locations[0].offset, before.locations[0].offset);
	CHECK_UINT(after.locations[0].semaphore, before.locations[0].semaphore);
	for (int i = 0; i < 3; i++)
		addresses[i] -= 0x10000;
	memcpy(note, addresses, sizeof(addresses));
	found_done(&before);
	found_done(&after);
}

/* Changes each 8 bytes of the headers and of the section headers, one after the other. */
static void test_broken(void)
{
	static const uint64_t values[] = { 0, 0x7fffffff, 1ULL << 63, UINT64_MAX };
	Elf64_Ehdr header;
	uint64_t before;

	memcpy(&header, bytes, sizeof(header));
	CASE("broken");
	for (size_t at = 0; at + 8 <= size; at += 4) {
		if (at == 1024 && header.e_shoff > 1024)
			at = header.e_shoff & ~3ULL;
		memcpy(&before, bytes + at, sizeof(before));
		for (size_t i = 0; i < COUNT_OF(values); i++) {
			memcpy(bytes + at, &values[i], sizeof(values[i]));
			find("wanted_global");
			find("test:watched");
		}
		memcpy(bytes + at, &before, sizeof(before));
	}
	CASE("cut");
	for (size_t cut = 0; cut < size; cut += cut < 1024 ? 7 : 4099) {
		char *copy = malloc(cut + 1);
		struct symbol_found found = { 0 };

		memcpy(copy, bytes, cut);
		CHECK_INT(find_in(copy, cut, "wanted_global", 0, &found) != 0 || found.status, 1);
		found_done(&found);
		free(copy);
	}
}

static void test_others(void)
{
	char text[] = "text", before = bytes[EI_CLASS];
	struct symbol_found found;

	CASE("no ELF");
	CHECK_INT(find_in(text, 4, "f", 0, &found), -ENOEXEC);
	CHECK_INT(find_in(text, 0, "f", 0, &found), -ENOEXEC);
	CASE("32 bits");
	bytes[EI_CLASS] = ELFCLASS32;
	CHECK_INT(find_in(bytes, size, "f", 0, &found), -ENOEXEC);
	bytes[EI_CLASS] = before;
	CASE("without sections");
	memset(bytes + offsetof(Elf64_Ehdr, e_shoff), 0, 8);
	memset(bytes + offsetof(Elf64_Ehdr, e_shnum), 0, 4);
	CHECK_INT(find("wanted_global"), -ENODATA);
}

int main(void)
{
	read_self();
	test_functions();
	test_source_names();
	test_one_name();
	test_debug();
	test_near();
	test_offsets();
	test_markers();
	test_moved();
	test_broken();
	test_others();
	free(bytes);
	return testing_end();
}
