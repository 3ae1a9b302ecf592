/* SPDX-License-Identifier: MIT */
/*
 * Walks the directories of a cgroup hierarchy, from its root down to those of units, users and containers, by
 * the rules of bpf/lib/services/group.h. What a user has made is bounded for each user, so that it hides
 * nothing else.
 */
#include "tree.h"

#include "bpf/lib/services/service.h"
#include "util/lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tree {
	tree_visitor *visit;
	void *to;
	dev_t device;
	unsigned directories;
	unsigned of_user; /* names in the slice of the user where the walk is now */
	char path[TREE_PATH_MAX];
};

static int walk_directory(struct tree *tree, int fd, size_t length, const struct group_walk *above,
			  unsigned depth);

/* Opens a directory of the same file system; -ENOENT also if it was removed meanwhile. */
static int open_tree_directory(const struct tree *tree, int above, const char *name)
{
	struct stat file;
	int fd;

	lock_assert_none(name);
	fd = openat(above, name,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &file) == 0 && file.st_dev == tree->device)
		return fd;
	close(fd);
	return -ENOENT;
}

static bool is_tree_directory(int above, const struct dirent *entry)
{
	struct stat file;

	if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
		return false;
	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(above, entry->d_name, &file, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(file.st_mode);
}

static int walk_child(struct tree *tree, int above, const char *name, size_t length,
		      const struct group_walk *at, unsigned depth)
{
	int fd = open_tree_directory(tree, above, name);

	if (fd == -ENOENT || fd == -ENOTDIR || fd == -ENODEV)
		return 0;
	if (fd >= 0 && at->key.kind != GROUP_USER && ++tree->directories > TREE_DIRECTORIES_MAX) {
		close(fd);
		return -E2BIG;
	}
	return fd < 0 ? fd : walk_directory(tree, fd, length, at, depth);
}

static int visit_directory(struct tree *tree, int above_fd, const struct dirent *entry,
			   size_t length, const struct group_walk *above, unsigned depth)
{
	size_t name_length = strlen(entry->d_name);
	struct group_walk at = *above;
	int is_leaf, status = 0;

	tree->of_user = above->key.kind == GROUP_USER ? tree->of_user + 1 : 0;
	if (tree->of_user > TREE_USER_NAMES_MAX)
		return 0;
	if (name_length >= sizeof(at.name) || length + 1 + name_length >= sizeof(tree->path))
		return 0;
	if (length)
		tree->path[length++] = '/';
	memcpy(tree->path + length, entry->d_name, name_length + 1);
	memcpy(at.name, entry->d_name, name_length + 1);
	at.length = (__u32)name_length;
	is_leaf = group_step(&at);
	if (memcmp(&at.key, &above->key, sizeof(at.key)) != 0)
		status = tree->visit(tree->to, tree->path, entry->d_ino, &at.key);
	if (status || is_leaf || depth == CGROUP_DEPTH_MAX)
		return status;
	return walk_child(tree, above_fd, entry->d_name, length + name_length, &at, depth);
}

/* Closes the descriptor. */
static int walk_directory(struct tree *tree, int fd, size_t length, const struct group_walk *above,
			  unsigned depth)
{
	DIR *directory = fdopendir(fd);
	struct dirent *entry;
	int status = 0;

	if (!directory) {
		status = -errno;
		close(fd);
		return status;
	}
	while (status == 0 && (entry = readdir(directory)))
		if (is_tree_directory(fd, entry))
			status = visit_directory(tree, fd, entry, length, above, depth + 1);
	closedir(directory);
	return status;
}

int tree_walk(int root, tree_visitor *visit, void *to)
{
	const struct group_walk top = { 0 };
	struct tree tree = { .visit = visit, .to = to };
	struct stat file;
	int fd;

	if (fstat(root, &file) != 0)
		return -errno;
	tree.device = file.st_dev;
	fd = open_tree_directory(&tree, root, ".");
	return fd < 0 ? fd : walk_directory(&tree, fd, 0, &top, 0);
}
