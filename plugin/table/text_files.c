/* SPDX-License-Identifier: MIT */
/*
 * The files of a table: one, one for each cgroup of services, or those that a pattern finds. They stay
 * open, as far as there are few of all tables, and are read from their begin each time.
 */
#include "text_files.h"

#include "bpf/lib/service.h"
#include "config/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned kept; /* descriptors, of all tables */

/* --- finding --- */

/* NULL: no memory, or no room, which errno tells. The path is the list's. */
static struct text_file *add_file(struct text_files *files, char *path)
{
	struct text_file *grown;

	errno = path ? E2BIG : ENOMEM;
	if (!path || files->count == TEXT_FILES_MAX) {
		free(path);
		return NULL;
	}
	grown = reallocarray(files->file, files->count + 1, sizeof(*grown));
	if (!grown) {
		free(path);
		return NULL;
	}
	files->file = grown;
	grown += files->count++;
	*grown = (struct text_file){ .path = path, .fd = -1 };
	return grown;
}

static char *join(const char *directory, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

static bool is_below(const char *path, const char *other)
{
	size_t length = strlen(other);

	return !strncmp(path, other, length) && (path[length] == '/' || !path[length]);
}

/* What is below another path of the service is in that one's figures. */
static bool is_counted(const struct strings *paths, size_t i)
{
	for (size_t other = 0; other < paths->count; other++)
		if (other != i && is_below(paths->item[i], paths->item[other]) &&
		    (other < i || strcmp(paths->item[i], paths->item[other]) != 0))
			return true;
	return false;
}

static int add_services(struct text_files *files, const struct config *config)
{
	for (size_t i = 0; i < config->service_count; i++) {
		const struct strings *paths = &config->services[i].cgroups;

		for (size_t j = 0; j < paths->count; j++) {
			struct text_file *file;

			if (is_counted(paths, j))
				continue;
			file = add_file(files, join(paths->item[j], files->tag->path));
			if (!file)
				return -errno;
			file->service = SERVICE_FIRST + (uint32_t)i;
		}
	}
	return 0;
}

int text_files_init(struct text_files *files, const struct file_tag *tag, bool by_service,
		    const struct config *config)
{
	*files = (struct text_files){ .tag = tag, .root = -1 };
	if (by_service)
		return add_services(files, config);
	if (strchr(tag->path, '*'))
		return 0;
	return add_file(files, strdup(tag->path)) ? 0 : -errno;
}

static int open_root(struct text_files *files)
{
	char point[FILE_PATH_MAX] = "/proc";
	int root;

	if (files->root >= 0)
		return 0;
	if (files->tag->root == PSEUDO_SYS)
		strcpy(point, "/sys");
	else if (files->tag->root == PSEUDO_CGROUP &&
		 !cgroup_mount("/proc/self/mounts", point, sizeof(point)))
		return -ENODEV;
	root = pseudo_root_open(files->tag->root, point);
	if (root < 0)
		return root;
	files->root = root;
	return 0;
}

/* --- patterns --- */

static void file_done(struct text_file *file)
{
	if (file->fd >= 0) {
		close(file->fd);
		__atomic_fetch_sub(&kept, 1, __ATOMIC_RELAXED);
	}
	free(file->path);
	free(file->previous);
}

/* Directories are mostly listed in the same order. */
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

static int take_entry(struct text_files *files, const char *pattern, size_t pattern_length,
		      const char *name)
{
	const char *path = files->tag->path;
	int before = (int)(pattern - path);
	struct text_file *file = find_match(files, name, strlen(name));
	char *own;

	if (!file) {
		if (asprintf(&own, "%.*s%s%s", before, path, name, pattern + pattern_length) < 0)
			own = NULL;
		file = add_file(files, own);
		if (!file)
			return -errno;
		file->match = file->path + before;
		file->match_length = strlen(name);
	}
	file->is_there = true;
	return 0;
}

static void drop_absent(struct text_files *files)
{
	size_t left = 0;

	for (size_t i = 0; i < files->count; i++)
		if (files->file[i].is_there)
			files->file[left++] = files->file[i];
		else
			file_done(&files->file[i]);
	files->count = left;
}

static int list_directory(struct text_files *files, DIR *directory, const char *pattern,
			  size_t length)
{
	char text[FILE_PATH_MAX];
	struct dirent *entry;
	int status = 0;

	snprintf(text, sizeof(text), "%.*s", (int)length, pattern);
	while (status == 0 && (entry = readdir(directory)))
		if (entry->d_name[0] != '.' &&
		    pattern_fits(text, entry->d_name, strlen(entry->d_name)))
			status = take_entry(files, pattern, length, entry->d_name);
	return status;
}

int text_files_update(struct text_files *files)
{
	size_t length = 0;
	const char *pattern = path_pattern(files->tag->path, &length);
	char above[FILE_PATH_MAX];
	int status = open_root(files), fd;
	DIR *directory;

	if (status || !pattern)
		return status;
	snprintf(above, sizeof(above), "%.*s", (int)(pattern - files->tag->path), files->tag->path);
	fd = pseudo_open_directory(files->root, above);
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
	status = list_directory(files, directory, pattern, length);
	closedir(directory);
	drop_absent(files);
	return status;
}

/* --- reading --- */

static int open_file(struct text_files *files, struct text_file *file)
{
	uint64_t inode = 0;
	int fd = pseudo_open(files->root, file->path, &inode);

	if (fd < 0)
		return fd;
	if (inode != file->inode) {
		file->is_new = true;
		file->number = ++files->number;
		file->inode = inode;
	}
	if (__atomic_add_fetch(&kept, 1, __ATOMIC_RELAXED) <= TEXT_OPEN_MAX)
		file->fd = fd;
	else
		__atomic_fetch_sub(&kept, 1, __ATOMIC_RELAXED);
	return fd;
}

static void close_file(struct text_file *file)
{
	close(file->fd);
	file->fd = -1;
	__atomic_fetch_sub(&kept, 1, __ATOMIC_RELAXED);
}

ssize_t text_file_read(struct text_files *files, struct text_file *file, struct pseudo_text *text,
		       size_t most)
{
	ssize_t length = -ENODEV;
	int fd;

	file->is_new = false;
	if (file->fd >= 0)
		length = pseudo_read_at(file->fd, text, most);
	if (length >= 0)
		return length;
	/* What was open may have gone, and another one of its name may be there. */
	if (file->fd >= 0)
		close_file(file);
	fd = open_file(files, file);
	if (fd < 0)
		return fd;
	length = pseudo_read_at(fd, text, most);
	if (file->fd < 0)
		close(fd);
	return length;
}

bool text_file_lacks_controller(const struct text_files *files, const struct text_file *file)
{
	const char *slash = strrchr(file->path, '/');
	char above[FILE_PATH_MAX];

	if (files->root < 0 || files->tag->root != PSEUDO_CGROUP ||
	    (slash && slash - file->path >= FILE_PATH_MAX))
		return false;
	snprintf(above, sizeof(above), "%.*s", slash ? (int)(slash - file->path) : 1,
		 slash ? file->path : ".");
	return faccessat(files->root, above, F_OK, 0) == 0;
}

void text_files_done(struct text_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		file_done(&files->file[i]);
	free(files->file);
	if (files->root >= 0)
		close(files->root);
	*files = (struct text_files){ .root = -1 };
}
