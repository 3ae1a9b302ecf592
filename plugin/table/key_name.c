/* SPDX-License-Identifier: MIT */
/*
 * The names that keys have in series, and which names have series: a limited number at once, and a
 * limited number of new ones an hour. A name loses its series to another whose score has become
 * more than twice its own. Names without series are summed in the series "other" of their subject.
 * Names of different functions do not compete: the values of an argument take series only from
 * other values of the same function, and the name of a function without an argument always has
 * series. Nor do disks compete with loop, RAM and zram devices. Where receivers would take two names
 * for one, the name that they have unchanged keeps it, so that all tables agree; else the older one
 * does.
 */
#include "key_name.h"

#include "config/name.h"
#include "key_text.h"
#include "schema/label_kind.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ABSENT_READINGS 10    /* without the key, until its name is no longer dispatched */
#define FORGOTTEN_READINGS 13 /* without the key, until receivers have forgotten the name, too */
#define STAY_READINGS 10      /* that a name has series at least */
#define CHANGES_MAX 16        /* of a reading */

static const struct labels *labels_of(const struct table *table)
{
	return &table->schema.labels;
}

/* Did the program itself use this key for what found no room for a key of its own? */
static bool is_other_key(const struct labels *labels, const unsigned char *key)
{
	for (int i = 0; i < (int)labels->count; i++)
		if (i != labels->subject && label_is_other(&labels->label[i], key))
			return true;
	return false;
}

/* --- groups --- */

/* Groups of a table without functions. */
enum { GROUP_COMMON, GROUP_VIRTUAL_DISKS, GROUP_COUNT };

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

	return label && label->enumerator_count ? label->enumerator_count : GROUP_COUNT;
}

const char *key_group_name(const struct table *table, size_t group)
{
	const struct label *label = function_label(labels_of(table));

	return label && group < label->enumerator_count ? label->enumerators[group].name : NULL;
}

static uint32_t group_of_key(const struct table *table, const unsigned char *key)
{
	const struct labels *labels = labels_of(table);
	const struct label *label = function_label(labels);
	uint64_t number = label ? label_value(label, key) : 0;

	for (size_t i = 0; i < labels->count && !label; i++)
		if (label_is_virtual_disk(&labels->label[i], key))
			return GROUP_VIRTUAL_DISKS;
	return number < table->keys.group_count ? (uint32_t)number : 0;
}

/* --- finding --- */

static uint64_t hash_origin(const struct keys *keys, const struct key_name *name)
{
	uint64_t hash = index_hash(&keys->by_origin, name->is_other, &name->subject_origin,
				   sizeof(name->subject_origin));

	return index_hash(&keys->by_origin, hash, &name->labels_origin,
			  sizeof(name->labels_origin));
}

static bool has_same_origin(const void *of, uint32_t number, const void *wanted)
{
	const struct key_name *a = &((const struct keys *)of)->name[number], *b = wanted;

	return a->generation && a->is_other == b->is_other &&
	       a->subject_origin == b->subject_origin && a->labels_origin == b->labels_origin;
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

/* Another name that has or had series, and that a receiver would take for this one; NULL: there is none. */
static struct key_name *find_alike(struct keys *keys, const struct key_name *name)
{
	for (struct key_name *other = keys->name; other < keys->name + keys->name_count; other++)
		if (other != name && other->generation && other->was_shown &&
		    key_text_is_same(other, name))
			return other;
	return NULL;
}

static void write_alike(char to[KEY_NAME_TEXT_MAX], const struct key_name *name)
{
	snprintf(to, KEY_NAME_TEXT_MAX, "%s%s%s", name->subject,
		 name->subject[0] && name->labels[0] ? "/" : "", name->labels);
}

/* Changes one of two names, if another is like this new one. */
static void distinguish_name(struct keys *keys, struct key_name *new)
{
	struct key_name *other = find_alike(keys, new), *changed = new;

	if (!other)
		return;
	if (!keys->is_any_alike)
		write_alike(keys->alike[0], new);
	if (new->is_exact && !other->is_exact) {
		changed = other;
		other = new;
	}
	for (; other; other = find_alike(keys, changed))
		key_text_distinguish(changed, other);
	if (!keys->is_any_alike)
		write_alike(keys->alike[1], changed);
	keys->is_any_alike = true;
}

static void give_series(struct keys *keys, struct key_name *name)
{
	if (!name->was_shown)
		distinguish_name(keys, name);
	if (!name->was_shown && !name->is_always_shown)
		allowance_use(&keys->groups[name->group].new_series);
	count_shown(keys, name, 1);
	name->is_shown = name->was_shown = true;
	name->shown_at = (uint32_t)keys->readings;
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
	uint64_t hash = hash_origin(keys, name);
	uint32_t number = index_find(&keys->by_origin, hash, has_same_origin, keys, name);

	if (number != INDEX_NONE)
		return number;
	number = find_free_name(keys, name->is_other);
	if (number == INDEX_NONE)
		return number;
	keys->name[number] = *name;
	keys->name[number].generation = ++keys->generation;
	keys->name[number].seen = (uint32_t)keys->readings;
	index_add(&keys->by_origin, hash, number);
	if (!name->is_other && has_series_room(keys, name) && may_have_series(keys, name))
		give_series(keys, &keys->name[number]);
	return number;
}

/* The number of the "other" name that counts for a name without series. */
static uint32_t other_name_of(struct table *table, const struct key_name *name)
{
	struct key_name other;

	key_text_other(table, name, &other);
	table->keys.groups[name->group].has_other = true;
	return enter_name(&table->keys, &other);
}

enum name_state key_name_of(struct table *table, const struct snapshot *snapshot,
			    const struct key_entry *entry, int subject, uint32_t *ret_number)
{
	struct key_name name = { 0 };
	enum name_state state = key_text(table, snapshot, entry, subject, &name);
	uint32_t number = INDEX_NONE;

	if (state != NAME_FOUND)
		return state;
	name.group = (uint16_t)group_of_key(table, entry->key);
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

	index_clear(&keys->by_origin);
	for (uint32_t i = 0; i < keys->name_count; i++) {
		struct key_name *name = &keys->name[i];
		uint32_t absent = (uint32_t)keys->readings - name->seen;

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
		index_add(&keys->by_origin, hash_origin(keys, name), i);
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
		    name->group == group &&
		    (uint32_t)keys->readings - name->shown_at >= STAY_READINGS &&
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
