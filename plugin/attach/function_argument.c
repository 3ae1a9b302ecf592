/* SPDX-License-Identifier: MIT */
/*
 * Arguments of Function blocks: where the programs of the probe find them.
 */
#include "function_argument.h"

#include "argument.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <stdio.h>
#include <string.h>

/* Only functions of the kernel have named arguments. The position in the first function of the
 * block holds for all of them. */
static bool find_named(const struct function_config *block, unsigned *ret_number,
		       struct function_type *ret_type, char *why, size_t size)
{
	const struct hook *hook = &block->attaches[0].hook;
	struct btf *btf;
	bool found;

	if (hook->kind != HOOK_KPROBE && hook->kind != HOOK_FENTRY) {
		snprintf(why, size,
			 "only arguments of the kernel's functions have names; write its number");
		return false;
	}
	btf = btf__load_vmlinux_btf();
	if (!btf) {
		snprintf(why, size, "the kernel has no BTF; write its number");
		return false;
	}
	found = argument_by_name(btf, hook->name, block->argument.name, ret_number, ret_type, why,
				 size);
	btf__free(btf);
	return found;
}

/* The type before any location is known. */
static struct function_type default_type(const struct argument_config *argument)
{
	static const struct function_type of_returns = { .size = 4, .is_signed = true },
					  of_arguments = { .size = 8 };

	return argument->is_returned ? of_returns : of_arguments;
}

bool function_argument_find(const struct function_config *block,
			    struct function_argument *ret_found, char *why, size_t size)
{
	const struct argument_config *argument = &block->argument;
	const enum hook_kind kind = block->attaches[0].hook.kind;
	struct function_argument found = { .source = FUNCTION_UNKNOWN };
	struct function_type type = default_type(argument);
	unsigned number = argument->number;

	if (argument->name[0] && !find_named(block, &number, &type, why, size))
		return false;
	/* A marker has its arguments elsewhere at each location. */
	if (!argument->is_returned && kind != HOOK_USDT &&
	    !(kind == HOOK_FENTRY ? argument_of_entry(number, &found, why, size)
				  : argument_by_number(number, &found, why, size)))
		return false;
	found.type = argument->type.size ? argument->type : type;
	*ret_found = found;
	return true;
}

/* Returns the number of an argument's location, 0 if there are too many. */
static uint32_t number_of_location(struct argument_locations *locations,
				   const struct function_argument *argument)
{
	uint32_t location = 1;

	while (location <= locations->count &&
	       memcmp(&locations->item[location], argument, sizeof(*argument)) != 0)
		location++;
	if (location <= locations->count)
		return location;
	if (location == ARGUMENT_LOCATIONS_MAX ||
	    bpf_map_update_elem(locations->map, &location, argument, BPF_ANY))
		return 0;
	locations->item[location] = *argument;
	locations->count = location;
	return location;
}

uint32_t argument_locations_find(struct argument_locations *locations,
				 const struct function_config *block, const char *arguments,
				 char *why, size_t size)
{
	struct function_argument argument = { .source = FUNCTION_UNKNOWN };
	uint32_t number;

	if (!argument_of_marker(arguments, block->argument.number, &argument, why, size))
		return 0;
	if (block->argument.type.size)
		argument.type = block->argument.type;
	number = number_of_location(locations, &argument);
	if (!number)
		snprintf(why, size,
			 "the arguments of all Function blocks with markers are in too many "
			 "different locations; leave some out");
	return number;
}
