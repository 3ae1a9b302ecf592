/* SPDX-License-Identifier: MIT */
/*
 * The texts of a key's name: from its labels to a plugin instance and a part of a type instance.
 * Texts that only differ where receivers do not are told apart as names of services are, by a hash.
 */
#include "key_text.h"

#include "config/name.h"
#include "helper/file.h"
#include "schema/label_kind.h"

#include <stdio.h>
#include <string.h>

#define OTHER "other"
#define JOINED_MAX (LABELS_MAX * LABELS_TEXT_MAX)

static const struct label *subject_label(const struct labels *labels)
{
	return labels->subject < 0 ? NULL : &labels->label[labels->subject];
}

static bool is_of_service(const struct labels *labels)
{
	return subject_label(labels) && subject_label(labels)->kind == label_kind_service();
}

/* --- labels --- */

/* The limit to which parts have to be cut so that their total fits. Only parts longer than the
 * limit are cut, so a long part never shortens a short one. */
static size_t part_limit(const size_t *lengths, size_t count, size_t total)
{
	size_t most = total, sum;

	do {
		sum = 0;
		for (size_t i = 0; i < count; i++)
			sum += lengths[i] < most ? lengths[i] : most;
	} while (sum > total && most--);
	return most;
}

/* Writes the parts of `joined`, which hyphens separate, cut so that they have this length at most.
 * false: nothing was cut. */
static bool cut_parts(char *to, const char *joined, size_t length)
{
	size_t lengths[LABELS_MAX] = { 0 }, count = 0, most;
	const char *at = joined;

	for (; *at && count < LABELS_MAX; at += at[0] == '-') {
		lengths[count] = strcspn(at, "-");
		at += lengths[count++];
	}
	most = part_limit(lengths, count, length - (count ? count - 1 : 0));
	at = joined;
	for (size_t i = 0; i < count; at += lengths[i++] + 1)
		to += sprintf(to, "%s%.*s", i ? "-" : "",
			      (int)(lengths[i] < most ? lengths[i] : most), at);
	*to = '\0';
	return strlen(joined) > length;
}

/* Appends a part. Hyphens separate the parts of a type instance, so it must not contain any. */
static void add_part(char *to, const char *part)
{
	if (to[0])
		strcat(to, "-");
	for (to += strlen(to); *part; part++)
		*to++ = (char)(*part == '-' ? '_' : *part);
	*to = '\0';
}

/* Cleans a label's text for a name, and notes whether that changes what receivers have. */
static bool clean_label(struct key_name *name, char *to, size_t size, const char *text)
{
	bool fits = label_clean(to, size, text) < size;

	name->is_exact &= !strcmp(to, text) && !strchr(text, '.');
	return fits;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	return (hash ^ file_number(text)) * 0x100000001b3;
}

/* A changed name has digits of its next attempt. */
static void append_to_labels(struct key_name *name, const char *joined)
{
	cut_parts(name->labels, joined, sizeof(name->labels) - 1 - NAME_SUFFIX_LENGTH);
	name_append_hash(name->labels, sizeof(name->labels), name->labels_origin, ++name->attempt);
	name->has_labels_hash = true;
}

static void append_to_subject(struct key_name *name)
{
	name_append_hash(name->subject, sizeof(name->subject), name->subject_origin,
			 ++name->attempt);
	name->has_subject_hash = true;
}

/* A name that is cut has a hash. */
static void set_labels(struct key_name *name, const char *joined, bool is_whole)
{
	size_t most = sizeof(name->labels) - 1;

	if (!cut_parts(name->labels, joined, most) && is_whole)
		return;
	append_to_labels(name, joined);
}

/* False: a text is pending. */
static bool text_labels(const struct labels *labels, const unsigned char *key,
			struct key_name *name)
{
	char joined[JOINED_MAX] = "";
	bool is_whole = true;

	for (int i = 0; i < (int)labels->count; i++) {
		char text[DECODE_TEXT_MAX] = "", part[LABELS_TEXT_MAX];

		if (i == labels->subject || label_is_absent(&labels->label[i], key))
			continue;
		if (label_text(&labels->label[i], key, text) == NAME_PENDING)
			return false;
		is_whole &= clean_label(name, part, sizeof(part), text);
		name->is_exact &= !strchr(text, '-');
		name->labels_origin = hash_text(name->labels_origin, text);
		add_part(joined, part);
	}
	set_labels(name, joined, is_whole);
	return true;
}

/* --- the subject --- */

