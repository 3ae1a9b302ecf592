/* SPDX-License-Identifier: MIT */
/*
 * Are instructions as long as another decoder has them, and are the same ones returns? Goes through
 * each function that has a size in the symbol tables of these files, as the symbol reader does, and compares
 * with objdump.
 *
 * tests/measure/cost/code FILE...
 *
 * Where there are data amid the code the two may differ: where objdump finds no instruction, or where
 * a jump leads amid one. These functions are named; other differences are faults.
 */
#include "plugin/helper/symbols/instruction.h"

#include <err.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECTIONS_MAX 64

enum {
	THEIR_START = 1,
	THEIR_RETURN = 2,
	THEIR_BAD = 4,
	OWN_START = 8,
	OWN_RETURN = 16,
	OWN = OWN_START | OWN_RETURN,
};

struct section {
	uint64_t address;
	size_t size;
	const unsigned char *code;
	unsigned char *marks; /* of each byte */
	int32_t *jumps;       /* how far the one that begins here jumps; 0: none does */
};

static struct section sections[SECTIONS_MAX];
static size_t section_count;

static struct {
	unsigned long functions, without_size, without_return, returns, with_data, faults;
} total;

static struct section *section_at(uint64_t address)
{
	for (size_t i = 0; i < section_count; i++)
		if (address - sections[i].address < sections[i].size)
			return &sections[i];
	return NULL;
}

static void add_section(Elf_Scn *scn, const GElf_Shdr *header)
{
	const Elf_Data *data = elf_rawdata(scn, NULL);

	if (header->sh_type != SHT_PROGBITS || !(header->sh_flags & SHF_EXECINSTR) || !data)
		return;
	if (section_count == SECTIONS_MAX)
		errx(1, "too many sections");
	sections[section_count++] = (struct section){
		.address = header->sh_addr,
		.size = data->d_size,
		.code = data->d_buf,
		.marks = calloc(data->d_size + 1, 1),
		.jumps = calloc(data->d_size + 1, sizeof(int32_t)),
	};
}

/* --- objdump --- */

static bool is_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	return strncmp(text, word, length) == 0 && strchr(" \n", text[length]);
}

