/* SPDX-License-Identifier: MIT */
/*
 * The names that keys have in series, and which names have series: a limited number at once, and a
 * limited number of new ones an hour. A name loses its series to another whose score has become
 * more than twice its own. Names without series are summed in the series "other" of their subject.
 * Names of different functions do not compete: the values of an argument take series only from
 * other values of the same function, and the name of a function without an argument always has
 * series.
 */
#include "key_name.h"

#include "config/name.h"
#include "schema/label_kind.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OTHER "other"
#define ABSENT_READINGS 10    /* without the key, until its name is no longer dispatched */
#define FORGOTTEN_READINGS 13 /* without the key, until receivers have forgotten the name, too */
#define STAY_READINGS 10      /* that a name has series at least */
#define CHANGES_MAX 16        /* of a reading */

static const struct labels *labels_of(const struct table *table)
{
	return &table->schema.labels;
}

static bool is_of_service(const struct labels *labels)
{
	return labels->subject >= 0 && labels->label[labels->subject].kind == label_kind_service();
}

/* --- texts --- */

/* Hyphens separate the parts of a type instance, so a part must not contain any. */
static void add_name_part(char *to, size_t room, const char *part)
{
	size_t length = strlen(to);

	if (length)
		to[length++] = '-';
	snprintf(to + length, room + 1, "%s", part);
	for (; to[length]; length++)
		if (to[length] == '-')
			to[length] = '_';
}

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

/* The parts of a type instance, cut so that their total fits. */
static void join_parts(char parts[][LABELS_TEXT_MAX], size_t count, char *to)
{
	size_t lengths[LABELS_MAX], most;

	for (size_t i = 0; i < count; i++)
		lengths[i] = strlen(parts[i]);
	most = part_limit(lengths, count, LABELS_TEXT_MAX - (count ? count : 1));
	to[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		char part[LABELS_TEXT_MAX];

		name_clean(part, most + 1, parts[i]);
		add_name_part(to, most, part);
	}
}

/* False: a name is pending. */
static bool name_labels(const struct labels *labels, const unsigned char *key, char *to)
{
	char parts[LABELS_MAX][LABELS_TEXT_MAX] = { "" };
	size_t count = 0;

	for (int i = 0; i < (int)labels->count; i++) {
		const struct label *label = &labels->label[i];

		if (i == labels->subject || label_is_absent(label, key))
			continue;
		if (label_name(label, key, parts[count++], LABELS_TEXT_MAX) == NAME_PENDING)
			return false;
	}
	join_parts(parts, count, to);
	return true;
}

/* Did the program itself use this key for what found no room for a key of its own? */
static bool is_other_key(const struct labels *labels, const unsigned char *key)
{
	for (int i = 0; i < (int)labels->count; i++)
		if (i != labels->subject && label_is_other(&labels->label[i], key))
			return true;
	return false;
}

/* False: it is pending. */
static bool name_key_subject(const struct table *table, const struct snapshot *snapshot,
			     const struct key_entry *entry, int subject, char *to)
{
	const struct labels *labels = labels_of(table);

	to[0] = '\0';
	if (table->schema.subject.cpu)
		snprintf(to, SUBJECT_NAME_MAX, "cpu%d", entry->cpu);
	else if (subject >= 0)
		snprintf(to, SUBJECT_NAME_MAX, "%s", snapshot->subjects.subject[subject].name);
	else if (labels->subject >= 0)
		return label_name(&labels->label[labels->subject], entry->key, to,
				  SUBJECT_NAME_MAX) != NAME_PENDING;
	return true;
}

/* NAME_FOUND: the key matches the Label lines of the Probe block. */
static enum name_state choose_by_labels(const struct table *table, const struct snapshot *snapshot,
					const struct key_entry *entry, int subject)
{
	const struct labels *labels = labels_of(table);

	for (size_t i = 0; i < labels->count; i++) {
		enum name_state state = NAME_FOUND;
		char name[SUBJECT_NAME_MAX];

		if (!table->keys.choice.globs[i] && !labels->label[i].step_count)
			continue;
		if (labels->label[i].kind == label_kind_service())
			name_key_subject(table, snapshot, entry, subject, name);
		else
			state = label_name(&labels->label[i], entry->key, name, sizeof(name));
		if (state != NAME_FOUND)
			return state;
		if (!label_choice_fits(&table->keys.choice, i, name))
			return NAME_NONE;
	}
	return NAME_FOUND;
}

/* --- groups --- */

/* The label that names a function. Its name stays in the series "other" of the function's
 * arguments. NULL: there is none. */
static const struct label *function_label(const struct labels *labels)
{
	for (size_t i = 0; i < labels->count; i++)
		if (labels->label[i].kind == label_kind_function())
			return &labels->label[i];
	return NULL;
}

size_t key_groups(const struct table *table)
{
	const struct label *label = function_label(labels_of(table));

	return label && label->enumerator_count ? label->enumerator_count : 1;
}

