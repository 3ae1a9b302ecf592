/* SPDX-License-Identifier: MIT */
/*
 * Markers (USDT). Each location has a note with three addresses and three texts: provider, name,
 * and the format of the arguments.
 */
#include "marker.h"

#include "found.h"
#include "helper/symbol_message.h"

#include <errno.h>
#include <string.h>

#define NOTES_MAX (1U << 16) /* in all sections */
#define NOTE_MARKER 3        /* type of the note, with the owner "stapsdt" */

/* The start of a note's description: addresses as the linker saw them. */
struct addresses {
	uint64_t code;
	uint64_t base; /* of the section .stapsdt.base: tells by how much addresses have moved
			* since */
	uint64_t semaphore;
};

struct marker_search {
	const struct image *image;
	const char *name; /* PROVIDER:NAME */
	uint64_t base;    /* address of .stapsdt.base now; 0: there is none */
	struct symbol_found *found;
	unsigned notes;
};

/* Skips the text and its NUL, if it is there. */
static bool skip_text(const char **at, size_t *left, const char *text, size_t length)
{
	if (length >= *left || memcmp(*at, text, length) != 0 || (*at)[length] != '\0')
		return false;
	*at += length + 1;
	*left -= length + 1;
	return true;
}

/* A copy of the marker's arguments if it is the wanted one; else NULL. */
static char *arguments_of(const char *at, size_t left, const char *name)
{
	size_t provider = strcspn(name, ":");

	if (name[provider] != ':' || !skip_text(&at, &left, name, provider) ||
	    !skip_text(&at, &left, name + provider + 1, strlen(name + provider + 1)))
		return NULL;
	return strndup(at, left < SYMBOL_TEXT_MAX ? left : SYMBOL_TEXT_MAX - 1);
}

static void add_marker(struct marker_search *search, const struct addresses *addresses,
		       char *arguments)
{
	uint64_t moved = search->base && addresses->base ? search->base - addresses->base : 0;
	struct symbol_location location = { .arguments = arguments };
	int status = image_offset(search->image, PF_X, addresses->code + moved, &location.offset);

	if (status == 0 && addresses->semaphore)
		status = image_offset(search->image, PF_W, addresses->semaphore + moved,
				      &location.semaphore);
	found_add(search->found, location);
	/* perf_event_open(2) has 32 bits for the offset of a semaphore. */
	if (status || location.semaphore > UINT32_MAX)
		found_refuse(search->found, -ENOEXEC,
			     "it is broken: its notes name addresses that it does not have");
}

static void search_notes(struct marker_search *search, Elf_Data *data)
{
	size_t at = 0, next, name, description;
	GElf_Nhdr note;

	while ((next = gelf_getnote(data, at, &note, &name, &description)) > 0 &&
	       search->notes++ < NOTES_MAX) {
		const char *bytes = data->d_buf;
		struct addresses addresses;
		char *arguments;

		at = next;
		if (note.n_type != NOTE_MARKER || note.n_namesz != sizeof("stapsdt") ||
		    memcmp(bytes + name, "stapsdt", sizeof("stapsdt")) != 0 ||
		    note.n_descsz < sizeof(addresses))
			continue;
		memcpy(&addresses, bytes + description, sizeof(addresses));
		arguments = arguments_of(bytes + description + sizeof(addresses),
					 note.n_descsz - sizeof(addresses), search->name);
		if (arguments)
			add_marker(search, &addresses, arguments);
	}
}

void marker_find(const struct image *image, const struct symbol_wanted *wanted,
		 struct symbol_found *ret_found)
{
	struct marker_search search = { .image = image, .name = wanted->name, .found = ret_found };
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	if (image_section(image->elf, ".stapsdt.base", &header))
		search.base = header.sh_addr;
	while ((section = elf_nextscn(image->elf, section)) != NULL) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE)
			continue;
		data = elf_getdata(section, NULL);
		if (data && data->d_buf)
			search_notes(&search, data);
	}
	if (ret_found->status == 0 && ret_found->count == 0)
		found_refuse(ret_found, -ENOMSG,
			     "it has no marker of this name (readelf -n lists them)");
}
