/* SPDX-License-Identifier: MIT */
/*
 * Programs with named functions, which the test compiles, and their symbols by nm(1).
 */
#ifndef NAMED_PROGRAM_H
#define NAMED_PROGRAM_H

#include "scratch_directory.h"

#include <elf.h>
#include <stdarg.h>

/* The size of "silent" is in no symbol; "_ZN2ns4workEi" and "_RNvNtC5crate6module5other" are
 * symbols as compilers of C++ and Rust make them. */
static const char named_source[] =
	"#include <stdio.h>\n"
	"#define NOINLINE __attribute__((noinline, used))\n"
	"volatile int number;\n"
	"NOINLINE static int hidden(int n)\n{\n\tnumber += n;\n\treturn number * 3;\n}\n"
	"NOINLINE int shown(int n)\n{\n\treturn hidden(n) + 1;\n}\n"
	"NOINLINE int cxx(int n) asm(\"_ZN2ns4workEi\");\n"
	"int cxx(int n)\n{\n\treturn shown(n) - number;\n}\n"
	"NOINLINE int rust(int n) asm(\"_RNvNtC5crate6module5other\");\n"
	"int rust(int n)\n{\n\treturn shown(n) + number;\n}\n"
	"int __two_names(int n)\n{\n\treturn shown(n) ^ number;\n}\n"
	"int two_names(int n) __attribute__((weak, alias(\"__two_names\")));\n"
	"asm(\".text\\n.globl silent\\n.type silent, %function\\nsilent:\\n"
	".skip 64, 0\\n.globl silent_end\\n.type silent_end, %function\\nsilent_end:\\n.skip 16, 0\\n\");\n"
	"static inline __attribute__((always_inline)) int deepest(int n)\n{\n"
	"\tnumber ^= n;\n\treturn number / 7;\n}\n"
	"static inline __attribute__((always_inline)) int middle(int n)\n{\n"
	"\tnumber += 5;\n\treturn deepest(n) + 11;\n}\n"
	"NOINLINE int outer(int n)\n{\n\tint sum = 0;\n"
	"\tfor (int i = 0; i < n; i++)\n\t\tsum += middle(i);\n\treturn sum;\n}\n"
	"int main(void)\n{\n\tprintf(\"%d\\n\", cxx(1) + rust(2) + two_names(3) + outer(4));\n"
	"\treturn 0;\n}\n";

static inline FILE *named_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Runs a shell command in the scratch directory; its output is to be closed by pclose(). */
static inline FILE *named_say(const char *format, ...)
{
	char command[2048];
	int length = snprintf(command, sizeof(command), "cd '%s' && ", scratch);
	va_list arguments;
	FILE *said;

	va_start(arguments, format);
	vsnprintf(command + length, sizeof(command) - (size_t)length, format, arguments);
	va_end(arguments);
	fflush(stdout);
	said = popen(command, "r");
	if (!said)
		abort();
	return said;
}

static inline bool named_run(const char *command)
{
	return pclose(named_say("(%s) >&2", command)) == 0;
}

static inline bool named_compile(const char *name, const char *flags)
{
	const char *compiler = getenv("CC");

	scratch_write("named.c", named_source);
	return pclose(named_say("%s -O2 %s -o %s named.c", compiler ? compiler : "cc", flags,
				name)) == 0;
}

struct named_symbol {
	uint64_t address, size;
	char name[128];
};

/* Reads the functions that have a size, by `nm -S`; returns how many. */
static inline size_t named_symbols(const char *program, struct named_symbol *symbols, size_t max)
{
	FILE *lines = named_say("nm -S --defined-only %s", program);
	char line[512], type;
	size_t count = 0;

	while (fgets(line, sizeof(line), lines) && count < max) {
		struct named_symbol *symbol = &symbols[count];

		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %c %127s", &symbol->address,
			   &symbol->size, &type, symbol->name) == 4 &&
		    strchr("tTwW", type) && symbol->size)
			count++;
	}
	pclose(lines);
	return count;
}

/* The file offset of an address. */
static inline uint64_t named_offset(const char *program, uint64_t address)
{
	FILE *file = fopen(scratch_path(program), "rb");
	uint64_t offset = UINT64_MAX;
	Elf64_Phdr segment;
	Elf64_Ehdr header;

	if (!file || fread(&header, sizeof(header), 1, file) != 1)
		abort();
	for (unsigned i = 0; i < header.e_phnum; i++)
		if (fseek(file, (long)(header.e_phoff + i * sizeof(segment)), SEEK_SET) == 0 &&
		    fread(&segment, sizeof(segment), 1, file) == 1 && segment.p_type == PT_LOAD &&
		    address - segment.p_vaddr < segment.p_filesz)
			offset = address - segment.p_vaddr + segment.p_offset;
	fclose(file);
	return offset;
}

#endif
