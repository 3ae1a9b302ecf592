/* SPDX-License-Identifier: MIT */
/*
 * Names of code in programs, by ebpf-symbols; the truth is nm(1) of the programs that the test
 * compiles.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/helper.h"

#include "plugin/helper/symbol_name.h"
#include "plugin/helper/symbols/demangle.h"
#include "plugin/helper/symbols/expand.h"
#include "plugin/helper/symbols/inlined.h"
#include "tests/unit/named_program.h"
#include "tests/unit/separate_debug.h"

#include <errno.h>

#define SYMBOLS_MAX 256

/* A landing pad at each destination of a jump. */
#ifdef __x86_64__
#define BRANCHES "-fPIE -pie -fcf-protection=full -Wl,-z,ibtplt"
#else
#define BRANCHES "-fPIE -pie -mbranch-protection=standard -Wl,-z,force-bti"
#endif

static struct file_helper files;

static int name_of(const char *path, const uint64_t *offsets, size_t count,
		   struct symbol_names *names, uint8_t build_id[20], struct error *error)
{
	struct symbol_file file;
	int status = symbol_open(&files, path, 0, &file, error);

	if (status == 0) {
		status = symbol_name(&files, &file, offsets, count, names, build_id, error);
		symbol_close(&file);
	}
	return status;
}

/* The name at an offset of a program of the test, until the next call. */
static const char *name_at(const char *program, uint64_t offset)
{
	static struct symbol_names names;
	struct error error = { "" };

	symbol_names_done(&names);
	if (name_of(scratch_path(program), &offset, 1, &names, NULL, &error)) {
		printf("%s: %s\n", program, error.text);
		return NULL;
	}
	return names.name[0];
}

/* The expected name, for functions with several symbols and for those of other languages. */
static const char *shown_name(const char *name)
{
	if (!strcmp(name, "__two_names"))
		return "two_names";
	if (!demangle_is_there)
		return name;
	return !strcmp(name, "_ZN2ns4workEi")                ? "ns::work"
	       : !strcmp(name, "_RNvNtC5crate6module5other") ? "crate::module::other"
							     : name;
}

/* Checks each function of the program at its first byte, in its middle and at its last byte, in
 * one request. The symbols are those of `truth`. */
static void check_all(const char *program, const char *truth)
{
	struct named_symbol symbols[SYMBOLS_MAX];
	size_t count = named_symbols(truth, symbols, SYMBOLS_MAX);
	uint64_t offsets[3 * SYMBOLS_MAX];
	struct symbol_names names = { 0 };
	struct error error = { "" };

	for (size_t i = 0; i < count; i++) {
		uint64_t offset = named_offset(truth, symbols[i].address);

		offsets[3 * i] = offset + symbols[i].size - 1;
		offsets[3 * i + 1] = offset;
		offsets[3 * i + 2] = offset + symbols[i].size / 2;
	}
	CHECK_INT(count >= 7, 1);
	CHECK_INT(name_of(scratch_path(program), offsets, 3 * count, &names, NULL, &error), 0);
	CHECK_TEXT(error.text, "");
	CHECK_UINT(names.count, error.text[0] ? 0 : 3 * count);
	for (size_t i = 0; i < names.count; i++) {
		CASE("%s: %s, %zu", program, symbols[i / 3].name, i % 3);
		CHECK_TEXT(names.name[i], shown_name(symbols[i / 3].name));
	}
	symbol_names_done(&names);
}

/* The address of a function without a size: nm lists it only without -S. */
static uint64_t offset_of(const char *program, const char *function)
{
	char line[256], name[128];
	FILE *lines = named_say("nm %s", program);
	uint64_t address = 0, at;

	while (fgets(line, sizeof(line), lines))
		if (sscanf(line, "%" SCNx64 " %*c %127s", &at, name) == 2 &&
		    !strcmp(name, function))
			address = at;
	pclose(lines);
	return named_offset(program, address);
}

static void test_tables(void)
{
	static const char *const kinds[] = { "moved", "fixed" };

	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		CASE("%s", kinds[i]);
		check_all(kinds[i], kinds[i]);
		CASE("%s: without a size", kinds[i]);
		CHECK_TEXT(name_at(kinds[i], offset_of(kinds[i], "silent")), "silent");
		CHECK_TEXT(name_at(kinds[i], offset_of(kinds[i], "silent") + 63), "silent");
		CHECK_TEXT(name_at(kinds[i], offset_of(kinds[i], "silent") + 64), "silent_end");
	}
}

