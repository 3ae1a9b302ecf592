/* SPDX-License-Identifier: MIT */
/*
 * Finds the files of a table: a single one, one for each cgroup of a service, or those that match a
 * glob.
 */
#include "text_files.h"

#include "config/cgroup.h"
#include "text_cgroups.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int text_files_init(struct text_files *files, const struct file_tag *tag,
		    const struct config *config)
{
	*files = (struct text_files){ .tag = tag, .root = -1, .by_service = config != NULL };
	if (config)
		return text_cgroups_configured(files, config);
	if (strchr(tag->path, '*'))
		return 0;
	return text_files_add(files, strdup(tag->path)) ? 0 : -errno;
}

static int open_text_root(struct text_files *files)
{
	const struct file_tag *tag = files->tag;
	int root;

	if (files->root >= 0)
		return 0;
	if (tag->root == KERNEL_FS_CGROUP)
		root = cgroup_open("/proc/self/mounts", tag->controller[0] ? tag->controller : NULL,
				   &files->is_v1);
	else
		root = kernel_directory_open(tag->root,
					     tag->root == KERNEL_FS_SYS ? "/sys" : "/proc");
	if (root < 0)
		return root;
	files->root = root;
	return 0;
}

/* Directories are mostly listed in the same order, so the search starts behind the last match. */
static struct text_file *find_match(struct text_files *files, const char *name, size_t length)
{
	for (size_t i = 0; i < files->count; i++) {
		struct text_file *file = &files->file[(files->hint + i) % files->count];

		if (file->match_length != length || memcmp(file->match, name, length) != 0)
			continue;
		files->hint = (size_t)(file - files->file) + 1;
		return file;
	}
	return NULL;
}

static int add_match(struct text_files *files, const char *glob, size_t glob_length,
		     const char *name)
{
	const char *path = files->tag->path;
	int before = (int)(glob - path);
	struct text_file *file = find_match(files, name, strlen(name));
	char *own;

	if (!file) {
		if (asprintf(&own, "%.*s%s%s", before, path, name, glob + glob_length) < 0)
			own = NULL;
		file = text_files_add(files, own);
		if (!file)
			return -errno;
		file->match = file->path + before;
		file->match_length = strlen(name);
	}
	file->is_there = true;
	return 0;
}

static int list_directory(struct text_files *files, DIR *directory, const char *glob, size_t length)
{
	char text[FILE_PATH_MAX];
	struct dirent *entry;
	int status = 0;

	snprintf(text, sizeof(text), "%.*s", (int)length, glob);
	while (status == 0 && (entry = readdir(directory)))
		if (entry->d_name[0] != '.' &&
		    name_matches(text, entry->d_name, strlen(entry->d_name)))
			status = add_match(files, glob, length, entry->d_name);
	return status;
}

int text_files_update(struct text_files *files)
{
	size_t length = 0;
	const char *glob = path_wildcard(files->tag->path, &length);
	char above[FILE_PATH_MAX];
	int status = open_text_root(files), fd;
	DIR *directory;

	if (files->by_service)
		return text_cgroups_update(files) ?: status;
	if (status || !glob)
		return status;
	snprintf(above, sizeof(above), "%.*s", (int)(glob - files->tag->path), files->tag->path);
	fd = kernel_directory_open_subdirectory(files->root, above);
	directory = fd < 0 ? NULL : fdopendir(fd);
	if (!directory) {
		status = fd < 0 ? fd : -errno;
		if (fd >= 0)
			close(fd);
		return status;
	}
	for (size_t i = 0; i < files->count; i++)
		files->file[i].is_there = false;
	files->hint = 0;
	status = list_directory(files, directory, glob, length);
	closedir(directory);
	text_files_drop_absent(files);
	return status;
}