static const char *behind_prefixes(const char *text)
{
	static const char *const prefixes[] = { "rep",    "repz",   "repnz", "bnd", "notrack",
						"data16", "addr32", "cs",    "ds",  "es",
						"ss",     "fs",     "gs",    "lock" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (is_word(text, prefixes[i]))
			return behind_prefixes(text + strcspn(text, " \n") +
					       strspn(text + strcspn(text, " \n"), " "));
	return text;
}

/* "jne    1234 <symbol+0x12>" */
static void mark_jump(struct section *section, size_t at, const char *text)
{
	char *end;
	uint64_t destination = strtoull(text + strcspn(text, " "), &end, 16);

	if ((text[0] == 'j' || strncmp(text, "loop", 4) == 0) && *end == ' ')
		section->jumps[at] = (int32_t)(destination - section->address - at);
}

/* "  1230:\tjne    1234 <symbol+0x12>" */
static void mark_line(const char *line)
{
	char *end;
	uint64_t address = strtoull(line, &end, 16);
	struct section *section = section_at(address);
	size_t at;
	const char *text;

	if (end == line || strncmp(end, ":\t", 2) != 0 || !section)
		return;
	at = address - section->address;
	text = behind_prefixes(end + 2);
	section->marks[at] |= THEIR_START;
	if (strstr(text, "(bad)"))
		section->marks[at] |= THEIR_BAD;
	if (is_word(text, "ret") || is_word(text, "retw"))
		section->marks[at] |= THEIR_RETURN;
	mark_jump(section, at, text);
}

static void disassemble(const char *path)
{
	char *command, *line = NULL;
	size_t size = 0;
	FILE *output;

	if (asprintf(&command, "objdump -dwz --no-show-raw-insn '%s'", path) < 0)
		errx(1, "no memory");
	output = popen(command, "r");
	if (!output)
		err(1, "objdump");
	while (getline(&line, &size, output) > 0)
		mark_line(line);
	if (pclose(output))
		errx(1, "%s: objdump failed", path);
	free(line);
	free(command);
}

/* --- functions --- */

/* Returns where it ends: behind the last instruction. */
static size_t sweep(struct section *section, size_t begin, size_t end)
{
	size_t at = begin, length;

	for (size_t i = begin; i < end; i++)
		section->marks[i] &= (unsigned char)~OWN;
	while (at < end && (length = instruction_length(section->code + at, end - at)) != 0) {
		section->marks[at] |= OWN_START;
		if (instruction_is_return(section->code + at, length))
			section->marks[at] |= OWN_RETURN;
		at += length;
	}
	return at;
}

/* By what objdump has. A jump may lead past a lock. */
static bool has_data(const struct section *section, size_t begin, size_t end)
{
	for (size_t at = begin; at < end; at++) {
		size_t destination = at + (size_t)section->jumps[at];

		if (section->marks[at] & THEIR_BAD)
			return true;
		if (destination != at && destination > begin && destination < end &&
		    !(section->marks[destination] & THEIR_START) &&
		    section->code[destination - 1] != 0xf0)
			return true;
	}
	return false;
}

/* objdump takes fwait and what follows for one. */
static bool is_same(const struct section *section, size_t at)
{
	unsigned char marks = section->marks[at];
	bool behind_fwait = at > 0 && section->code[at - 1] == 0x9b;

	if (!(marks & OWN_RETURN) != !(marks & THEIR_RETURN))
		return false;
	return !(marks & OWN_START) == !(marks & THEIR_START) || behind_fwait;
}

static void say(const char *what, const char *name, const struct section *section, size_t begin,
		size_t at)
{
	printf("%s: %s+0x%zx:", what, name, at - begin);
	for (size_t i = at; i < section->size && i < at + INSTRUCTION_SIZE_MAX; i++)
		printf(" %02x", section->code[i]);
	printf("\n");
}

static void compare(const char *name, const struct section *section, size_t begin, size_t end,
		    size_t swept)
{
	size_t at = begin;

	while (at < swept && is_same(section, at))
		at++;
	if (at == end)
		return;
	if (has_data(section, begin, end)) {
		total.with_data++;
		say("data", name, section, begin, at);
	} else {
		total.faults++;
		say(at < swept ? "differs" : "is none", name, section, begin, at);
	}
}

static void add_function(const char *name, const GElf_Sym *symbol)
{
	struct section *section = section_at(symbol->st_value);
	size_t begin, end;
	unsigned long returns = total.returns;

	if (GELF_ST_TYPE(symbol->st_info) != STT_FUNC || !symbol->st_shndx || !section)
		return;
	begin = symbol->st_value - section->address;
	if (!symbol->st_size || symbol->st_size > section->size - begin) {
		total.without_size++;
		return;
	}
	end = begin + symbol->st_size;
	total.functions++;
	compare(name, section, begin, end, sweep(section, begin, end));
	for (size_t at = begin; at < end; at++)
		total.returns += !!(section->marks[at] & OWN_RETURN);
	total.without_return += returns == total.returns;
}

static void add_symbols(Elf *elf, Elf_Scn *scn, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym symbol;

	if (header->sh_type != SHT_SYMTAB && header->sh_type != SHT_DYNSYM)
		return;
	for (int i = 0; gelf_getsym(data, i, &symbol); i++)
		add_function(elf_strptr(elf, header->sh_link, symbol.st_name), &symbol);
}

/* --- files --- */

static void free_sections(void)
{
	for (size_t i = 0; i < section_count; i++) {
		free(sections[i].marks);
		free(sections[i].jumps);
	}
	section_count = 0;
}

static void compare_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	if (fd < 0 || elf_kind(elf) != ELF_K_ELF)
		errx(1, "%s: no ELF file", path);
	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &header))
		add_section(scn, &header);
	disassemble(path);
	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &header))
		add_symbols(elf, scn, &header);
	free_sections();
	elf_end(elf);
	close(fd);
}

int main(int argc, char **argv)
{
	elf_version(EV_CURRENT);
	for (int i = 1; i < argc; i++)
		compare_file(argv[i]);
	printf("functions %lu, of which without a return instruction %lu, with data %lu; without a size %lu; "
	       "return instructions %lu; faults of a decoder %lu\n",
	       total.functions, total.without_return, total.with_data, total.without_size,
	       total.returns, total.faults);
	return total.faults != 0;
}