/* Exported functions keep their names, and no other function gets one of these. */
static void test_stripped(void)
{
	uint64_t shown, hidden;

	if (!named_run("strip -o stripped moved"))
		abort();
	shown = offset_of("moved", "shown");
	hidden = offset_of("moved", "hidden");
	CASE("stripped");
	CHECK_TEXT(name_at("stripped", shown), "shown");
	CHECK_INT(name_at("stripped", hidden) == NULL, 1);
	CHECK_INT(name_at("stripped", offset_of("moved", "silent_end") + 12) == NULL, 1);
}

#define INLINED_MAX 256

/* Runs addr2line(1) on these addresses; to be closed by pclose(). It prints the address, then
 * for each function, the innermost first, its name and its position in the source. */
static FILE *say_inlined(const char *program, uint64_t begin, size_t count)
{
	char list[INLINED_MAX * 20] = "";
	size_t length = 0;

	for (size_t i = 0; i < count; i++)
		length += (size_t)snprintf(list + length, sizeof(list) - length, "%#" PRIx64 "\n",
					   begin + i);
	scratch_write("addresses", list);
	return named_say("addr2line -a -i -f -e %s <addresses", program);
}

/* Reads the functions at the next address, the outermost first; false: there is none. */
static bool read_inlined(FILE *said, char *functions, size_t size)
{
	char line[512], before[512];
	int next;

	functions[0] = '\0';
	while ((next = getc(said)) != EOF && ungetc(next, said) != EOF &&
	       fgets(line, sizeof(line), said)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] != '0') {
			snprintf(before, sizeof(before), "%s", functions);
			snprintf(functions, size, "%.100s%s%.300s", line, before[0] ? ";" : "",
				 before);
			if (!fgets(line, sizeof(line), said))
				return false;
		}
		next = getc(said);
		ungetc(next, said);
		if (functions[0] && (next == '0' || next == EOF))
			return true;
	}
	return false;
}

/* Checks every byte of a function; the debug data is that of `truth`. Returns how many bytes
 * have inlined functions. */
static size_t check_inlined(const char *program, const char *truth, const char *function)
{
	struct named_symbol symbols[SYMBOLS_MAX], *symbol = symbols;
	size_t count = named_symbols(truth, symbols, SYMBOLS_MAX), inlined = 0;
	uint64_t offsets[INLINED_MAX];
	struct symbol_names names = { 0 };
	struct error error = { "" };
	char want[512];
	FILE *said;

	while (symbol < symbols + count && strcmp(symbol->name, function) != 0)
		symbol++;
	count = symbol->size < INLINED_MAX ? symbol->size : INLINED_MAX;
	for (size_t i = 0; i < count; i++)
		offsets[i] = named_offset(truth, symbol->address) + i;
	CASE("%s: %s", program, function);
	CHECK_INT(name_of(scratch_path(program), offsets, count, &names, NULL, &error), 0);
	CHECK_TEXT(error.text, "");
	said = say_inlined(truth, symbol->address, count);
	for (size_t i = 0; i < names.count; i++) {
		CASE("%s: %s+%zu", program, function, i);
		CHECK_INT(read_inlined(said, want, sizeof(want)), true);
		CHECK_TEXT(names.name[i], want);
		inlined += strchr(want, ';') != NULL;
	}
	pclose(said);
	symbol_names_done(&names);
	return inlined;
}

/* With any damage to DWARF, functions still have their names. */
static void test_broken_inlined(void)
{
	static const char *const sections[] = { ".debug_info", ".debug_abbrev", ".debug_rnglists" };
	static const char *const with[] = { "dwarf5", "/dev/null" };
	uint64_t outer = offset_of("dwarf5", "outer") + 8;
	char command[256];

	for (size_t i = 0; i < COUNT_OF(sections) * COUNT_OF(with); i++) {
		const char *section = sections[i / COUNT_OF(with)];

		snprintf(command, sizeof(command),
			 "objcopy --update-section %s=%s dwarf5 broken 2>&1", section,
			 with[i % COUNT_OF(with)]);
		if (!named_run(command))
			continue;
		CASE("%s is %s", section, with[i % COUNT_OF(with)]);
		CHECK_HAS(name_at("broken", outer), "outer");
	}
}