const char *key_group_name(const struct table *table, size_t group)
{
	const struct label *label = function_label(labels_of(table));

	return label && group < label->enumerator_count ? label->enumerators[group].name : NULL;
}

static uint32_t group_of_key(const struct table *table, const unsigned char *key)
{
	const struct label *label = function_label(labels_of(table));
	uint64_t number = label ? label_value(label, key) : 0;

	return number < table->keys.group_count ? (uint32_t)number : 0;
}

/* --- finding --- */

static uint64_t hash_name(const struct keys *keys, const struct key_name *name)
{
	uint64_t hash = index_hash(&keys->by_name, name->is_other, name->subject,
				   strlen(name->subject) + 1);

	return index_hash(&keys->by_name, hash, name->labels, strlen(name->labels));
}

static bool is_same_name(const void *of, uint32_t number, const void *wanted)
{
	const struct key_name *a = &((const struct keys *)of)->name[number], *b = wanted;

	return a->generation && a->is_other == b->is_other && !strcmp(a->subject, b->subject) &&
	       !strcmp(a->labels, b->labels);
}

/* A quarter of the names is reserved for "other" ones, of which each service has one at most. */
static uint32_t find_free_name(struct keys *keys, bool is_other)
{
	size_t most = is_other ? keys->name_max : keys->name_max - keys->name_max / 4;
	struct key_name *grown;

	if (keys->name_count - keys->name_free >= most)
		return INDEX_NONE;

	for (uint32_t i = 0; i < keys->name_count && keys->name_free; i++)
		if (!keys->name[i].generation) {
			keys->name_free--;
			return i;
		}
	grown = reallocarray(keys->name, keys->name_count + 1, sizeof(*grown));
	if (!grown)
		return INDEX_NONE;
	keys->name = grown;
	return (uint32_t)keys->name_count++;
}

/* Changes the number of names with series by 1 or -1. */
static void count_shown(struct keys *keys, const struct key_name *name, int change_series)
{
	keys->shown += (uint32_t)change_series;
	if (!name->is_always_shown)
		keys->groups[name->group].shown += (uint32_t)change_series;
}

static void give_series(struct keys *keys, struct key_name *name)
{
	if (!name->was_shown && !name->is_always_shown)
		allowance_use(&keys->groups[name->group].new_series);
	count_shown(keys, name, 1);
	name->is_shown = name->was_shown = true;
	name->shown_at = keys->readings;
}

static void withdraw_series(struct keys *keys, struct key_name *name)
{
	count_shown(keys, name, -1);
	name->is_shown = false;
}

static bool may_have_series(const struct keys *keys, const struct key_name *name)
{
	return name->was_shown || name->is_always_shown ||
	       keys->groups[name->group].new_series.left >= 1;
}

static bool has_series_room(const struct keys *keys, const struct key_name *name)
{
	return name->is_always_shown || keys->groups[name->group].shown < keys->shown_max;
}

/* Finds a name, or adds it. Returns its number; INDEX_NONE: there is no room. */
static uint32_t enter_name(struct keys *keys, const struct key_name *name)
{
	uint64_t hash = hash_name(keys, name);
	uint32_t number = index_find(&keys->by_name, hash, is_same_name, keys, name);

	if (number != INDEX_NONE)
		return number;
	number = find_free_name(keys, name->is_other);
	if (number == INDEX_NONE)
		return number;
	keys->name[number] = *name;
	keys->name[number].generation = ++keys->generation;
	keys->name[number].seen = keys->readings;
	index_add(&keys->by_name, hash, number);
	if (!name->is_other && has_series_room(keys, name) && may_have_series(keys, name))
		give_series(keys, &keys->name[number]);
	return number;
}

/* The number of the "other" name that counts for a name without series. */
static uint32_t other_name_of(struct table *table, const struct key_name *name)
{
	const struct labels *labels = labels_of(table);
	struct key_name other = { .is_other = true };
	const char *behind = strchr(name->labels, '-');

	if (!name->subject[0] || is_of_service(labels))
		memcpy(other.subject, name->subject, sizeof(other.subject));
	else
		strcpy(other.subject, OTHER);
	if (behind && function_label(labels))
		add_name_part(other.labels, (size_t)(behind - name->labels), name->labels);
	else if (name->labels[0])
		add_name_part(other.labels, sizeof(OTHER), OTHER);
	for (; behind; behind = strchr(behind + 1, '-'))
		add_name_part(other.labels, sizeof(OTHER), OTHER);
	other.group = name->group;
	table->keys.groups[name->group].has_other = true;
	return enter_name(&table->keys, &other);
}

enum name_state key_name_of(struct table *table, const struct snapshot *snapshot,
			    const struct key_entry *entry, int subject, uint32_t *ret_number)
{
	enum name_state state = choose_by_labels(table, snapshot, entry, subject);
	struct key_name name = { 0 };
	uint32_t number = INDEX_NONE;

	if (state != NAME_FOUND)
		return state;
	if (!name_key_subject(table, snapshot, entry, subject, name.subject) ||
	    !name_labels(labels_of(table), entry->key, name.labels))
		return NAME_PENDING;
	name.group = group_of_key(table, entry->key);
	name.is_always_shown = function_label(labels_of(table)) && !strchr(name.labels, '-');
	if (!is_other_key(labels_of(table), entry->key))
		number = enter_name(&table->keys, &name);
	*ret_number = number == INDEX_NONE ? other_name_of(table, &name) : number;
	return NAME_FOUND;
}

