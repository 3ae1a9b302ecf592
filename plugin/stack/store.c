/* SPDX-License-Identifier: MIT */
/*
 * Stacks on their way to folded files. Memory holds what was added since the last write and no more, so
 * that a restart, or another file system in the directory's place, loses a minute. Where a file cannot be
 * written, its values wait, within bounds; the largest files lose their smallest stacks first.
 */
#include "store.h"

#include "config/config.h"
#include "config/name.h"
#include "folded_file.h"
#include "kept_files.h"
#include "safe_directory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNWRITTEN_MAX 4096 /* files */
#define MEMORY_MAX ((size_t)64 << 20)
#define SMALL 4096   /* bytes: a file that is not worth cutting */
#define BEGUN_MAX 16 /* views */

/* Lines of a file that are not yet in it. */
struct unwritten {
	struct folded_name name;
	struct folded folded;
	bool replaces; /* what the file has */
};

struct begun {
	char view[FOLDED_VIEW_MAX];
	char hour[FOLDED_HOUR_MAX];
};

struct store {
	char *directory;
	unsigned keep_hours, keep_mib;
	struct unwritten *unwritten[UNWRITTEN_MAX];
	size_t count;
	struct index index; /* of unwritten */
	struct begun begun[BEGUN_MAX];
	size_t begun_count;
	size_t memory;              /* of the lines of all that wait */
	unsigned lost;              /* files that waited too long */
	uint64_t size;              /* of the files on the disk, at most */
	char hour[FOLDED_HOUR_MAX]; /* when that was last looked at */
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

/* --- files that wait --- */

static uint64_t hash_of(const struct store *store, const struct folded_name *name)
{
	return index_hash(&store->index, 0, name, sizeof(*name));
}

static bool is_name(const void *of, uint32_t number, const void *wanted)
{
	const struct store *store = of;

	return !memcmp(&store->unwritten[number]->name, wanted, sizeof(struct folded_name));
}

static struct unwritten *find(const struct store *store, const struct folded_name *name)
{
	uint32_t number = index_find(&store->index, hash_of(store, name), is_name, store, name);

	return number == INDEX_NONE ? NULL : store->unwritten[number];
}

static void drop(struct store *store, size_t number)
{
	struct unwritten *unwritten = store->unwritten[number];

	store->memory -= folded_memory(&unwritten->folded);
	folded_done(&unwritten->folded);
	free(unwritten);
	store->unwritten[number] = NULL;
}

/* Closes the gaps that drop() has left. */
static void close_gaps(struct store *store)
{
	size_t count = 0;

	index_clear(&store->index);
	for (size_t i = 0; i < store->count; i++) {
		struct unwritten *unwritten = store->unwritten[i];

		if (!unwritten)
			continue;
		index_add(&store->index, hash_of(store, &unwritten->name), (uint32_t)count);
		store->unwritten[count++] = unwritten;
	}
	store->count = count;
}

/* Of the hour that is the longest ago. */
static void drop_oldest(struct store *store)
{
	size_t oldest = 0;

	for (size_t i = 1; i < store->count; i++)
		if (strcmp(store->unwritten[i]->name.hour, store->unwritten[oldest]->name.hour) < 0)
			oldest = i;
	drop(store, oldest);
	store->lost++;
	close_gaps(store);
}

static void cut(struct store *store, struct unwritten *unwritten, size_t lines, size_t bytes)
{
	size_t before = folded_memory(&unwritten->folded);

	folded_cut(&unwritten->folded, lines, bytes);
	store->memory += folded_memory(&unwritten->folded) - before;
}

static struct unwritten *largest(const struct store *store)
{
	struct unwritten *largest = store->unwritten[0];

	for (size_t i = 1; i < store->count; i++)
		if (store->unwritten[i]->folded.bytes > largest->folded.bytes)
			largest = store->unwritten[i];
	return largest;
}

/* The bounds of the memory: a service that has many stacks loses its own. */
static void make_room(struct store *store)
{
	if (store->memory <= MEMORY_MAX)
		return;
	while (store->memory > MEMORY_MAX - MEMORY_MAX / 4) {
		struct unwritten *unwritten = largest(store);

		if (unwritten->folded.bytes <= SMALL)
			drop_oldest(store);
		else
			cut(store, unwritten, unwritten->folded.count, unwritten->folded.bytes / 2);
	}
}

static bool is_begun(const struct store *store, const struct folded_name *name)
{
	for (size_t i = 0; i < store->begun_count; i++)
		if (!strcmp(store->begun[i].view, name->view) &&
		    !strcmp(store->begun[i].hour, name->hour))
			return true;
	return false;
}

static struct unwritten *enter(struct store *store, const struct folded_name *name)
{
	struct unwritten *unwritten = find(store, name);

	if (unwritten)
		return unwritten;
	unwritten = calloc(1, sizeof(*unwritten));
	if (!unwritten)
		return NULL;
	if (store->count == UNWRITTEN_MAX)
		drop_oldest(store);
	unwritten->name = *name;
	unwritten->replaces = is_begun(store, name);
	index_add(&store->index, hash_of(store, name), (uint32_t)store->count);
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
	unwritten = enter(store, &name);
	if (!unwritten)
		return -ENOMEM;
	before = folded_memory(&unwritten->folded);
	folded_add(&unwritten->folded, stack, strlen(stack), value);
	store->memory += folded_memory(&unwritten->folded) - before;
	/* Twice as much as the file may have, so that not each line more has all looked at. */
	if (unwritten->folded.count > 2 * FOLDED_LINES_MAX ||
	    unwritten->folded.bytes > 2 * FOLDED_BYTES_MAX)
		cut(store, unwritten, FOLDED_LINES_MAX, FOLDED_BYTES_MAX);
	make_room(store);
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
			drop(store, i);
	close_gaps(store);
	if (is_begun(store, &name))
		return;
	if (store->begun_count == BEGUN_MAX)
		memmove(store->begun, store->begun + 1,
			--store->begun_count * sizeof(*store->begun));
	memcpy(store->begun[store->begun_count].view, name.view, sizeof(name.view));
	memcpy(store->begun[store->begun_count++].hour, name.hour, sizeof(name.hour));
}

/* --- writing --- */

/* What could be done about it. */
static const char *remedy(int status)
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
		return ": it is no regular file; move it away";
	case EACCES:
	case EPERM:
		return "; does a security module keep collectd from it?";
	default:
		return "";
	}
}

