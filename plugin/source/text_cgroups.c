/* SPDX-License-Identifier: MIT */
/*
 * Which files belong to cgroups of services: configured paths, which stay, and cgroups of units,
 * users and containers, which come and go.
 */
#include "text_cgroups.h"

#include "bpf/lib/services/service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *join_path(const char *directory, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

/* --- configured --- */

static bool is_path_below(const char *path, const char *other)
{
	size_t length = strlen(other);

	return !strncmp(path, other, length) && (path[length] == '/' || !path[length]);
}

/* The figures of a cgroup include those of the cgroups below it, so paths below another path of the
 * service are left out. */
static bool is_path_counted(const struct strings *paths, size_t i)
{
	for (size_t other = 0; other < paths->count; other++)
		if (other != i && is_path_below(paths->item[i], paths->item[other]) &&
		    (other < i || strcmp(paths->item[i], paths->item[other]) != 0))
			return true;
	return false;
}

static int add_configured_paths(struct text_files *files, const struct strings *paths, uint32_t row)
{
	for (size_t i = 0; i < paths->count; i++) {
		struct text_file *file;

		if (is_path_counted(paths, i))
			continue;
		file = text_files_add(files, join_path(paths->item[i], files->tag->path));
		if (!file)
			return -errno;
		file->service = row;
		file->is_configured = file->begins_at_zero = true;
	}
	return 0;
}

int text_cgroups_configured(struct text_files *files, const struct config *config)
{
	int status = 0;

	for (size_t i = 0; i < config->service_count && status == 0; i++)
		status = add_configured_paths(files, &config->services[i].cgroups,
					      SERVICE_FIRST + (uint32_t)i);
	return status;
}

/* --- units, users and containers --- */

static size_t directory_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

/* Lists are mostly in the same order, so the search starts behind the last match. */
static struct text_file *find_cgroup_file(struct text_files *files,
					  const struct service_cgroup *cgroup)
{
	size_t length = strlen(cgroup->path);

	for (size_t i = 0; i < files->count; i++) {
		struct text_file *file = &files->file[(files->hint + i) % files->count];

		if (file->is_configured || directory_length(file->path) != length ||
		    memcmp(file->path, cgroup->path, length) != 0)
			continue;
		files->hint = (size_t)(file - files->file) + 1;
		return file;
	}
	return NULL;
}

/* If the row of a cgroup has changed, the file starts again with what it says first. */
static int add_service_cgroup(void *to, const struct service_cgroup *cgroup)
{
	struct text_files *files = to;
	struct text_file *file;

	file = find_cgroup_file(files, cgroup);
	if (!file) {
		file = text_files_add(files, join_path(cgroup->path, files->tag->path));
		if (!file)
			return -errno;
		file->service = cgroup->row;
	}
	if (file->service != cgroup->row)
		text_file_forget(file);
	else if (file->cgroup_inode != cgroup->inode)
		file->begins_at_zero = cgroup->is_new;
	file->cgroup_inode = cgroup->inode;
	file->service = cgroup->row;
	file->key = cgroup->key;
	if (cgroup->rule)
		file->key.kind = GROUP_COMMAND;
	file->is_there = true;
	return 0;
}

static bool is_file_in(const struct text_file *file, const struct text_file *other)
{
	size_t length = directory_length(other->path);

	return file->service == other->service && directory_length(file->path) >= length &&
	       !strncmp(file->path, other->path, length) && file->path[length] == '/' &&
	       (directory_length(file->path) > length || file > other);
}

/* Rules of one block may match the same cgroup twice, or one below another. */
static void mark_counted(struct text_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		struct text_file *file = &files->file[i];

		file->is_counted = false;
		for (size_t j = 0; j < files->count && file->key.kind == GROUP_COMMAND; j++)
			file->is_counted |= j != i && is_file_in(file, &files->file[j]);
	}
}

static enum cgroup_hierarchy hierarchy_of_files(const struct text_files *files)
{
	if (!files->is_v1)
		return CGROUP_UNIFIED;
	return strcmp(files->tag->controller, "cpu") ? CGROUP_MEMORY : CGROUP_CPU;
}

int text_cgroups_update(struct text_files *files)
{
	struct service_cgroups *service_cgroups = files->service_cgroups;
	uint64_t generation;
	int status;

	if (!service_cgroups || files->root < 0)
		return 0;
	service_cgroups_want(service_cgroups, hierarchy_of_files(files));
	generation = __atomic_load_n(&service_cgroups->generation, __ATOMIC_ACQUIRE);
	if (generation == files->generation)
		return service_cgroups_status(service_cgroups);
	for (size_t i = 0; i < files->count; i++)
		files->file[i].is_there = files->file[i].is_configured;
	files->hint = 0;
	status = service_cgroups_each(service_cgroups, hierarchy_of_files(files),
				      add_service_cgroup, files);
	files->generation = generation;
	text_files_drop_absent(files);
	mark_counted(files);
	return status ?: service_cgroups_status(service_cgroups);
}

bool text_cgroup_is_stale(const struct text_files *files, const struct text_file *file)
{
	if (file->is_counted)
		return true;
	return files->service_cgroups && file->key.kind != GROUP_COMMAND &&
	       !service_cgroups_is_row(files->service_cgroups, file->service, &file->key);
}
