/* SPDX-License-Identifier: MIT */
/*
 * Stacks on their way to folded files. Memory has only what was added since the last write, so that
 * a restart, or another file system mounted over the directory, loses a minute. Values of a file
 * that cannot be written stay in memory, within bounds; the largest files lose their smallest
 * stacks first.
 */
#include "store.h"

#include "config/config.h"
#include "config/name.h"
#include "folded_file.h"
#include "retention.h"
#include "safe_directory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNWRITTEN_MAX 4096 /* files */
#define MEMORY_MAX ((size_t)64 << 20)
#define SMALL 4096        /* bytes; cutting a file of this size frees too little */
#define NEW_STATES_MAX 16 /* views */

/* Lines that are not yet in their file. */
struct unwritten {
	struct folded_name name;
	struct folded folded;
	bool replaces; /* the lines that the file has */
};

struct new_state {
	char view[FOLDED_VIEW_MAX];
	char hour[FOLDED_HOUR_MAX];
};

struct store {
	char *directory;
	unsigned keep_hours, keep_mib;
	struct unwritten *unwritten[UNWRITTEN_MAX];
	size_t count;
	struct index index; /* of unwritten */
	struct new_state new_state[NEW_STATES_MAX];
	size_t new_state_count;
	size_t memory;              /* bytes of all unwritten lines */
	unsigned lost;              /* files that were given up unwritten */
	uint64_t size;              /* bytes of the files on the disk, at most */
	char hour[FOLDED_HOUR_MAX]; /* hour in which the limits were last applied */
};

int store_open(struct store **ret_store, const struct profiles_config *config, struct error *error)
{
	struct store *store = calloc(1, sizeof(*store));
	int directory, status = -ENOMEM;

	if (!store || index_init(&store->index, UNWRITTEN_MAX) ||
	    !(store->directory = strdup(config->directory))) {
		store_free(store);
		return error_set(error, status, "no memory for profiles");
	}
	store->keep_hours = config->keep_hours;
	store->keep_mib = config->keep_mib;
	status = safe_directory_open(store->directory, &directory, error);
	if (status) {
		store_free(store);
		return status;
	}
	close(directory);
	*ret_store = store;
	return 0;
}

/* --- unwritten files --- */

static uint64_t hash_folded_name(const struct store *store, const struct folded_name *name)
{
	return index_hash(&store->index, 0, name, sizeof(*name));
}

static bool is_same_folded_name(const void *of, uint32_t number, const void *wanted)
{
	const struct store *store = of;

	return !memcmp(&store->unwritten[number]->name, wanted, sizeof(struct folded_name));
}

static struct unwritten *find_unwritten(const struct store *store, const struct folded_name *name)
{
	uint32_t number = index_find(&store->index, hash_folded_name(store, name),
				     is_same_folded_name, store, name);

	return number == INDEX_NONE ? NULL : store->unwritten[number];
}

static void drop_unwritten(struct store *store, size_t number)
{
	struct unwritten *unwritten = store->unwritten[number];

	store->memory -= folded_memory(&unwritten->folded);
	folded_done(&unwritten->folded);
	free(unwritten);
	store->unwritten[number] = NULL;
}

/* Closes the gaps that drop_unwritten() has made. */
static void close_gaps(struct store *store)
{
	size_t count = 0;

	index_clear(&store->index);
	for (size_t i = 0; i < store->count; i++) {
		struct unwritten *unwritten = store->unwritten[i];

		if (!unwritten)
			continue;
		index_add(&store->index, hash_folded_name(store, &unwritten->name),
			  (uint32_t)count);
		store->unwritten[count++] = unwritten;
	}
	store->count = count;
}

/* Drops a file of the earliest hour. */
static void drop_oldest(struct store *store)
{
	size_t oldest = 0;

	for (size_t i = 1; i < store->count; i++)
		if (strcmp(store->unwritten[i]->name.hour, store->unwritten[oldest]->name.hour) < 0)
			oldest = i;
	drop_unwritten(store, oldest);
	store->lost++;
	close_gaps(store);
}

static void cut_unwritten(struct store *store, struct unwritten *unwritten, size_t lines,
			  size_t bytes)
{
	size_t before = folded_memory(&unwritten->folded);

	folded_cut(&unwritten->folded, lines, bytes);
	store->memory += folded_memory(&unwritten->folded) - before;
}

static struct unwritten *largest_unwritten(const struct store *store)
{
	struct unwritten *largest_unwritten = store->unwritten[0];

	for (size_t i = 1; i < store->count; i++)
		if (store->unwritten[i]->folded.bytes > largest_unwritten->folded.bytes)
			largest_unwritten = store->unwritten[i];
	return largest_unwritten;
}

