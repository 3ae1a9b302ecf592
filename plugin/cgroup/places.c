/* SPDX-License-Identifier: MIT */
/*
 * Where the cgroups of services are. Their directories are listed, from the root of each hierarchy
 * that is wanted, when the kernel's side has met a new one; in between nothing is done but to look
 * which rows the kernel has given to their keys. The list is sorted by key and path.
 */
#include "places.h"

#include "bpf/lib/service.h"
#include "config/cgroup.h"
#include "description.h"
#include "match.h"
#include "tree.h"
#include "util/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WALK_AGAIN_NS (60 * NS_PER_S)
#define LOOK_NS_MAX (250 * 1000000ULL)

static const char *const controllers[] = {
	[HIERARCHY_UNIFIED] = NULL,
	[HIERARCHY_CPU] = "cpu",
	[HIERARCHY_MEMORY] = "memory",
};

void places_init(struct places *places, const struct config *config, struct users *users,
		 const struct service *rows, uint32_t row_count)
{
	*places = (struct places){
		.config = config, .users = users, .rows = rows, .row_count = row_count
	};
	pthread_mutex_init(&places->lock, NULL);
	for (int i = 0; i < HIERARCHIES; i++)
		places->list[i].root = -1;
}

void places_want(struct places *places, enum hierarchy hierarchy)
{
	__atomic_store_n(&places->list[hierarchy].wanted, true, __ATOMIC_RELEASE);
}

/* --- listing --- */

static int by_key_and_path(const void *left, const void *right)
{
	const struct place *a = left, *b = right;
	int order = memcmp(&a->key, &b->key, sizeof(a->key));

	return order ?: strcmp(a->path, b->path);
}

static int add_place(void *to, const char *path, uint64_t inode, const struct group_key *key)
{
	struct place_list *list = to;
	struct place *place;

	if (list->count == PLACES_MAX)
		return -E2BIG;
	if (list->count == list->room) {
		size_t room = list->room ? 2 * list->room : 64;
		struct place *grown = reallocarray(list->place, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		list->place = grown;
		list->room = room;
	}
	place = &list->place[list->count];
	*place = (struct place){ .key = *key, .path = strdup(path), .inode = inode };
	list->count += place->path != NULL;
	return place->path ? 0 : -ENOMEM;
}

static void list_clear(struct place_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->place[i].path);
	free(list->place);
	list->place = NULL;
	list->count = list->room = 0;
}

/* What is known of those that were there before. true: they are the same. */
static bool carry_over(const struct place_list *old, struct place_list *new)
{
	bool same = old->count == new->count;
	size_t at = 0;

	for (size_t i = 0; i < new->count; i++) {
		struct place *place = &new->place[i];
		const struct place *before;

		while (at < old->count && by_key_and_path(&old->place[at], place) < 0)
			at++;
		before = at < old->count ? &old->place[at] : NULL;
		if (!before || by_key_and_path(before, place) != 0 ||
		    before->inode != place->inode) {
			place->is_new = old->walked;
			same = false;
			continue;
		}
		place->rule = before->rule;
		place->row = before->row;
		place->looks = before->looks;
		place->is_new = before->is_new;
	}
	return same;
}

static int open_root(struct place_list *list, const char *controller)
{
	bool is_v1;

	if (list->root < 0)
		list->root = cgroup_open("/proc/self/mounts", controller, &is_v1);
	return list->root < 0 ? list->root : 0;
}

static int walk(struct places *places, enum hierarchy hierarchy)
{
	struct place_list *list = &places->list[hierarchy], new = { 0 };
	int status = open_root(list, controllers[hierarchy]);

	status = status ?: tree_walk(list->root, add_place, &new);
	if (status && status != -E2BIG) {
		list_clear(&new);
		return status;
	}
	qsort(new.place, new.count, sizeof(*new.place), by_key_and_path);
	pthread_mutex_lock(&places->lock);
	if (!carry_over(list, &new))
		__atomic_fetch_add(&places->generation, 1, __ATOMIC_RELEASE);
	list_clear(list);
	list->place = new.place;
	list->count = new.count;
	list->room = new.room;
	list->walked = true;
	pthread_mutex_unlock(&places->lock);
	return status;
}

/* --- rows; what is written is of the thread that updates --- */

static bool has_rules(const struct config *config, bool *ret_needs_names)
{
	bool any = false;

	*ret_needs_names = groups_need_names(config) != 0;
	for (size_t i = 0; i < config->service_count; i++) {
		const struct service_config *service = &config->services[i];

		any |= service->units.count || service->containers.count;
	}
	return any;
}

static uint32_t look(const struct places *places, struct place *place, bool needs_names,
		     struct file_reader *files)
{
	struct group_description description = { 0 };
	bool again = needs_names &&
		     group_describe(&place->key, places->users, files, &description) == -EAGAIN;

	place->looks = again ? place->looks + 1 : GROUP_LOOKS_MAX;
	return group_row(places->config, &place->key, &description);
}

