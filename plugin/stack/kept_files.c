/* SPDX-License-Identifier: MIT */
/*
 * Which folded files stay. Files are counted as they take room on the disk.
 */
#include "kept_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ST_BLOCK 512
#define SPARE 16 /* of the limit, this part stays free, so that not each write has to look */

/* A file, or what is no folded file. */
typedef int take_fn(void *with, int directory, const char *file, const struct folded_name *name);

/* Until one does not return 0. */
static int each_file(int directory, take_fn *take, void *with)
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
			status = take(with, directory, entry->d_name, &name);
	closedir(stream);
	return status;
}

static int unlink_file(int directory, const char *file)
{
	return unlinkat(directory, file, 0) && errno != ENOENT ? -errno : 0;
}

/* --- limits --- */

struct kept_file {
	char *file;
	char hour[FOLDED_HOUR_MAX];
	uint64_t size;
};

struct kept_list {
	const struct kept_limits *limits;
	struct kept_file *item;
	size_t count, room;
	uint64_t size;
	int status; /* of what could not be removed */
};

static int append(struct kept_list *list, const char *file, const struct kept_file *kept)
{
	if (list->count == list->room) {
		size_t room = list->room ? 2 * list->room : 64;
		struct kept_file *grown = reallocarray(list->item, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		list->item = grown;
		list->room = room;
	}
	list->item[list->count] = *kept;
	list->item[list->count].file = strdup(file);
	if (!list->item[list->count].file)
		return -ENOMEM;
	list->count++;
	list->size += kept->size;
	return 0;
}

static int take_kept(void *with, int directory, const char *file, const struct folded_name *name)
{
	struct kept_list *list = with;
	struct kept_file kept = { 0 };
	struct stat stat;

	if (fstatat(directory, file, &stat, AT_SYMLINK_NOFOLLOW) || !S_ISREG(stat.st_mode))
		return 0;
	if (strcmp(name->hour, list->limits->oldest_hour) < 0) {
		list->status = unlink_file(directory, file) ?: list->status;
		return 0;
	}
	memcpy(kept.hour, name->hour, sizeof(kept.hour));
	kept.size = (uint64_t)stat.st_blocks * ST_BLOCK;
	return append(list, file, &kept);
}

static int by_age(const void *left, const void *right)
{
	const struct kept_file *a = left, *b = right;
	int hours = strcmp(a->hour, b->hour);

	if (hours || a->size == b->size)
		return hours ?: strcmp(a->file, b->file);
	return a->size > b->size ? -1 : 1;
}

static int remove_oldest(struct kept_list *list, int directory)
{
	uint64_t room = list->limits->size_max - list->limits->size_max / SPARE;
	int status = 0;

	qsort(list->item, list->count, sizeof(*list->item), by_age);
	for (size_t i = 0; i < list->count && list->size > room; i++) {
		int removed = unlink_file(directory, list->item[i].file);

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

int kept_files_limit(int directory, const struct kept_limits *limits, uint64_t *ret_size)
{
	struct kept_list list = { .limits = limits };
	int status = each_file(directory, take_kept, &list);

	if (status == 0)
		status = list.status;
	if (list.size > limits->size_max)
		status = remove_oldest(&list, directory) ?: status;
	for (size_t i = 0; i < list.count; i++)
		free(list.item[i].file);
	free(list.item);
	*ret_size = list.size;
	return status;
}

/* --- views --- */

struct view_files {
	const char *view, *hour;
	bool (*is_kept)(void *with, const struct folded_name *name);
	void *with;
};

static int take_view(void *with, int directory, const char *file, const struct folded_name *name)
{
	const struct view_files *files = with;

	if (strcmp(name->view, files->view) || strcmp(name->hour, files->hour) ||
	    files->is_kept(files->with, name))
		return 0;
	return unlink_file(directory, file);
}

int kept_files_remove(int directory, const char *view, const char *hour,
		      bool (*is_kept)(void *with, const struct folded_name *name), void *with)
{
	struct view_files files = { view, hour, is_kept, with };

	return each_file(directory, take_view, &files);
}
