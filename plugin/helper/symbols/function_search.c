/* SPDX-License-Identifier: MIT */
/*
 * Finds functions by name: all wanted ones in one pass over each symbol table. Those that no table
 * has are then searched by the names of the source, in a second pass. If that fails, too, a third
 * pass finds similar names for the message.
 */
#include "function_search.h"

#include "demangle.h"
#include "found.h"
#include "go.h"
#include "suggestion.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OTHERS_SIZE 256

/* The state of the search for one name. */
struct function_search {
	const char *name;
	char *bare;    /* name without blanks */
	uint32_t hash; /* of name */
	uint64_t address;
	unsigned rank; /* of the best match, see struct name; 0: no match */
	bool is_chosen;
	bool is_called;           /* the file only calls it in another file */
	bool is_done;             /* a table has it: later tables are not searched */
	unsigned count;           /* different functions of this rank */
	unsigned listed;          /* those of them that are in `others` */
	char others[OTHERS_SIZE]; /* by what to choose one: names in the file, or offsets */
	struct suggestion suggestion;
};

struct function_searches {
	const struct image *image;
	struct function_search *functions;
	size_t count;
	bool by_source; /* names of the source are compared */
	bool by_go;
};

static uint32_t hash_function_name(const char *text, size_t length)
{
	uint32_t hash = 0x811c9dc5; /* FNV-1a */

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x01000193;
	return hash;
}

/* Demanglers and people put blanks in different positions. */
static void remove_blanks(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (*text != ' ')
			*to++ = *text;
	*to = '\0';
}

/* A text that does not fit whole is left out. */
static void append_other(const struct function_searches *search, struct function_search *function,
			 const struct name *name, bool by_source)
{
	size_t length = strlen(function->others), room = sizeof(function->others) - length;
	char location[32] = "";
	uint64_t offset;

	if (image_offset(search->image, PF_X, name->address, &offset) == 0)
		snprintf(location, sizeof(location), "%#" PRIx64, offset);
	if ((size_t)snprintf(function->others + length, room, "%s%s", length ? ", " : "",
			     by_source ? name->text : location) < room)
		function->listed++;
	else
		function->others[length] = '\0';
}

static void note_match(const struct function_searches *search, struct function_search *function,
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

static void compare_name(void *with, const struct name *name)
{
	struct function_searches *search = with;
	uint32_t hash = hash_function_name(name->text, name->length);

	for (size_t i = 0; i < search->count; i++) {
		struct function_search *function = &search->functions[i];

		if (!function->is_done && function->hash == hash &&
		    strlen(function->name) == name->length &&
		    memcmp(function->name, name->text, name->length) == 0)
			note_match(search, function, name, false);
	}
}

/* Is it a version or clone of a function, whose source has the same name? */
static bool is_other_form(const char *source)
{
	return strstr(source, "[clone") != NULL;
}

static void compare_source(struct function_searches *search, const struct name *name, char *source)
{
	if (!source || is_other_form(source))
		return;
	remove_blanks(source);
	for (size_t i = 0; i < search->count; i++) {
		struct function_search *function = &search->functions[i];

		if (function->is_done)
			continue;
		if (strcmp(function->bare, source) == 0)
			note_match(search, function, name, true);
		else
			suggestion_offer(&function->suggestion, source);
	}
}

/* Compares the name with its parameters and without. */
static void compare_mangled(void *with, const struct name *name)
{
	for (int parameters = 0; parameters < 2; parameters++) {
		char *source = demangle(name->text, parameters);

		compare_source(with, name, source);
		free(source);
	}
}

static void offer_similar(void *with, const struct name *name)
{
	struct function_searches *search = with;

	for (size_t i = 0; i < search->count; i++)
		if (!search->functions[i].is_done && name->rank)
			suggestion_offer(&search->functions[i].suggestion, name->text);
}

/* Marks names that are found as done. Returns whether any is not found. */
static bool mark_found(struct function_searches *search)
{
	bool any_missing = false;

	for (size_t i = 0; i < search->count; i++) {
		struct function_search *function = &search->functions[i];

		function->is_done |= function->rank != 0;
		any_missing |= !function->is_done;
	}
	return any_missing;
}

/* Returns whether there is any table. */
static bool search_function_tables(struct function_searches *search,
				   void (*visit)(void *with, const struct name *name))
{
	bool any = false;

	for (enum symbol_table which = 0; which < SYMBOL_TABLES && mark_found(search); which++)
		any |= symbol_table_each(search->image, which, visit, search);
	if (search->image->is_go && mark_found(search))
		any |= go_each(search->image, visit, search);
	return any;
}

static void refuse_unfound(const struct function_search *function, bool has_tables,
			   bool is_stripped, struct symbol_found *found)
{
	char suggestion[SUGGESTION_TEXT_MAX];

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
			suggestion_text(&function->suggestion, suggestion, sizeof(suggestion)),
			is_stripped ? "; its package of debug symbols may have it" : "");
}

static void report_function(const struct image *image, const struct function_search *function,
			    bool has_tables, bool is_stripped, struct symbol_found *found)
{
	struct symbol_location location = { 0 };

	if (!function->rank)
		refuse_unfound(function, has_tables, is_stripped, found);
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
	else if (image_offset(image, PF_X, function->address, &location.offset))
		found_refuse(found, -ENOEXEC,
			     "it is broken: no code is where the function should be");
	else
		found_add(found, location);
}

static int prepare_searches(const struct symbol_wanted *wanted, size_t count,
			    struct function_searches *search)
{
	for (size_t i = 0; i < count; i++) {
		struct function_search *function = &search->functions[i];

		function->is_done = wanted[i].kind != SYMBOL_FUNCTION || !wanted[i].name;
		if (function->is_done)
			continue;
		function->name = wanted[i].name;
		function->hash = hash_function_name(function->name, strlen(function->name));
		function->bare = strdup(function->name);
		if (!function->bare)
			return -ENOMEM;
		remove_blanks(function->bare);
		suggestion_start(&function->suggestion, function->name);
	}
	return 0;
}

static bool is_stripped(const struct image *image)
{
	return !symbol_table_has(image, SYMBOL_TABLE_STATIC) && !image->debug;
}

int functions_find(const struct image *image, const struct symbol_wanted *wanted, size_t count,
		   struct symbol_found *found)
{
	struct function_searches search = { .image = image, .count = count };
	bool has_tables = true;
	int status;

	search.functions = calloc(count, sizeof(*search.functions));
	status = search.functions ? prepare_searches(wanted, count, &search) : -ENOMEM;
	if (status == 0 && mark_found(&search)) {
		has_tables = search_function_tables(&search, compare_name);
		if (mark_found(&search))
			search_function_tables(&search, compare_mangled);
		if (mark_found(&search))
			search_function_tables(&search, offer_similar);
	}
	for (size_t i = 0; i < count && search.functions; i++) {
		if (status == 0 && wanted[i].kind == SYMBOL_FUNCTION && wanted[i].name)
			report_function(image, &search.functions[i], has_tables, is_stripped(image),
					&found[i]);
		free(search.functions[i].bare);
	}
	free(search.functions);
	return status;
}