static void test_inlined(void)
{
	static const struct {
		const char *name, *flags;
	} kinds[] = {
		{ "dwarf5", "-gdwarf-5 -fPIE -pie" },
		{ "dwarf4", "-gdwarf-4 -fno-pie -no-pie" },
		{ "packed", "-g -gz -fPIE -pie" },
	};

	if (!inlined_is_there) {
		printf("built without libdw: no inlined functions\n");
		return;
	}
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		CASE("%s", kinds[i].name);
		CHECK_INT(named_compile(kinds[i].name, kinds[i].flags), true);
		CHECK_INT(check_inlined(kinds[i].name, kinds[i].name, "outer") > 0, true);
		CHECK_INT(check_inlined(kinds[i].name, kinds[i].name, "shown") == 0, true);
	}
	CASE("no symbols, but DWARF");
	if (!named_run("objcopy --strip-all --keep-section='.debug*' dwarf5 bare 2>&1"))
		abort();
	CHECK_INT(check_inlined("bare", "dwarf5", "outer") > 0, true);
	test_broken_inlined();
}

/* Adds compressed symbols to a stripped program, as Fedora does. */
static void make_mini(const char *symbols, const char *pack)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "%s <%s >packed && objcopy --add-section .gnu_debugdata=packed stripped mini",
		 pack, symbols);
	if (!named_run(command))
		abort();
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text);

	return length >= strlen(end) && !strcmp(text + length - strlen(end), end);
}

/* Entries of procedure linkage tables, compared with the labels of objdump(1). */
static void test_plt(void)
{
	static const char *const kinds[] = { "moved", "fixed", "now", "branches", "stripped" };
	char line[512], label[128];
	uint64_t address;

	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		FILE *lines = named_say("objdump -d %s", kinds[i]);
		size_t labels = 0;

		while (fgets(line, sizeof(line), lines)) {
			if (sscanf(line, "%" SCNx64 " <%127[^>]>:", &address, label) != 2 ||
			    !ends_with(label, "@plt") || label[0] == '*')
				continue;
			labels++;
			CASE("%s: %s at %#" PRIx64, kinds[i], label, address);
			CHECK_TEXT(name_at(kinds[i], named_offset(kinds[i], address)), label);
			CHECK_TEXT(name_at(kinds[i], named_offset(kinds[i], address) + 5), label);
		}
		pclose(lines);
		CASE("%s: entries", kinds[i]);
		CHECK_INT(labels > 0, 1);
	}
}

static void test_mini(void)
{
	static const char *const broken[] = { "head -c 1000", "xz | head -c 1000", "xz -F lzma",
					      "cat /dev/null" };
	uint64_t hidden = offset_of("moved", "hidden");

	if (!expand_is_there) {
		printf("built without liblzma: no symbols of .gnu_debugdata\n");
		return;
	}
	if (!named_run("xz --version >/dev/null && objcopy --only-keep-debug moved symbols &&"
		       "cat symbols >bomb && head -c 70000000 /dev/zero >>bomb")) {
		printf("xz is missing: no symbols of .gnu_debugdata\n");
		return;
	}
	make_mini("symbols", "xz -0");
	check_all("mini", "moved");
	make_mini("symbols", "xz -9");
	CASE("mini");
	CHECK_TEXT(name_at("mini", hidden), "hidden");
	for (size_t i = 0; i < COUNT_OF(broken); i++) {
		make_mini("symbols", broken[i]);
		CASE("mini: %s", broken[i]);
		CHECK_INT(name_at("mini", hidden) == NULL, 1);
		CHECK_TEXT(name_at("mini", offset_of("moved", "shown")), "shown");
	}
	CASE("mini: too large unpacked");
	make_mini("bomb", "xz -0");
	CHECK_INT(name_at("mini", hidden) == NULL, 1);
	CASE("mini: too much memory");
	make_mini("symbols", "xz --lzma2=dict=512MiB");
	CHECK_INT(name_at("mini", hidden) == NULL, 1);
}

static void test_debug(void)
{
	char build_id[41];
	uint64_t hidden = offset_of("moved", "hidden");

	named_build_id("moved", build_id);
	if (!separate_debug_mount()) {
		printf("this process may not mount: no separate files of symbols\n");
		return;
	}
	file_helper_done(&files);
	CASE("no separate file");
	CHECK_INT(name_at("stripped", hidden) == NULL, 1);
	if (!named_run("objcopy --only-keep-debug moved symbols && head -c 3000 symbols >cut"))
		abort();
	separate_debug_put("symbols", build_id);
	CASE("a separate file");
	check_all("stripped", "moved");
	CHECK_TEXT(name_at("stripped", offset_of("moved", "silent")), "silent");
	if (inlined_is_there && named_compile("source", "-g -fPIE -pie -rdynamic") &&
	    named_run("strip -o stripped-source source &&"
		      "objcopy --only-keep-debug source symbols-source")) {
		char other[41];

		named_build_id("source", other);
		separate_debug_put("symbols-source", other);
		CHECK_INT(check_inlined("stripped-source", "source", "outer") > 0, true);
	}
	separate_debug_put("cut", build_id);
	CASE("a broken separate file");
	CHECK_INT(name_at("stripped", hidden) == NULL, 1);
	CHECK_TEXT(name_at("stripped", offset_of("moved", "shown")), "shown");
	separate_debug_put("named.c", build_id);
	CASE("a separate file of another kind");
	CHECK_TEXT(name_at("stripped", offset_of("moved", "shown")), "shown");
}

