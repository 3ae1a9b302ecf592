/* SPDX-License-Identifier: MIT */
/*
 * Functions by name: all that are wanted at once, in one pass over each table of symbols; those that
 * no table has by that name in a second one over the names of the source.
 */
#include "function.h"

#include "demangle.h"
#include "found.h"
#include "go.h"
#include "near.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OTHERS_SIZE 256

/* What has been found of one name. */
struct function {
	const char *name;
	char *bare;    /* without blanks */
	uint32_t hash; /* of name */
	uint64_t address;
	unsigned rank; /* see struct name; 0: nothing */
	bool is_chosen;
	bool is_called;           /* this file has it from another one */
	bool is_done;             /* a table has it: the next ones are not asked */
	unsigned count;           /* of different functions of this rank */
	unsigned listed;          /* of these, in `others` */
	char others[OTHERS_SIZE]; /* what to choose one by: names in the file, or offsets */
	struct near near;
};

struct search {
	const struct image *image;
	struct function *functions;
	size_t count;
	bool by_source; /* the names of the source are compared */
	bool by_go;
};

static uint32_t hash_of(const char *text, size_t length)
{
	uint32_t hash = 0x811c9dc5; /* FNV-1a */

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x01000193;
	return hash;
}

/* Blanks are where the demangler has them, or who writes the name. */
static void remove_blanks(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (*text != ' ')
			*to++ = *text;
	*to = '\0';
}

/* What finds no room as a whole is left out. */
static void append_other(const struct search *search, struct function *function,
			 const struct name *name, bool by_source)
{
	size_t length = strlen(function->others), room = sizeof(function->others) - length;
	char place[32] = "";
	uint64_t offset;

	if (image_offset(search->image, PF_X, name->address, &offset) == 0)
		snprintf(place, sizeof(place), "%#" PRIx64, offset);
	if ((size_t)snprintf(function->others + length, room, "%s%s", length ? ", " : "",
			     by_source ? name->text : place) < room)
		function->listed++;
	else
		function->others[length] = '\0';
}

static void take_match(const struct search *search, struct function *function,
		       const struct name *name, bool by_source)
{
	if (name->rank == 0) {
		function->is_called = true;
		return;
	}
	if (name->rank < function->rank ||
	    (name->rank == function->rank && name->address == function->address))
		return;
	if (name->rank > function->rank) {
		function->count = function->listed = 0;
		function->others[0] = '\0';
	}
	function->rank = name->rank;
	function->address = name->address;
	function->is_chosen = name->is_chosen;
	function->count++;
	append_other(search, function, name, by_source);
}

static void take_name(void *with, const struct name *name)
{
	struct search *search = with;
	uint32_t hash = hash_of(name->text, name->length);

	for (size_t i = 0; i < search->count; i++) {
		struct function *function = &search->functions[i];

		if (!function->is_done && function->hash == hash &&
		    strlen(function->name) == name->length &&
		    memcmp(function->name, name->text, name->length) == 0)
			take_match(search, function, name, false);
	}
}

/* Of versions and clones, which have the name of the source, too. */
static bool is_other_form(const char *source)
{
	return strstr(source, "[clone") != NULL;
}

static void take_source(struct search *search, const struct name *name, char *source)
{
	if (!source || is_other_form(source))
		return;
	remove_blanks(source);
	for (size_t i = 0; i < search->count; i++) {
		struct function *function = &search->functions[i];

		if (function->is_done)
			continue;
		if (strcmp(function->bare, source) == 0)
			take_match(search, function, name, true);
		else
			near_offer(&function->near, source);
	}
}

/* With its parameters, and without. */
static void take_mangled(void *with, const struct name *name)
{
	for (int parameters = 0; parameters < 2; parameters++) {
		char *source = demangle(name->text, parameters);

		take_source(with, name, source);
		free(source);
	}
}

static void take_near(void *with, const struct name *name)
{
	struct search *search = with;

	for (size_t i = 0; i < search->count; i++)
		if (!search->functions[i].is_done && name->rank)
			near_offer(&search->functions[i].near, name->text);
}