uint32_t key_name_counted(struct table *table, uint32_t number)
{
	const struct key_name name = table->keys.name[number];

	return name.is_shown || name.is_other ? number : other_name_of(table, &name);
}

/* --- choosing --- */

static void drop_name(struct table *table, uint32_t i)
{
	struct keys *keys = &table->keys;

	keys->name[i] = (struct key_name){ 0 };
	keys->name_free++;
	if (i < table->accumulators.count)
		accumulators_forget(&table->accumulators, i);
}

/* Forgets names that have had no key for long, and indexes all others. */
static void age_names(struct table *table)
{
	struct keys *keys = &table->keys;

	index_clear(&keys->by_name);
	for (uint32_t i = 0; i < keys->name_count; i++) {
		struct key_name *name = &keys->name[i];
		uint64_t absent = keys->readings - name->seen;

		if (!name->generation)
			continue;
		if (name->is_shown && absent > ABSENT_READINGS)
			withdraw_series(keys, name);
		else if (name->is_always_shown && !name->is_shown && absent == 0)
			give_series(keys, name);
		if (absent > (name->was_shown || name->is_other ? FORGOTTEN_READINGS : 1)) {
			drop_name(table, i);
			continue;
		}
		index_add(&keys->by_name, hash_name(keys, name), i);
		name->score = 0.75 * name->score + 0.25 * (double)name->growth;
		name->growth = 0;
	}
}

/* The name without series that has the highest score; NULL: none. */
static struct key_name *find_best_name(const struct keys *keys)
{
	struct key_name *best = NULL;

	for (struct key_name *name = keys->name; name < keys->name + keys->name_count; name++)
		if (name->generation && !name->is_other && !name->is_shown && name->score > 0 &&
		    !keys->groups[name->group].is_settled && may_have_series(keys, name) &&
		    (!best || name->score > best->score))
			best = name;
	return best;
}

/* The name with series in this group that has the lowest score, and has had its series for
 * STAY_READINGS; NULL: none. */
static struct key_name *find_worst_name(const struct keys *keys, uint32_t group)
{
	struct key_name *worst = NULL;

	for (struct key_name *name = keys->name; name < keys->name + keys->name_count; name++)
		if (name->generation && name->is_shown && !name->is_always_shown &&
		    name->group == group && keys->readings - name->shown_at >= STAY_READINGS &&
		    (!worst || name->score < worst->score))
			worst = name;
	return worst;
}

/* Is there a series for this name, or can one be taken from another name? */
static bool make_series_room(struct keys *keys, const struct key_name *name)
{
	struct key_name *worst;

	if (has_series_room(keys, name))
		return true;
	worst = find_worst_name(keys, name->group);
	if (!worst || name->score <= 2 * worst->score)
		return false;
	withdraw_series(keys, worst);
	return true;
}

/* Gives series to the names with the highest scores, up to this number of changes. */
static void change_series(struct keys *keys, int most)
{
	struct key_name *best;

	for (size_t i = 0; i < keys->group_count; i++)
		keys->groups[i].is_settled = false;
	while (most > 0 && (best = find_best_name(keys)) != NULL) {
		if (make_series_room(keys, best)) {
			give_series(keys, best);
			most--;
		} else {
			keys->groups[best->group].is_settled = true;
		}
	}
}

static void count_others(struct keys *keys)
{
	keys->other = 0;
	for (size_t i = 0; i < keys->name_count; i++)
		keys->other += keys->name[i].generation && !keys->name[i].is_other &&
			       !keys->name[i].is_shown;
	keys->other_percent =
		keys->growth ? 100.0 * (double)keys->growth_other / (double)keys->growth : NAN;
	keys->growth = keys->growth_other = 0;
}

/* A name that has counted something is dispatched as long as its key exists. */
static void keep_dispatched(struct table *table)
{
	for (size_t i = 0; i < table->accumulators.count && i < table->keys.name_count; i++) {
		const struct key_name *name = &table->keys.name[i];
		struct accumulator *accumulator = &table->accumulators.accumulator[i];

		accumulator->fed = accumulator->total && accumulator->counted &&
				   accumulator->generation == name->generation &&
				   (name->is_shown || name->is_other);
	}
}

void key_names_choose(struct table *table, uint64_t now_ns)
{
	struct keys *keys = &table->keys;

	age_names(table);
	keep_dispatched(table);
	for (size_t i = 0; i < keys->group_count; i++)
		allowance_fill(&keys->groups[i].new_series, now_ns);
	change_series(keys, CHANGES_MAX);
	count_others(keys);
}
