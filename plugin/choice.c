/* SPDX-License-Identifier: MIT */
/*
 * Which parts of an object are in use: its tiers, of which one is, and what an
 * Option of the Probe block switches on.
 */
#include "object.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIER_TAG "tier:"
#define OPTION_TAG "option:"
#define OPTION_VARIABLE "option_"

static const char *name_of(const struct btf *btf, uint32_t offset)
{
	const char *name = btf__name_by_offset(btf, offset);

	return name ? name : "";
}

/* The text of the n-th such tag on a function or a variable, behind its prefix; or NULL. */
static const char *tag_on(const struct object *object, uint16_t kind, const char *name,
			  const char *prefix, unsigned n)
{
	const struct btf *btf = bpf_object__btf(object->bpf);
	uint32_t count = btf__type_cnt(btf);

	for (uint32_t id = 1; id < count; id++) {
		const struct btf_type *tag = btf__type_by_id(btf, id);
		const struct btf_type *on;
		const char *text;

		if (!btf_is_decl_tag(tag))
			continue;
		text = name_of(btf, tag->name_off);
		on = btf__type_by_id(btf, tag->type);
		if (strncmp(text, prefix, strlen(prefix)) == 0 && on && btf_kind(on) == kind &&
		    !strcmp(name_of(btf, on->name_off), name) && n-- == 0)
			return text + strlen(prefix);
	}
	return NULL;
}

static const char *program_option(const struct object *object, const struct bpf_program *program)
{
	return tag_on(object, BTF_KIND_FUNC, bpf_program__name(program), OPTION_TAG, 0);
}

static const char *map_option(const struct object *object, const struct bpf_map *map)
{
	return tag_on(object, BTF_KIND_VAR, bpf_map__name(map), OPTION_TAG, 0);
}

/* 1 to CONFIG_TIERS_MAX; 0: of all tiers. */
static unsigned program_tier(const struct object *object, const struct bpf_program *program)
{
	const char *text = tag_on(object, BTF_KIND_FUNC, bpf_program__name(program), TIER_TAG, 0);
	int tier = text ? atoi(text) : 0;

	return tier > 0 && tier <= CONFIG_TIERS_MAX ? (unsigned)tier : 0;
}

static bool listed(const struct strings *list, const char *text)
{
	for (size_t i = 0; list && i < list->count; i++)
		if (!strcmp(list->item[i], text))
			return true;
	return false;
}

uint32_t object_tiers(const struct object *object, const struct strings *options,
		      const char **ret_missing)
{
	uint32_t tiers = 0, possible = 0;
	struct bpf_program *program;

	*ret_missing = NULL;
	bpf_object__for_each_program(program, object->bpf)
	{
		const char *option = program_option(object, program);
		unsigned tier = program_tier(object, program);

		if (!tier)
			continue;
		tiers |= 1U << tier;
		if (!option || listed(options, option))
			possible |= 1U << tier;
	}
	bpf_object__for_each_program(program, object->bpf)
	{
		if ((tiers & ~possible) >> program_tier(object, program) & 1)
			*ret_missing = program_option(object, program);
	}
	return tiers ? possible : 1;
}

static void variable_name(char *name, size_t size, const char *option)
{
	snprintf(name, size, OPTION_VARIABLE "%s", option);
}

static bool has_option(const struct object *object, const char *name)
{
	char variable[128];
	struct bpf_program *program;
	struct bpf_map *map;
	const char *option;

	bpf_object__for_each_program(program, object->bpf)
	{
		option = program_option(object, program);
		if (option && !strcmp(option, name))
			return true;
	}
	bpf_object__for_each_map(map, object->bpf)
	{
		option = map_option(object, map);
		if (option && !strcmp(option, name))
			return true;
	}
	variable_name(variable, sizeof(variable), name);
	return object_variable(object, variable, sizeof(bool)) != NULL;
}

static int choose_options(struct object *object, const struct strings *options, struct error *error)
{
	for (size_t i = 0; options && i < options->count; i++) {
		char variable[128];

		if (!has_option(object, options->item[i]))
			return error_set(error, -ENOENT, "%s: it has no Option \"%s\"",
					 object->name, options->item[i]);
		variable_name(variable, sizeof(variable), options->item[i]);
		object_set(object, variable, true);
	}
	return 0;
}

/* One may be of several tiers. */
static bool map_of_tier(const struct object *object, const struct bpf_map *map, unsigned tier)
{
	const char *text;
	unsigned n = 0;

	while ((text = tag_on(object, BTF_KIND_VAR, bpf_map__name(map), TIER_TAG, n)) != NULL) {
		if ((unsigned)atoi(text) == tier)
			return true;
		n++;
	}
	return n == 0;
}

bool object_map_chosen(const struct object *object, const struct bpf_map *map,
		       const struct strings *options)
{
	const char *option = map_option(object, map);

	return !option || listed(options, option);
}

/* Those of rings and storages are no numbers of entries. */
static int shrink(struct bpf_map *map)
{
	return bpf_map__key_size(map) && bpf_map__max_entries(map)
		       ? bpf_map__set_max_entries(map, 1)
		       : 0;
}

static int choose_maps(struct object *object, unsigned tier, const struct strings *options,
		       struct error *error)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object->bpf)
	{
		bool chosen =
			object_map_chosen(object, map, options) && map_of_tier(object, map, tier);
		int status = chosen ? 0 : shrink(map);

		if (status)
			return error_set(error, status, "%s: cannot shrink the map %s: %s",
					 object->name, bpf_map__name(map), strerror(-status));
	}
	return 0;
}

int object_choose(struct object *object, unsigned tier, const struct strings *options,
		  struct error *error)
{
	int status = choose_options(object, options, error);
	struct bpf_program *program;

	status = status ?: choose_maps(object, tier, options, error);
	if (status)
		return status;
	bpf_object__for_each_program(program, object->bpf)
	{
		const char *option = program_option(object, program);
		unsigned of = program_tier(object, program);

		if ((tier && of && of != tier) || (option && !listed(options, option)))
			bpf_program__set_autoload(program, false);
	}
	object->tier = tier;
	return 0;
}