static int fail(const struct store *store, const char *step, const char *file, int status,
		struct error *error)
{
	char lost[64] = "";

	if (store->lost)
		snprintf(lost, sizeof(lost), " (%u files have waited too long and are lost)",
			 store->lost);
	return error_set(error, status, "%s %.600s/%s: %s%s%s", step, store->directory, file,
			 strerror(-status), remedy(status), lost);
}

/* Each call that is let through; the first error stays. */
static void note(int *status, struct error *error, int failed, const struct error *why)
{
	if (*status || !failed)
		return;
	*status = failed;
	*error = *why;
}

/* The file as it is then: what it has, if that counts, and what is new. */
static int merge(const struct unwritten *unwritten, int directory, const char *file,
		 struct folded *ret_merged)
{
	int status = unwritten->replaces ? -ENOENT : folded_read(directory, file, ret_merged);

	if (status && status != -ENOENT)
		return status;
	folded_add_all(ret_merged, &unwritten->folded);
	/* One for what is left out. */
	folded_cut(ret_merged, FOLDED_LINES_MAX - 1, FOLDED_BYTES_MAX - FOLDED_NAME_MAX);
	folded_sort(ret_merged);
	return 0;
}

static int write_one(struct store *store, const struct unwritten *unwritten, int directory,
		     struct error *error)
{
	struct folded merged = { 0 };
	char file[FOLDED_NAME_MAX];
	uint64_t size = 0;
	int status;

	folded_name_text(&unwritten->name, file);
	status = merge(unwritten, directory, file, &merged);
	if (status)
		fail(store, "cannot read", file, status, error);
	else if ((status = folded_write(directory, file, &merged, &size)))
		fail(store, "cannot write", file, status, error);
	folded_done(&merged);
	store->size += size;
	return status;
}

static int keep_limits(struct store *store, int directory, time_t now, struct error *error)
{
	char hour[FOLDED_HOUR_MAX], oldest[FOLDED_HOUR_MAX];
	struct kept_limits limits = { oldest, hour, (uint64_t)store->keep_mib << 20 };
	int status;

	folded_hour(now, hour);
	folded_hour(now - (time_t)store->keep_hours * 3600, oldest);
	if (!strcmp(store->hour, hour) && store->size <= limits.size_max)
		return 0;
	memcpy(store->hour, hour, sizeof(hour));
	status = kept_files_limit(directory, &limits, &store->size);
	if (status == -ENOSPC)
		return error_set(
			error, status,
			"%.600s: removing files of this hour, as they alone take more than "
			"KeepMiB %u of <Profiles>; set it to more",
			store->directory, store->keep_mib);
	if (status)
		return fail(store, "cannot remove old files in", "", status, error);
	return 0;
}

static bool is_unwritten(void *with, const struct folded_name *name)
{
	return find(with, name);
}

/* Of views that have begun anew, what services had that have nothing now. */
static int remove_ended(struct store *store, int directory, struct error *error)
{
	for (size_t i = 0; i < store->begun_count; i++) {
		const struct begun *begun = &store->begun[i];
		int status =
			kept_files_remove(directory, begun->view, begun->hour, is_unwritten, store);

		if (status)
			return fail(store, "cannot remove old files in", "", status, error);
	}
	store->begun_count = 0;
	return 0;
}

/* The file system as a whole takes nothing: no file has to be tried. */
static bool is_hopeless(int status)
{
	return status == -ENOSPC || status == -EDQUOT || status == -EROFS;
}

static int write_all(struct store *store, int directory, time_t now, struct error *error)
{
	struct error why;
	int status = 0, failed = remove_ended(store, directory, &why);

	note(&status, error, failed, &why);
	for (size_t i = 0; i < store->count && !is_hopeless(failed); i++) {
		failed = write_one(store, store->unwritten[i], directory, &why);
		note(&status, error, failed, &why);
		if (failed)
			continue;
		drop(store, i);
		note(&status, error, keep_limits(store, directory, now, &why), &why);
	}
	close_gaps(store);
	note(&status, error, keep_limits(store, directory, now, &why), &why);
	return status;
}

/* What would be removed at once. */
static void drop_expired(struct store *store, time_t now)
{
	char oldest[FOLDED_HOUR_MAX];

	folded_hour(now - (time_t)store->keep_hours * 3600, oldest);
	for (size_t i = 0; i < store->count; i++)
		if (strcmp(store->unwritten[i]->name.hour, oldest) < 0)
			drop(store, i);
	close_gaps(store);
}

int store_write(struct store *store, time_t now, struct error *error)
{
	int directory, status;

	drop_expired(store, now);
	status = safe_directory_open(store->directory, &directory, error);
	if (status)
		return status;
	status = write_all(store, directory, now, error);
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
		drop(store, i);
	index_done(&store->index);
	free(store->directory);
	free(store);
}