/* Has any not been found? What has been is done. */
static bool is_any_left(struct search *search)
{
	bool left = false;

	for (size_t i = 0; i < search->count; i++) {
		struct function *function = &search->functions[i];

		function->is_done |= function->rank != 0;
		left |= !function->is_done;
	}
	return left;
}

/* Returns whether there is any table. */
static bool search_tables(struct search *search, void (*take)(void *with, const struct name *name))
{
	bool any = false;

	for (enum names_table which = 0; which < NAMES_TABLES && is_any_left(search); which++)
		any |= names_each(search->image, which, take, search);
	if (search->image->is_go && is_any_left(search))
		any |= go_each(search->image, take, search);
	return any;
}

static void refuse(const struct function *function, bool has_tables, bool is_stripped,
		   struct symbol_found *found)
{
	char near[NEAR_TEXT_MAX];

	if (!has_tables)
		found_refuse(found, -ENODATA,
			     "it has no symbols (stripped): install its package of debug symbols, "
			     "or name the function by its offset in the file");
	else if (function->is_called)
		found_refuse(found, -ESRCH,
			     "it only calls this function: name the library that has it (ldd lists "
			     "those that it uses)");
	else
		found_refuse(
			found, -ESRCH,
			"it has no function of this name (nm -D lists them): misspelt, inlined "
			"or stripped%s%s",
			near_text(&function->near, near, sizeof(near)),
			is_stripped ? "; its package of debug symbols may have it" : "");
}

static void tell(const struct image *image, const struct function *function, bool has_tables,
		 bool is_stripped, struct symbol_found *found)
{
	struct symbol_place place = { 0 };

	if (!function->rank)
		refuse(function, has_tables, is_stripped, found);
	else if (function->count > 1)
		found_refuse(found, -ENOTUNIQ,
			     "it has several functions of this name: %s%s; choose one by its %s",
			     function->others, function->listed < function->count ? ", ..." : "",
			     function->others[0] == '_' ? "name in the file"
							: "offset in the file");
	else if (function->is_chosen)
		found_refuse(found, -EOPNOTSUPP,
			     "the program chooses this function among several when it starts "
			     "(IFUNC); name one of those");
	else if (image_offset(image, PF_X, function->address, &place.offset))
		found_refuse(found, -ENOEXEC,
			     "it is broken: there is no code where the function is to be");
	else
		found_add(found, place);
}

static int prepare(const struct symbol_wanted *wanted, size_t count, struct search *search)
{
	for (size_t i = 0; i < count; i++) {
		struct function *function = &search->functions[i];

		function->is_done = wanted[i].kind != SYMBOL_FUNCTION || !wanted[i].name;
		if (function->is_done)
			continue;
		function->name = wanted[i].name;
		function->hash = hash_of(function->name, strlen(function->name));
		function->bare = strdup(function->name);
		if (!function->bare)
			return -ENOMEM;
		remove_blanks(function->bare);
		near_begin(&function->near, function->name);
	}
	return 0;
}

static bool is_stripped(const struct image *image)
{
	return !names_has(image, NAMES_STATIC) && !image->debug;
}

int functions_find(const struct image *image, const struct symbol_wanted *wanted, size_t count,
		   struct symbol_found *found)
{
	struct search search = { .image = image, .count = count };
	bool has_tables = true;
	int status;

	search.functions = calloc(count, sizeof(*search.functions));
	status = search.functions ? prepare(wanted, count, &search) : -ENOMEM;
	if (status == 0 && is_any_left(&search)) {
		has_tables = search_tables(&search, take_name);
		if (is_any_left(&search))
			search_tables(&search, take_mangled);
		if (is_any_left(&search))
			search_tables(&search, take_near);
	}
	for (size_t i = 0; i < count && search.functions; i++) {
		if (status == 0 && wanted[i].kind == SYMBOL_FUNCTION && wanted[i].name)
			tell(image, &search.functions[i], has_tables, is_stripped(image),
			     &found[i]);
		free(search.functions[i].bare);
	}
	free(search.functions);
	return status;
}