static void test_build_id(void)
{
	uint8_t build_id[20], want[20];
	struct symbol_names names;
	struct error error;
	uint64_t offset = 0;
	char text[41];

	named_build_id("moved", text);
	for (size_t i = 0; i < 20; i++)
		sscanf(text + 2 * i, "%2hhx", &want[i]);
	CASE("build ID %s", text);
	CHECK_INT(name_of(scratch_path("moved"), &offset, 1, &names, build_id, &error), 0);
	CHECK_INT(memcmp(build_id, want, 20), 0);
	CHECK_INT(names.name[0] == NULL, 1);
	symbol_names_done(&names);
	CASE("no build ID");
	if (!named_run("objcopy -R .note.gnu.build-id moved no-id"))
		abort();
	CHECK_INT(name_of(scratch_path("no-id"), &offset, 1, &names, build_id, &error), 0);
	memset(want, 0, 20);
	CHECK_INT(memcmp(build_id, want, 20), 0);
	symbol_names_done(&names);
	symbol_names_done(&names);
}

static void test_refused(void)
{
	static const uint64_t offsets[] = { 0, 1, UINT64_MAX, 1ULL << 63 };
	uint64_t *many = calloc(SYMBOL_OFFSETS_MAX + 1, sizeof(*many));
	uint64_t shown = offset_of("moved", "shown");
	unsigned before = testing_open_files();
	struct symbol_names names;
	struct error error;
	size_t wrong = 0;

	CASE("no code");
	CHECK_INT(name_of(scratch_path("moved"), offsets, COUNT_OF(offsets), &names, NULL, &error),
		  0);
	CHECK_UINT(names.count, COUNT_OF(offsets));
	for (size_t i = 0; i < names.count; i++)
		CHECK_INT(names.name[i] == NULL, 1);
	symbol_names_done(&names);
	CASE("no offsets");
	CHECK_INT(name_of(scratch_path("moved"), NULL, 0, &names, NULL, &error), 0);
	CHECK_UINT(names.count, 0);
	symbol_names_done(&names);
	CASE("the maximum of one request, and more");
	for (size_t i = 0; i < SYMBOL_OFFSETS_MAX; i++)
		many[i] = shown + (SYMBOL_OFFSETS_MAX - i) % 5;
	CHECK_INT(name_of(scratch_path("moved"), many, SYMBOL_OFFSETS_MAX, &names, NULL, &error),
		  0);
	CHECK_UINT(names.count, SYMBOL_OFFSETS_MAX);
	for (size_t i = 0; i < names.count; i++)
		wrong += !names.name[i] || strcmp(names.name[i], "shown") != 0;
	CHECK_UINT(wrong, 0);
	symbol_names_done(&names);
	CHECK_INT(
		name_of(scratch_path("moved"), many, SYMBOL_OFFSETS_MAX + 1, &names, NULL, &error),
		-E2BIG);
	CHECK_HAS(error.text, "more than 4096");
	CASE("no program");
	CHECK_INT(name_of(scratch_path("named.c"), offsets, 1, &names, NULL, &error), -ENOEXEC);
	CHECK_HAS(error.text, "it is not a 64-bit program");
	CHECK_UINT(testing_open_files(), before);
	free(many);
}

int main(void)
{
	char program[4096];

	scratch_begin();
	if (!named_compile("moved", "-fPIE -pie -rdynamic") ||
	    !named_compile("fixed", "-fno-pie -no-pie") ||
	    !named_compile("now", "-fPIE -pie -Wl,-z,now") ||
	    !named_compile("branches", BRANCHES)) {
		printf("there is no compiler to make programs with\n");
		scratch_end();
		return TESTING_SKIPPED;
	}
	snprintf(program, sizeof(program), "%s", testing_built("ebpf-symbols"));
	file_helper_init(&files);
	set_symbol_helper(&files, program);
	test_tables();
	test_stripped();
	test_plt();
	test_mini();
	test_refused();
	test_build_id();
	test_inlined();
	test_debug();
	file_helper_done(&files);
	scratch_end();
	return testing_end();
}