/* Keeps to the bound on memory: the service with the most stacks loses its own. */
static void keep_memory_bound(struct store *store)
{
	if (store->memory <= MEMORY_MAX)
		return;
	while (store->memory > MEMORY_MAX - MEMORY_MAX / 4) {
		struct unwritten *unwritten = largest_unwritten(store);

		if (unwritten->folded.bytes <= SMALL)
			drop_oldest(store);
		else
			cut_unwritten(store, unwritten, unwritten->folded.count,
				      unwritten->folded.bytes / 2);
	}
}

static bool has_new_state(const struct store *store, const struct folded_name *name)
{
	for (size_t i = 0; i < store->new_state_count; i++)
		if (!strcmp(store->new_state[i].view, name->view) &&
		    !strcmp(store->new_state[i].hour, name->hour))
			return true;
	return false;
}

static struct unwritten *add_unwritten(struct store *store, const struct folded_name *name)
{
	struct unwritten *unwritten = find_unwritten(store, name);

	if (unwritten)
		return unwritten;
	unwritten = calloc(1, sizeof(*unwritten));
	if (!unwritten)
		return NULL;
	if (store->count == UNWRITTEN_MAX)
		drop_oldest(store);
	unwritten->name = *name;
	unwritten->replaces = has_new_state(store, name);
	index_add(&store->index, hash_folded_name(store, name), (uint32_t)store->count);
	store->unwritten[store->count++] = unwritten;
	return unwritten;
}

int store_add(struct store *store, const char *service, const char *view, time_t when,
	      const char *stack, uint64_t value)
{
	struct folded_name name = { 0 };
	struct unwritten *unwritten;
	size_t before;

	if (!folded_is_view(view))
		return -EINVAL;
	if (!value)
		return 0;
	name_clean(name.service, sizeof(name.service), service);
	memcpy(name.view, view, strlen(view));
	folded_hour(when, name.hour);
	unwritten = add_unwritten(store, &name);
	if (!unwritten)
		return -ENOMEM;
	before = folded_memory(&unwritten->folded);
	folded_add(&unwritten->folded, stack, strlen(stack), value);
	store->memory += folded_memory(&unwritten->folded) - before;
	/* Cut at twice the limit of a file, so that not each new line sorts all others. */
	if (unwritten->folded.count > 2 * FOLDED_LINES_MAX ||
	    unwritten->folded.bytes > 2 * FOLDED_BYTES_MAX)
		cut_unwritten(store, unwritten, FOLDED_LINES_MAX, FOLDED_BYTES_MAX);
	keep_memory_bound(store);
	return 0;
}

void store_begin(struct store *store, const char *view, time_t when)
{
	struct folded_name name = { 0 };

	if (!folded_is_view(view))
		return;
	memcpy(name.view, view, strlen(view));
	folded_hour(when, name.hour);
	for (size_t i = 0; i < store->count; i++)
		if (!strcmp(store->unwritten[i]->name.view, name.view) &&
		    !strcmp(store->unwritten[i]->name.hour, name.hour))
			drop_unwritten(store, i);
	close_gaps(store);
	if (has_new_state(store, &name))
		return;
	if (store->new_state_count == NEW_STATES_MAX)
		memmove(store->new_state, store->new_state + 1,
			--store->new_state_count * sizeof(*store->new_state));
	memcpy(store->new_state[store->new_state_count].view, name.view, sizeof(name.view));
	memcpy(store->new_state[store->new_state_count++].hour, name.hour, sizeof(name.hour));
}

/* --- writing --- */

/* What a person can do about an error. */
static const char *remedy_for_write(int status)
{
	switch (-status) {
	case ENOSPC:
	case EDQUOT:
		return "; free some space on that file system";
	case EROFS:
		return "; have that file system writable, or set Directory in <Profiles>";
	case EEXIST:
	case ELOOP:
	case EINVAL:
		return ": it is not a regular file; move it away";
	case EACCES:
	case EPERM:
		return "; does a security module keep collectd from it?";
	default:
		return "";
	}
}

static int set_write_error(const struct store *store, const char *step, const char *file,
			   int status, struct error *error)
{
	char lost[64] = "";

	if (store->lost)
		snprintf(lost, sizeof(lost), " (%u files have waited too long and are lost)",
			 store->lost);
	return error_set(error, status, "%s %.600s/%s: %s%s%s", step, store->directory, file,
			 strerror(-status), remedy_for_write(status), lost);
}

/* Notes the result of one step: the first error stays. */
static void note_status(int *status, struct error *error, int failed, const struct error *why)
{
	if (*status || !failed)
		return;
	*status = failed;
	*error = *why;
}