/* False: it is pending. */
static bool text_subject(const struct table *table, const struct snapshot *snapshot,
			 const struct key_entry *entry, int subject, struct key_name *name)
{
	const struct label *label = subject_label(&table->schema.labels);
	char text[DECODE_TEXT_MAX] = "";

	name->subject[0] = '\0';
	if (table->schema.subject.cpu)
		snprintf(name->subject, sizeof(name->subject), "cpu%d", entry->cpu);
	else if (subject >= 0)
		snprintf(name->subject, sizeof(name->subject), "%s",
			 snapshot->subjects.subject[subject].name);
	if (name->subject[0] || !label) {
		name->subject_origin = file_number(name->subject);
		return true;
	}
	if (label_text(label, entry->key, text) == NAME_PENDING)
		return false;
	name->subject_origin = file_number(text);
	if (!clean_label(name, name->subject, sizeof(name->subject), text))
		append_to_subject(name);
	return true;
}

/* --- choice --- */

/* NAME_FOUND: the key matches the Label lines of the Probe block, by its texts or by its name. */
static enum name_state choose_by_labels(const struct table *table, const struct key_entry *entry,
					const struct key_name *name)
{
	const struct labels *labels = &table->schema.labels;

	for (size_t i = 0; i < labels->count; i++) {
		const struct label *label = &labels->label[i];
		char text[DECODE_TEXT_MAX] = "", clean[SUBJECT_NAME_MAX];
		enum name_state state = NAME_FOUND;

		if (!table->keys.choice.globs[i] && !label->step_count)
			continue;
		if (label->kind == label_kind_service())
			snprintf(text, sizeof(text), "%s", name->subject);
		else
			state = label_text(label, entry->key, text);
		if (state != NAME_FOUND)
			return state;
		label_clean(clean, sizeof(clean), text);
		if (!label_choice_fits(&table->keys.choice, i, text) &&
		    !label_choice_fits(&table->keys.choice, i, clean))
			return NAME_NONE;
	}
	return NAME_FOUND;
}

enum name_state key_text(const struct table *table, const struct snapshot *snapshot,
			 const struct key_entry *entry, int subject, struct key_name *ret_name)
{
	struct key_name name = { .is_exact = true };
	enum name_state state;

	if (!text_subject(table, snapshot, entry, subject, &name))
		return NAME_PENDING;
	state = choose_by_labels(table, entry, &name);
	if (state != NAME_FOUND)
		return state;
	if (!text_labels(&table->schema.labels, entry->key, &name))
		return NAME_PENDING;
	*ret_name = name;
	return NAME_FOUND;
}

/* --- other names --- */

/* The label that names a function stays in the "other" name of the function's arguments. */
static bool keeps_first_label(const struct labels *labels)
{
	for (size_t i = 0; i < labels->count; i++)
		if (labels->label[i].kind == label_kind_function())
			return true;
	return false;
}

void key_text_other(const struct table *table, const struct key_name *name,
		    struct key_name *ret_other)
{
	const struct labels *labels = &table->schema.labels;
	struct key_name other = { .is_other = true, .group = name->group };
	const char *behind = strchr(name->labels, '-');
	char joined[JOINED_MAX] = "";

	if (!name->subject[0] || is_of_service(labels))
		memcpy(other.subject, name->subject, sizeof(other.subject));
	else
		strcpy(other.subject, OTHER);
	if (behind && keeps_first_label(labels))
		strncat(joined, name->labels, (size_t)(behind - name->labels));
	else if (name->labels[0])
		add_part(joined, OTHER);
	for (; behind; behind = strchr(behind + 1, '-'))
		add_part(joined, OTHER);
	cut_parts(other.labels, joined, sizeof(other.labels) - 1);
	other.subject_origin = file_number(other.subject);
	other.labels_origin = file_number(other.labels);
	*ret_other = other;
}

/* --- alike --- */

bool key_text_is_same(const struct key_name *a, const struct key_name *b)
{
	return a->is_other == b->is_other && name_is_same(a->subject, b->subject) &&
	       name_is_same(a->labels, b->labels);
}

static void drop_hash(char *text, bool has_hash)
{
	if (has_hash)
		text[strlen(text) - NAME_SUFFIX_LENGTH] = '\0';
}

/* All series of a device keep one subject, which is changed if that tells the names apart. */
void key_text_distinguish(struct key_name *name, const struct key_name *other)
{
	char joined[LABELS_TEXT_MAX];

	if (name->subject_origin != other->subject_origin) {
		drop_hash(name->subject, name->has_subject_hash);
		append_to_subject(name);
		return;
	}
	drop_hash(name->labels, name->has_labels_hash);
	memcpy(joined, name->labels, sizeof(joined));
	append_to_labels(name, joined);
}
