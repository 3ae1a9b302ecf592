/* SPDX-License-Identifier: MIT */
/*
 * Parameters of an object: `const volatile` variables that a Probe block sets before load. The
 * verifier knows their values, so code that they switch off is removed and costs nothing.
 */
#include "parameter.h"

#include "annotation.h"

#include <bpf/btf.h>
#include <stdio.h>
#include <string.h>

#define RANGE_TAG "range:"
#define SECTION ".rodata" /* and .rodata.NAME */
#define MODIFIERS_MAX 32

/* The engine sets these in every object, see collectd-ebpf-objects(7). */
static const char *const SET_BY_ENGINE[] = { "service_rows", "process_rows_max", "cpus_possible",
					     "page_size",    "tick_ns_max",      "watch_other",
					     "shards",       "slots_max",        "slots_reserved",
					     "slots_open",   "configured_end" };

struct variable {
	const char *name;
	const struct btf_type *type; /* without modifiers */
	uint32_t size;               /* bytes */
	bool is_constant;            /* const volatile; can be set before load */
};

/* Resolves modifiers and typedefs. A constant that is not volatile cannot be set: the compiler has
 * put its value into the code. */
static void resolve_variable(const struct btf *btf, uint32_t id, bool is_read_only,
			     struct variable *variable)
{
	const struct btf_type *type = btf__type_by_id(btf, id);
	bool is_volatile = false;

	for (int i = 0; type && i < MODIFIERS_MAX; i++) {
		if (!btf_is_mod(type) && !btf_is_typedef(type))
			break;
		is_volatile |= btf_is_volatile(type);
		type = btf__type_by_id(btf, type->type);
	}
	variable->type = type;
	variable->is_constant = is_read_only && is_volatile;
}

/* Calls is_it for the object's variables until it returns true. Returns whether it did. */
static bool each_variable(const struct object *object,
			  bool (*is_it)(void *with, const struct variable *variable), void *with)
{
	const struct btf *btf = bpf_object__btf(object->bpf);
	uint32_t count = btf__type_cnt(btf);

	for (uint32_t id = 1; id < count; id++) {
		const struct btf_type *section = btf__type_by_id(btf, id);
		const struct btf_var_secinfo *info;
		bool is_read_only;

		if (!btf_is_datasec(section))
			continue;
		info = btf_var_secinfos(section);
		is_read_only =
			!strncmp(annotation_name(btf, section->name_off), SECTION, strlen(SECTION));
		for (int i = 0; i < btf_vlen(section); i++, info++) {
			const struct btf_type *var = btf__type_by_id(btf, info->type);
			struct variable variable = { .size = info->size };

			if (!var || !btf_is_var(var))
				continue;
			variable.name = annotation_name(btf, var->name_off);
			resolve_variable(btf, var->type, is_read_only, &variable);
			if (variable.type && is_it(with, &variable))
				return true;
		}
	}
	return false;
}

static bool is_set_by_engine(const char *name)
{
	for (size_t i = 0; i < sizeof(SET_BY_ENGINE) / sizeof(*SET_BY_ENGINE); i++)
		if (!strcmp(SET_BY_ENGINE[i], name))
			return true;
	return false;
}

static bool is_option_variable(const char *name)
{
	return !strncmp(name, "option_", 7);
}

static bool is_bool(const struct btf_type *type)
{
	return btf_is_int(type) && btf_int_encoding(type) & BTF_INT_BOOL;
}

static bool is_integer(const struct variable *variable)
{
	uint32_t size = variable->size;

	return (btf_is_int(variable->type) || btf_is_any_enum(variable->type)) &&
	       variable->type->size == size && (size == 1 || size == 2 || size == 4 || size == 8);
}

static bool is_parameter(const struct variable *variable)
{
	return variable->is_constant && is_integer(variable) && !is_set_by_engine(variable->name) &&
	       !is_option_variable(variable->name);
}

static const char *type_words(const struct btf_type *type)
{
	switch (btf_kind(type)) {
	case BTF_KIND_ARRAY:
		return "an array";
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return "a struct or union";
	case BTF_KIND_PTR:
		return "a pointer";
	case BTF_KIND_FLOAT:
		return "a floating point number";
	case BTF_KIND_INT:
		return "an integer of more than 8 bytes";
	default:
		return "of another type";
	}
}

struct value_range {
	struct number low, high;
};

bool parameter_range(const char *text, struct number *ret_low, struct number *ret_high)
{
	struct number low, high;
	const char *end;

	if (!number_parse(text, &low, &end) || strncmp(end, "..", 2) != 0 ||
	    !number_parse(end + 2, &high, &end) || *end || number_compare(low, high) > 0)
		return false;
	*ret_low = low;
	*ret_high = high;
	return true;
}

