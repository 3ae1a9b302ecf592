/* SPDX-License-Identifier: MIT */
/*
 * Decides by type and section of a program which hooks it is for.
 */
#include "program_kind.h"

#include "kprobe_multi.h"

#include <string.h>

/* Programs for each kind of hook. */
static const struct {
	enum bpf_prog_type type;
	const char *sections[2]; /* first words of their sections */
} KINDS[] = {
	[HOOK_UPROBE] = { BPF_PROG_TYPE_KPROBE, { "uprobe" } },
	[HOOK_URETPROBE] = { BPF_PROG_TYPE_KPROBE, { "uretprobe" } },
	[HOOK_USDT] = { BPF_PROG_TYPE_KPROBE, { "usdt" } },
	[HOOK_KPROBE] = { BPF_PROG_TYPE_KPROBE, { "kprobe" } },
	[HOOK_KRETPROBE] = { BPF_PROG_TYPE_KPROBE, { "kretprobe" } },
	[HOOK_FENTRY] = { BPF_PROG_TYPE_TRACING, { "fentry", "fexit" } },
	[HOOK_TRACEPOINT] = { BPF_PROG_TYPE_TRACEPOINT, { "tracepoint", "tp" } },
	[HOOK_PERF] = { BPF_PROG_TYPE_PERF_EVENT, { "perf_event" } },
};

/* Is the section's first part this word? A suffix .s means that the program may sleep, .multi that
 * it is for many functions. */
static bool begins_with(const char *section, const char *word)
{
	size_t length = word ? strlen(word) : 0;

	if (!word || strncmp(section, word, length) != 0)
		return false;
	section += length;
	if (!strncmp(section, ".multi", 6))
		section += 6;
	else if (!strncmp(section, ".s", 2))
		section += 2;
	return *section == '\0' || *section == '/';
}

bool program_has_section(const struct bpf_program *program, enum hook_kind kind)
{
	const char *section = bpf_program__section_name(program);

	return begins_with(section, KINDS[kind].sections[0]) ||
	       begins_with(section, KINDS[kind].sections[1]);
}

const char *program_section(enum hook_kind kind)
{
	return KINDS[kind].sections[0];
}

/* A kprobe.multi program fits only hooks of its own section. */
bool program_fits_hook(const struct bpf_program *program, enum hook_kind kind)
{
	return bpf_program__type(program) == KINDS[kind].type &&
	       (!kprobe_multi_is_of(program) || program_has_section(program, kind));
}

bool program_names_hook(const struct bpf_program *program)
{
	return strchr(bpf_program__section_name(program), '/') != NULL;
}

enum hook_kind program_file_hook(const struct bpf_program *program)
{
	static const enum hook_kind kinds[] = { HOOK_UPROBE, HOOK_URETPROBE, HOOK_USDT };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (program_has_section(program, kinds[i]))
			return kinds[i];
	return HOOK_KINDS;
}

bool program_is_attached_by_engine(const struct bpf_program *program)
{
	if (program_file_hook(program) != HOOK_KINDS)
		return true;
	for (enum hook_kind kind = 0; kind < HOOK_KINDS; kind++)
		if (program_has_section(program, kind) && program_fits_hook(program, kind))
			return !program_names_hook(program);
	return false;
}

bool program_hook_is_return(enum hook_kind kind)
{
	return kind == HOOK_URETPROBE || kind == HOOK_KRETPROBE;
}
