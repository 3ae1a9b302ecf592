/* SPDX-License-Identifier: MIT */
/*
 * Reads the labels of a key: their values, their names, and which of them are part of the type
 * instance.
 */
#include "label.h"

#include "config/config.h"
#include "config/name.h"
#include "label_kind.h"

#include <errno.h>
#include <linux/major.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

void labels_use_names(struct labels *labels, const struct label_names *names)
{
	for (size_t i = 0; i < labels->count; i++) {
		struct label *label = &labels->label[i];

		if (label->kind->table)
			names->want(names->tables, label->kind->table);
		label->names = names;
	}
}

/* The bytes of a key need not be aligned. */
uint64_t label_value(const struct label *label, const unsigned char *key)
{
	bool is_big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != label->is_swapped;
	unsigned shift = 64 - 8 * label->size;
	uint64_t value = 0;

	for (uint32_t i = 0; i < label->size; i++) {
		uint64_t byte = key[label->offset + i];

		value |= byte << 8 * (is_big ? label->size - 1 - i : i);
	}
	return label->is_signed ? (uint64_t)((int64_t)(value << shift) >> shift) : value;
}

static enum name_state find_in_names(const struct label *label, uint64_t value, char *to,
				     size_t size)
{
	if (!label->names || !label->kind->table)
		return NAME_NONE;
	return label->names->find(label->names->tables, label->kind->table, value, to, size);
}

/* A text that a table does not know is its own name. */
static enum name_state name_text(const struct label *label, const unsigned char *bytes, char *to,
				 size_t size)
{
	char text[DECODE_TEXT_MAX];
	enum name_state state;

	label->kind->name_bytes(label, bytes, to, size);
	if (!label->names || !label->kind->table)
		return NAME_FOUND;
	snprintf(text, sizeof(text), "%s", to);
	state = label->names->find_text(label->names->tables, label->kind->table, text, to, size);
	return state == NAME_NONE ? NAME_FOUND : state;
}

/* A value that a table does not know, too, has a name, with its number. */
static enum name_state name_value(const struct label *label, uint64_t value, char *to, size_t size)
{
	enum name_state state = find_in_names(label, value, to, size);

	if (state != NAME_NONE)
		return state;
	label->kind->name(label, value, to, size);
	return NAME_FOUND;
}

enum name_state label_text(const struct label *label, const unsigned char *key,
			   char text[DECODE_TEXT_MAX])
{
	enum name_state state;

	if (label->is_text || !label->kind->name)
		state = name_text(label, key + label->offset, text, DECODE_TEXT_MAX);
	else
		state = name_value(label, label_value(label, key), text, DECODE_TEXT_MAX);
	if (state == NAME_PENDING)
		return NAME_PENDING;
	for (size_t i = 0; i < label->step_count; i++)
		if (!decode_apply(&label->step[i], text))
			return NAME_NONE;
	return NAME_FOUND;
}

/* The names of the plugin's own series and of "other" are reserved: a label with such a name gets
 * an underscore. */
size_t label_clean(char *to, size_t size, const char *text)
{
	size_t length = name_clean(to, size - 1, text);

	if (!name_is_reserved(to))
		return length;
	strcat(to, "_");
	return length + 1;
}

uint64_t labels_generation(const struct labels *labels)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < labels->count; i++) {
		const struct label *label = &labels->label[i];

		if (label->names && label->kind->table)
			sum += label->names->generation(label->names->tables, label->kind->table);
	}
	return sum;
}

const char *label_word(const struct label *label)
{
	return label->name[0] ? label->name : label->kind->word;
}

bool labels_are_configured(const struct labels *labels)
{
	bool found = false;

	for (size_t i = 0; i < labels->count; i++)
		found |= labels->label[i].kind->is_configured;
	return found && labels_in_instance(labels) == 1;
}

bool labels_are_of_cpus(const struct labels *labels)
{
	return labels->count == 1 && labels->label[0].kind == label_kind_cpu();
}

bool label_is_absent(const struct label *label, const unsigned char *key)
{
	return label->kind->is_optional && key[label->offset] == ARGUMENT_NONE;
}

bool label_is_other(const struct label *label, const unsigned char *key)
{
	char other = label->kind->is_optional ? ARGUMENT_OTHER : '\0';

	/* Objects without tags do not know this convention: in their keys, an empty text is a value
	 * like any other. */
	return label->is_text && !label->kind->is_raw && !label->name[0] &&
	       key[label->offset] == other;
}

static bool is_virtual_disk_name(const char *name)
{
	static const char *const prefixes[] = { "loop", "ram", "zram" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		size_t length = strlen(prefixes[i]);

		if (!strncmp(name, prefixes[i], length) && name[length] >= '0' &&
		    name[length] <= '9')
			return true;
	}
	return false;
}

bool label_is_virtual_disk(const struct label *label, const unsigned char *key)
{
	enum label_table table = label->kind->table;
	uint64_t number;
	char name[DECODE_TEXT_MAX];

	if (table != LABEL_TABLE_DEVICES && table != LABEL_TABLE_STAT_DEVICES)
		return false;
	if (label->is_text) {
		label->kind->name_bytes(label, key + label->offset, name, sizeof(name));
		return is_virtual_disk_name(name);
	}
	number = label_value(label, key);
	number = table == LABEL_TABLE_DEVICES ? number >> DEVICE_MINOR_BITS : major(number);
	return number == LOOP_MAJOR || number == RAMDISK_MAJOR;
}

int labels_name_functions(struct labels *labels, const struct function_config *functions,
			  size_t count)
{
	for (size_t i = 0; i < labels->count; i++) {
		struct label *label = &labels->label[i];

		if (label->kind != label_kind_function())
			continue;
		label->enumerators = calloc(count + 1, sizeof(*label->enumerators));
		if (!label->enumerators)
			return -ENOMEM;
		label->enumerator_count = count;
		for (size_t k = 0; k < count; k++) {
			label->enumerators[k].value = k;
			snprintf(label->enumerators[k].name, sizeof(label->enumerators[k].name),
				 "%s", functions[k].name);
		}
	}
	return 0;
}

size_t labels_in_instance(const struct labels *labels)
{
	return labels->count ? labels->count - (labels->subject >= 0) : 0;
}

void label_done(struct label *label)
{
	free(label->enumerators);
	for (size_t i = 0; i < label->step_count; i++)
		decode_done(&label->step[i]);
	free(label->step);
}

void labels_done(struct labels *labels)
{
	for (size_t i = 0; i < labels->count; i++)
		label_done(&labels->label[i]);
	*labels = (struct labels){ 0 };
}
