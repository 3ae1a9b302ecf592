/* SPDX-License-Identifier: MIT */
/*
 * The parts of an object that are in use: the programs and maps of one hook set, and those of the
 * options that the Probe block sets.
 */
#include "hook_set_parts.h"

#include "annotation.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOOK_SET_TAG "hook_set:"
#define OPTION_TAG "option:"
#define OPTION_VARIABLE "option_"
#define OFF_TAG "default:off" /* on any function or variable */

/* On a member of a row the tag is about that metric only. */
static bool is_off_tag(const struct btf *btf, const struct btf_type *type)
{
	const struct btf_type *on = btf_is_decl_tag(type) ? btf__type_by_id(btf, type->type) : NULL;

	return on && (btf_is_var(on) || btf_is_func(on)) &&
	       btf_decl_tag(type)->component_idx == -1 &&
	       !strcmp(annotation_name(btf, type->name_off), OFF_TAG);
}

bool object_is_off_by_default(const struct object *object)
{
	const struct btf *btf = bpf_object__btf(object->bpf);
	uint32_t count = btf__type_cnt(btf);

	for (uint32_t id = 1; id < count; id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);

		if (is_off_tag(btf, type))
			return true;
	}
	return false;
}

static const char *map_option(const struct object *object, const struct bpf_map *map)
{
	return annotation_of_map(object->bpf, map, OPTION_TAG, 0);
}

/* The hook sets of a program, as bits; only bit 0: it is in all. */
static uint32_t program_hook_sets(const struct object *object, const struct bpf_program *program)
{
	uint32_t hook_sets = 0;
	const char *text;
	unsigned n = 0;

	while ((text = annotation_of_program(object->bpf, program, HOOK_SET_TAG, n++)) != NULL) {
		int hook_set = atoi(text);

		if (hook_set > 0 && hook_set <= CONFIG_HOOK_SETS_MAX)
			hook_sets |= 1U << hook_set;
	}
	return hook_sets ?: 1;
}

static bool listed(const struct strings *list, const char *text)
{
	return list && strings_have(list, text);
}

/* Returns how many options of a program are not in the list. ret_option: the one at index `number`,
 * or NULL. */
static unsigned missing_options(const struct object *object, const struct bpf_program *program,
				const struct strings *options, unsigned number,
				const char **ret_option)
{
	unsigned missing = 0, n = 0;
	const char *option;

	*ret_option = NULL;
	while ((option = annotation_of_program(object->bpf, program, OPTION_TAG, n++)) != NULL) {
		if (listed(options, option))
			continue;
		if (missing++ == number)
			*ret_option = option;
	}
	return missing;
}

static bool lacks_option(const struct object *object, const struct bpf_program *program,
			 const struct strings *options)
{
	const char *first;

	return missing_options(object, program, options, 0, &first) > 0;
}

uint32_t hook_sets_declared(const struct object *object)
{
	uint32_t hook_sets = 0;
	struct bpf_program *program;

	bpf_object__for_each_program(program, object->bpf) hook_sets |=
		program_hook_sets(object, program);
	return hook_sets > 1 ? hook_sets & ~1U : 1;
}

/* Returns the program of a hook set that lacks the fewest options; NULL: the hook set has none. */
static const struct bpf_program *first_available(const struct object *object, unsigned hook_set,
						 const struct strings *options)
{
	const struct bpf_program *best = NULL;
	struct bpf_program *program;
	unsigned fewest = 0;
	const char *first;

	bpf_object__for_each_program(program, object->bpf)
	{
		unsigned missing = missing_options(object, program, options, 0, &first);

		if (hook_set == 0 || !(program_hook_sets(object, program) >> hook_set & 1))
			continue;
		if (best && missing >= fewest)
			continue;
		best = program;
		fewest = missing;
	}
	return best;
}

bool hook_set_missing_options(const struct object *object, unsigned hook_set,
			      const struct strings *options, char *ret_text, size_t size)
{
	const struct bpf_program *program = first_available(object, hook_set, options);
	size_t length = 0;
	const char *option;

	ret_text[0] = '\0';
	for (unsigned n = 0; program && length < size; n++) {
		missing_options(object, program, options, n, &option);
		if (!option)
			break;
		length += (size_t)snprintf(ret_text + length, size - length, "%sOption \"%s\"",
					   n ? " and " : "", option);
	}
	return ret_text[0];
}