static void find_rules(struct places *places, struct place_list *list, struct file_reader *files)
{
	uint64_t end_ns = clock_ns() + LOOK_NS_MAX;
	bool needs_names;

	if (!has_rules(places->config, &needs_names))
		return;
	for (size_t i = 0; i < list->count; i++) {
		struct place *place = &list->place[i];
		uint32_t rule;

		if (place->looks == GROUP_LOOKS_MAX)
			continue;
		places->unfinished |= clock_ns() > end_ns;
		if (clock_ns() > end_ns)
			return;
		rule = look(places, place, needs_names, files);
		places->unfinished |= place->looks < GROUP_LOOKS_MAX;
		pthread_mutex_lock(&places->lock);
		place->rule = rule;
		pthread_mutex_unlock(&places->lock);
	}
}

/* The first one of a key, or the end. */
static size_t first_of(const struct place_list *list, const struct group_key *key)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (memcmp(&list->place[middle].key, key, sizeof(*key)) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_used(const struct service *row)
{
	return __atomic_load_n(&row->flags, __ATOMIC_ACQUIRE) & SERVICE_USED;
}

bool places_is_row(const struct places *places, uint32_t row, const struct group_key *key)
{
	return row < places->row_count && is_used(&places->rows[row]) &&
	       !memcmp(&places->rows[row].key, key, sizeof(*key));
}

/* With the lock. */
static bool set_row(struct place *place, uint32_t row)
{
	bool changed = place->row != row;

	place->row = row;
	return changed;
}

static void find_rows(struct places *places, struct place_list *list)
{
	bool changed = false;

	pthread_mutex_lock(&places->lock);
	for (size_t i = 0; i < list->count; i++) {
		struct place *place = &list->place[i];

		if (place->rule)
			changed |= set_row(place, place->rule);
		else if (place->row && !places_is_row(places, place->row, &place->key))
			changed |= set_row(place, 0);
	}
	for (uint32_t row = SERVICE_FIRST; row < places->row_count; row++) {
		struct group_key key;

		if (!is_used(&places->rows[row]))
			continue;
		key = places->rows[row].key;
		for (size_t i = first_of(list, &key);
		     key.kind != GROUP_COMMAND && i < list->count &&
		     !memcmp(&list->place[i].key, &key, sizeof(key));
		     i++)
			if (!list->place[i].rule)
				changed |= set_row(&list->place[i], row);
	}
	if (changed)
		__atomic_fetch_add(&places->generation, 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&places->lock);
}

/* --- all --- */

static bool is_wanted(const struct place_list *list)
{
	return __atomic_load_n(&list->wanted, __ATOMIC_ACQUIRE);
}

static bool walk_is_due(const struct places *places, uint64_t met, uint64_t now_ns)
{
	bool due = met != places->seen || now_ns - places->walked_ns > WALK_AGAIN_NS;

	for (int i = 0; i < HIERARCHIES; i++)
		due |= is_wanted(&places->list[i]) && !places->list[i].walked;
	return due;
}

void places_update(struct places *places, const struct service_counters *counters,
		   struct file_reader *files, uint64_t now_ns)
{
	uint64_t met = __atomic_load_n(&counters->groups, __ATOMIC_ACQUIRE) +
		       __atomic_load_n(&counters->groups_refused, __ATOMIC_ACQUIRE);
	bool due = walk_is_due(places, met, now_ns), looks = due || places->unfinished;
	int status = 0;

	places->unfinished = false;
	for (int i = 0; i < HIERARCHIES; i++) {
		struct place_list *list = &places->list[i];

		if (!is_wanted(list))
			continue;
		if (due)
			status = walk(places, (enum hierarchy)i) ?: status;
		if (looks)
			find_rules(places, list, files);
		find_rows(places, list);
	}
	if (!due)
		return;
	places->seen = met;
	places->walked_ns = now_ns;
	__atomic_store_n(&places->status, status, __ATOMIC_RELAXED);
}

int places_each(struct places *places, enum hierarchy hierarchy,
		int (*take)(void *to, const struct place *place), void *to)
{
	const struct place_list *list = &places->list[hierarchy];
	int status = 0;

	pthread_mutex_lock(&places->lock);
	for (size_t i = 0; i < list->count && status == 0; i++)
		if (list->place[i].row)
			status = take(to, &list->place[i]);
	pthread_mutex_unlock(&places->lock);
	return status;
}

int places_status(const struct places *places)
{
	return __atomic_load_n(&places->status, __ATOMIC_RELAXED);
}

void places_done(struct places *places)
{
	for (int i = 0; i < HIERARCHIES; i++) {
		list_clear(&places->list[i]);
		if (places->list[i].wanted && places->list[i].root >= 0)
			close(places->list[i].root);
	}
	pthread_mutex_destroy(&places->lock);
	*places = (struct places){ 0 };
}