/* The range of its type, or the narrower one of a RANGE tag. */
static bool range_of(const struct object *object, const struct variable *variable,
		     struct value_range *ret_range, char *why, size_t size)
{
	const struct btf_type *type = variable->type;
	bool is_signed =
		btf_is_int(type) ? btf_int_encoding(type) & BTF_INT_SIGNED : btf_kflag(type);
	const char *text = annotation_of_variable(object->bpf, variable->name, RANGE_TAG);
	struct value_range range = { number_least(variable->size, is_signed),
				     number_greatest(variable->size, is_signed) };
	struct value_range own = range;

	if (is_bool(type))
		range = own = (struct value_range){ .high.magnitude = 1 };
	if (text &&
	    (!parameter_range(text, &own.low, &own.high) ||
	     number_compare(own.low, range.low) < 0 || number_compare(own.high, range.high) > 0)) {
		snprintf(why, size,
			 "its RANGE, \"%.60s\", is not LOW..HIGH within its type; the object has "
			 "to be changed",
			 text);
		return false;
	}
	*ret_range = own;
	return true;
}

static bool value_fits(const struct object *object, const struct variable *variable,
		       const struct parameter_config *parameter, char *why, size_t size)
{
	char low[NUMBER_TEXT_MAX], high[NUMBER_TEXT_MAX];
	struct value_range range;
	bool is_inside;

	if (!range_of(object, variable, &range, why, size))
		return false;
	is_inside = number_compare(parameter->value, range.low) >= 0 &&
		    number_compare(parameter->value, range.high) <= 0;
	if (is_bool(variable->type)) {
		snprintf(why, size, "it takes true or false");
		return is_inside;
	}
	snprintf(why, size, "it takes a whole number from %s to %s", number_text(range.low, low),
		 number_text(range.high, high));
	return is_inside && !parameter->is_boolean;
}

static bool can_set(const struct object *object, const struct variable *variable,
		    const struct parameter_config *parameter, char *why, size_t size)
{
	if (is_set_by_engine(variable->name))
		snprintf(why, size, "the plugin itself sets it");
	else if (is_option_variable(variable->name))
		snprintf(why, size, "use Option \"%s\"", variable->name + 7);
	else if (!is_integer(variable))
		snprintf(why, size, "it is %s, and only integers and bools can be set",
			 type_words(variable->type));
	else if (!variable->is_constant)
		snprintf(why, size, "it is not const volatile");
	else
		return value_fits(object, variable, parameter, why, size);
	return false;
}

struct named_variable {
	const char *name;
	struct variable variable;
};

static bool match_name(void *with, const struct variable *variable)
{
	struct named_variable *wanted = with;

	if (strcmp(variable->name, wanted->name) != 0)
		return false;
	wanted->variable = *variable;
	return true;
}

struct list {
	char text[1024];
	size_t length;
};

static bool add_to_list(void *with, const struct variable *variable)
{
	struct list *list = with;
	size_t room = sizeof(list->text) - list->length;
	int more;

	if (!is_parameter(variable))
		return false;
	more = snprintf(list->text + list->length, room, "%s\"%.60s\"", list->length ? ", " : "",
			variable->name);
	list->length += (size_t)more < room ? (size_t)more : room - 1;
	return false;
}

/* Returns the parameter's address, or NULL, and why. */
static void *find_parameter(const struct object *object, const struct parameter_config *parameter,
			    size_t *ret_size, char *why, size_t size)
{
	struct named_variable wanted = { .name = parameter->name };
	struct list list = { .length = 0 };
	void *at;

	if (!each_variable(object, match_name, &wanted)) {
		each_variable(object, add_to_list, &list);
		snprintf(why, size, "it has %s", list.length ? list.text : "no parameters");
		return NULL;
	}
	if (!can_set(object, &wanted.variable, parameter, why, size))
		return NULL;
	at = object_variable(object, parameter->name, wanted.variable.size);
	if (!at)
		snprintf(why, size, "it is not where its BTF says");
	*ret_size = wanted.variable.size;
	return at;
}

void parameters_check(const struct object *object, const char *probe,
		      const struct probe_config *block)
{
	for (size_t i = 0; block && i < block->parameter_count; i++) {
		const struct parameter_config *parameter = &block->parameters[i];
		char why[1100], text[NUMBER_TEXT_MAX];
		size_t size;

		if (find_parameter(object, parameter, &size, why, sizeof(why)))
			continue;
		message(LOG_ERR, "probe %s: ignoring Parameter \"%s\" %s: %s", probe,
			parameter->name,
			parameter->is_boolean ? parameter->value.magnitude ? "true" : "false"
					      : number_text(parameter->value, text),
			why);
	}
}

void parameters_set(struct object *object, const struct probe_config *block)
{
	for (size_t i = 0; i < block->parameter_count; i++) {
		struct number value = block->parameters[i].value;
		uint64_t bits = value.negative ? -value.magnitude : value.magnitude;
		size_t size = 0;
		char why[1100];
		void *at = find_parameter(object, &block->parameters[i], &size, why, sizeof(why));

		/* libbpf refuses objects of the other byte order. */
		if (at)
			memcpy(at,
			       (char *)&bits + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
							? sizeof(bits) - size
							: 0),
			       size);
	}
}
