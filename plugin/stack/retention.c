/* SPDX-License-Identifier: MIT */
/*
 * Removes folded files that are too old or too many. The size of a file is its blocks on the disk.
 */
#include "retention.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ST_BLOCK 512
#define SPARE 16 /* free this part of the limit, too, so that not each write scans */

/* Called for each folded file; a status other than 0 ends the scan. */
typedef int visit_fn(void *with, int directory, const char *file, const struct folded_name *name);

/* Calls `visit` for each folded file until it returns a status other than 0. */
static int visit_files(int directory, visit_fn *visit, void *with)
{
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), status = 0;
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	struct folded_name name;

	if (!stream) {
		status = -errno;
		if (fd >= 0)
			close(fd);
		return status;
	}
	while (status == 0 && (entry = readdir(stream)))
		if (folded_name_parse(entry->d_name, &name))
			status = visit(with, directory, entry->d_name, &name);
	closedir(stream);
	return status;
}

static int remove_folded(int directory, const char *file)
{
	return unlinkat(directory, file, 0) && errno != ENOENT ? -errno : 0;
}

/* --- limits --- */

struct dated_file {
	char *file;
	char hour[FOLDED_HOUR_MAX];
	uint64_t size;
};

struct dated_files {
	const struct retention_limits *limits;
	struct dated_file *item;
	size_t count, room;
	uint64_t size;
	int status; /* error of a file that could not be removed */
};

static int append_dated_file(struct dated_files *list, const char *file,
			     const struct dated_file *file_found)
{
	if (list->count == list->room) {
		size_t room = list->room ? 2 * list->room : 64;
		struct dated_file *grown = reallocarray(list->item, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		list->item = grown;
		list->room = room;
	}
	list->item[list->count] = *file_found;
	list->item[list->count].file = strdup(file);
	if (!list->item[list->count].file)
		return -ENOMEM;
	list->count++;
	list->size += file_found->size;
	return 0;
}

static int visit_dated(void *with, int directory, const char *file, const struct folded_name *name)
{
	struct dated_files *list = with;
	struct dated_file file_found = { 0 };
	struct stat stat;

	if (fstatat(directory, file, &stat, AT_SYMLINK_NOFOLLOW) || !S_ISREG(stat.st_mode))
		return 0;
	if (strcmp(name->hour, list->limits->oldest_hour) < 0) {
		list->status = remove_folded(directory, file) ?: list->status;
		return 0;
	}
	memcpy(file_found.hour, name->hour, sizeof(file_found.hour));
	file_found.size = (uint64_t)stat.st_blocks * ST_BLOCK;
	return append_dated_file(list, file, &file_found);
}

static int by_age_and_size(const void *left, const void *right)
{
	const struct dated_file *a = left, *b = right;
	int hours = strcmp(a->hour, b->hour);

	if (hours || a->size == b->size)
		return hours ?: strcmp(a->file, b->file);
	return a->size > b->size ? -1 : 1;
}

static int remove_oldest_files(struct dated_files *list, int directory)
{
	uint64_t room = list->limits->size_max - list->limits->size_max / SPARE;
	int status = 0;

	qsort(list->item, list->count, sizeof(*list->item), by_age_and_size);
	for (size_t i = 0; i < list->count && list->size > room; i++) {
		int removed = remove_folded(directory, list->item[i].file);

		if (removed) {
			status = removed;
			continue;
		}
		list->size -= list->item[i].size;
		if (status == 0 && strcmp(list->item[i].hour, list->limits->hour) >= 0)
			status = -ENOSPC;
	}
	return status;
}

int retention_limit(int directory, const struct retention_limits *limits, uint64_t *ret_size)
{
	struct dated_files list = { .limits = limits };
	int status = visit_files(directory, visit_dated, &list);

	if (status == 0)
		status = list.status;
	if (list.size > limits->size_max)
		status = remove_oldest_files(&list, directory) ?: status;
	for (size_t i = 0; i < list.count; i++)
		free(list.item[i].file);
	free(list.item);
	*ret_size = list.size;
	return status;
}

/* --- views --- */

struct view_selection {
	const char *view, *hour;
	bool (*is_active)(void *with, const struct folded_name *name);
	void *with;
};

static int visit_view(void *with, int directory, const char *file, const struct folded_name *name)
{
	const struct view_selection *files = with;

	if (strcmp(name->view, files->view) || strcmp(name->hour, files->hour) ||
	    files->is_active(files->with, name))
		return 0;
	return remove_folded(directory, file);
}

int retention_remove(int directory, const char *view, const char *hour,
		     bool (*is_active)(void *with, const struct folded_name *name), void *with)
{
	struct view_selection files = { view, hour, is_active, with };

	return visit_files(directory, visit_view, &files);
}