/* Makes the new content of a file: the lines that it has, unless they are replaced, and the new
 * ones. */
static int merge_file(const struct unwritten *unwritten, int directory, const char *file,
		      struct folded *ret_merged)
{
	int status = unwritten->replaces ? -ENOENT : folded_read(directory, file, ret_merged);

	if (status && status != -ENOENT)
		return status;
	folded_add_all(ret_merged, &unwritten->folded);
	/* One line less, for "[other]". */
	folded_cut(ret_merged, FOLDED_LINES_MAX - 1, FOLDED_BYTES_MAX - FOLDED_NAME_MAX);
	folded_sort(ret_merged);
	return 0;
}

static int write_file(struct store *store, const struct unwritten *unwritten, int directory,
		      struct error *error)
{
	struct folded merged = { 0 };
	char file[FOLDED_NAME_MAX];
	uint64_t size = 0;
	int status;

	folded_name_text(&unwritten->name, file);
	status = merge_file(unwritten, directory, file, &merged);
	if (status)
		set_write_error(store, "cannot read", file, status, error);
	else if ((status = folded_write(directory, file, &merged, &size)))
		set_write_error(store, "cannot write", file, status, error);
	folded_done(&merged);
	store->size += size;
	return status;
}

static int apply_limits(struct store *store, int directory, time_t now, struct error *error)
{
	char hour[FOLDED_HOUR_MAX], oldest[FOLDED_HOUR_MAX];
	struct retention_limits limits = { oldest, hour, (uint64_t)store->keep_mib << 20 };
	int status;

	folded_hour(now, hour);
	folded_hour(now - (time_t)store->keep_hours * 3600, oldest);
	if (!strcmp(store->hour, hour) && store->size <= limits.size_max)
		return 0;
	memcpy(store->hour, hour, sizeof(hour));
	status = retention_limit(directory, &limits, &store->size);
	if (status == -ENOSPC)
		return error_set(error, status,
				 "%.600s: removing files of this hour, as they take more than "
				 "KeepMiB %u of <Profiles>; set it to more",
				 store->directory, store->keep_mib);
	if (status)
		return set_write_error(store, "cannot remove old files in", "", status, error);
	return 0;
}

static bool is_unwritten(void *with, const struct folded_name *name)
{
	return find_unwritten(with, name);
}

/* For views with a new state, removes files of services that have no values in it. */
static int remove_ended_files(struct store *store, int directory, struct error *error)
{
	for (size_t i = 0; i < store->new_state_count; i++) {
		const struct new_state *state = &store->new_state[i];
		int status =
			retention_remove(directory, state->view, state->hour, is_unwritten, store);

		if (status)
			return set_write_error(store, "cannot remove old files in", "", status,
					       error);
	}
	store->new_state_count = 0;
	return 0;
}

/* Does the error concern the whole file system, so that no other file need be tried? */
static bool is_whole_file_system(int status)
{
	return status == -ENOSPC || status == -EDQUOT || status == -EROFS;
}

static int write_files(struct store *store, int directory, time_t now, struct error *error)
{
	struct error why;
	int status = 0, failed = remove_ended_files(store, directory, &why);

	note_status(&status, error, failed, &why);
	for (size_t i = 0; i < store->count && !is_whole_file_system(failed); i++) {
		failed = write_file(store, store->unwritten[i], directory, &why);
		note_status(&status, error, failed, &why);
		if (failed)
			continue;
		drop_unwritten(store, i);
		note_status(&status, error, apply_limits(store, directory, now, &why), &why);
	}
	close_gaps(store);
	note_status(&status, error, apply_limits(store, directory, now, &why), &why);
	return status;
}

/* Drops what the limits would remove at once. */
static void drop_expired(struct store *store, time_t now)
{
	char oldest[FOLDED_HOUR_MAX];

	folded_hour(now - (time_t)store->keep_hours * 3600, oldest);
	for (size_t i = 0; i < store->count; i++)
		if (strcmp(store->unwritten[i]->name.hour, oldest) < 0)
			drop_unwritten(store, i);
	close_gaps(store);
}

int store_write(struct store *store, time_t now, struct error *error)
{
	int directory, status;

	drop_expired(store, now);
	status = safe_directory_open(store->directory, &directory, error);
	if (status)
		return status;
	status = write_files(store, directory, now, error);
	close(directory);
	if (status == 0)
		store->lost = 0;
	return status;
}

void store_free(struct store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < store->count; i++)
		drop_unwritten(store, i);
	index_done(&store->index);
	free(store->directory);
	free(store);
}