/* Returns the option that a BTF type declares: a tag by its text, a variable by its name. */
static const char *option_of(const struct object *object, const struct btf_type *type)
{
	static const char *const tags[] = { OPTION_TAG, OBJECT_BY_CPU_TAG };
	const char *text = annotation_name(bpf_object__btf(object->bpf), type->name_off);

	for (size_t i = 0; btf_is_decl_tag(type) && i < sizeof(tags) / sizeof(*tags); i++)
		if (!strncmp(text, tags[i], strlen(tags[i])))
			return text + strlen(tags[i]);
	if (btf_is_var(type) && !strncmp(text, OPTION_VARIABLE, strlen(OPTION_VARIABLE)) &&
	    object_variable(object, text, sizeof(bool)))
		return text + strlen(OPTION_VARIABLE);
	return NULL;
}

size_t object_options(const struct object *object, const char *ret_options[OBJECT_OPTIONS_MAX])
{
	const struct btf *btf = bpf_object__btf(object->bpf);
	uint32_t types = btf__type_cnt(btf);
	size_t count = 0;

	for (uint32_t id = 1; id < types && count < OBJECT_OPTIONS_MAX; id++) {
		const char *option = option_of(object, btf__type_by_id(btf, id));
		bool known = !option;

		for (size_t i = 0; i < count && !known; i++)
			known = !strcmp(ret_options[i], option);
		if (!known)
			ret_options[count++] = option;
	}
	return count;
}

static void set_options(struct object *object, const struct strings *options)
{
	for (size_t i = 0; options && i < options->count; i++) {
		char variable[128];

		snprintf(variable, sizeof(variable), OPTION_VARIABLE "%s", options->item[i]);
		object_set(object, variable, true);
	}
}

static bool map_is_in_hook_set(const struct object *object, const struct bpf_map *map,
			       unsigned hook_set)
{
	const char *text;
	unsigned n = 0;

	while ((text = annotation_of_map(object->bpf, map, HOOK_SET_TAG, n)) != NULL) {
		if ((unsigned)atoi(text) == hook_set)
			return true;
		n++;
	}
	return n == 0;
}

bool object_map_is_enabled(const struct object *object, const struct bpf_map *map,
			   const struct strings *options)
{
	const char *option = map_option(object, map);

	return !option || listed(options, option);
}

/* A ring buffer's entries are bytes, at least a page; storages have no number of entries. */
static int shrink(struct bpf_map *map)
{
	if (bpf_map__type(map) == BPF_MAP_TYPE_RINGBUF)
		return bpf_map__set_max_entries(map, (uint32_t)sysconf(_SC_PAGESIZE));
	return bpf_map__key_size(map) && bpf_map__max_entries(map)
		       ? bpf_map__set_max_entries(map, 1)
		       : 0;
}

static int select_maps(struct object *object, unsigned hook_set, const struct strings *options,
		       struct error *error)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object->bpf)
	{
		bool chosen = object_map_is_enabled(object, map, options) &&
			      map_is_in_hook_set(object, map, hook_set);
		int status = chosen ? 0 : shrink(map);

		if (status)
			return error_set(error, status, "cannot shrink the map %s: %s",
					 bpf_map__name(map), strerror(-status));
	}
	return 0;
}

int hook_set_select(struct object *object, unsigned hook_set, const struct strings *options,
		    struct error *error)
{
	int status = select_maps(object, hook_set, options, error);
	struct bpf_program *program;

	if (status)
		return status;
	set_options(object, options);
	bpf_object__for_each_program(program, object->bpf)
	{
		uint32_t hook_sets = program_hook_sets(object, program);

		if ((hook_set && hook_sets != 1 && !(hook_sets >> hook_set & 1)) ||
		    lacks_option(object, program, options))
			bpf_program__set_autoload(program, false);
	}
	object->hook_set = hook_set;
	return 0;
}
