/* SPDX-License-Identifier: MIT */
/*
 * A text file that rows of a table come from, and the list of these files. Files stay open as long
 * as few are open in all tables together, and are read from their start each time.
 */
#include "text_file.h"

#include "cgroup1.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned descriptors_open; /* of all tables; atomic */

/* --- the list --- */

void text_file_close(struct text_file *file)
{
	if (file->fd < 0)
		return;
	close(file->fd);
	file->fd = -1;
	__atomic_fetch_sub(&descriptors_open, 1, __ATOMIC_RELAXED);
}

void text_file_forget(struct text_file *file)
{
	text_file_close(file);
	file->inode = 0;
	file->begins_at_zero = false;
}

static void free_text_file(struct text_file *file)
{
	text_file_close(file);
	free(file->path);
	free(file->previous);
}

struct text_file *text_files_add(struct text_files *files, char *path)
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

void text_files_drop_absent(struct text_files *files)
{
	size_t left = 0;

	for (size_t i = 0; i < files->count; i++)
		if (files->file[i].is_there)
			files->file[left++] = files->file[i];
		else
			free_text_file(&files->file[i]);
	files->count = left;
}

void text_files_done(struct text_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free_text_file(&files->file[i]);
	free(files->file);
	if (files->root >= 0)
		close(files->root);
	*files = (struct text_files){ .root = -1 };
}

/* --- reading --- */

/* Opens another file of the same directory. */
static int open_sibling(const struct text_files *files, const struct text_file *file,
			const char *name, uint64_t *ret_inode)
{
	const char *slash = strrchr(file->path, '/');
	int length = slash ? (int)(slash + 1 - file->path) : 0, fd;
	char *path;

	if (asprintf(&path, "%.*s%s", length, file->path, name) < 0)
		return -ENOMEM;
	fd = kernel_directory_open_file(files->root, path, ret_inode);
	free(path);
	return fd;
}

static int open_text_file(const struct text_files *files, const struct text_file *file,
			  uint64_t *ret_inode)
{
	const struct cgroup1_file *other = files->is_v1 ? cgroup1_file(files->tag->path) : NULL;

	if (!files->is_v1)
		return kernel_directory_open_file(files->root, file->path, ret_inode);
	return other ? open_sibling(files, file, other->file, ret_inode) : -ENOENT;
}

static int open_file(struct text_files *files, struct text_file *file)
{
	uint64_t inode = 0;
	int fd = open_text_file(files, file, &inode);

	if (fd < 0)
		return fd;
	if (inode != file->inode) {
		file->is_new = true;
		file->begins_at_zero |= file->inode != 0;
		file->number = ++files->number;
		file->inode = inode;
	}
	if (__atomic_add_fetch(&descriptors_open, 1, __ATOMIC_RELAXED) <= TEXT_OPEN_MAX)
		file->fd = fd;
	else
		__atomic_fetch_sub(&descriptors_open, 1, __ATOMIC_RELAXED);
	return fd;
}

static ssize_t read_untranslated(struct text_files *files, struct text_file *file,
				 struct kernel_text *text, size_t most)
{
	ssize_t length = -ENODEV;
	int fd;

	file->is_new = false;
	if (file->fd >= 0)
		length = kernel_text_read(file->fd, text, most);
	if (length >= 0)
		return length;
	/* The open file may have been removed, and there may be a new one of its name. */
	text_file_close(file);
	fd = open_file(files, file);
	if (fd < 0)
		return fd;
	length = kernel_text_read(fd, text, most);
	if (file->fd < 0)
		close(fd);
	return length;
}

/* Reads another file of the same directory, which is opened and closed. */
static ssize_t read_sibling(const struct text_files *files, const struct text_file *file,
			    const char *name, struct kernel_text *text)
{
	uint64_t inode;
	int fd = open_sibling(files, file, name, &inode);
	ssize_t length;

	if (fd < 0)
		return fd;
	length = kernel_text_read(fd, text, CGROUP1_TEXT_MAX);
	close(fd);
	return length;
}

/* Translates the text of a v1 file into the words of cgroup2, in place: text->bytes has room for
 * CGROUP1_TEXT_MAX. */
static ssize_t translate(const struct text_files *files, const struct text_file *file,
			 const struct cgroup1_file *other, struct kernel_text *text, ssize_t length)
{
	struct kernel_text second = { 0 };
	char translated[CGROUP1_TEXT_MAX];
	ssize_t more = 0;

	if (length >= 0 && other->second)
		more = read_sibling(files, file, other->second, &second);
	if (length >= 0 && more >= 0)
		length = other->translate(text->bytes, (size_t)length, second.bytes, (size_t)more,
					  translated);
	kernel_text_done(&second);
	if (length < 0 || more < 0)
		return length < 0 ? length : more;
	memcpy(text->bytes, translated, (size_t)length);
	return length;
}

ssize_t text_file_read(struct text_files *files, struct text_file *file, struct kernel_text *text,
		       size_t most)
{
	ssize_t length = read_untranslated(files, file, text, most);

	return files->is_v1 && length >= 0
		       ? translate(files, file, cgroup1_file(files->tag->path), text, length)
		       : length;
}

bool text_is_limit(const char *text, size_t length)
{
	return length > 0 && text[0] >= '0' && text[0] <= '9';
}

int text_file_is_limited(const struct text_files *files, const struct text_file *file,
			 struct kernel_text *text)
{
	const char *name = files->tag->limited;
	const struct cgroup1_file *other = files->is_v1 ? cgroup1_file(name) : NULL;
	ssize_t length;

	if (files->is_v1 && !other)
		return -ENOENT;
	length = read_sibling(files, file, other ? other->file : name, text);
	if (other)
		length = translate(files, file, other, text, length);
	return length < 0 ? (int)length : text_is_limit(text->bytes, (size_t)length);
}

bool text_file_lacks_controller(const struct text_files *files, const struct text_file *file)
{
	const char *slash = strrchr(file->path, '/');
	char above[FILE_PATH_MAX];

	if (files->root < 0 || files->tag->root != KERNEL_FS_CGROUP ||
	    (slash && slash - file->path >= FILE_PATH_MAX))
		return false;
	snprintf(above, sizeof(above), "%.*s", slash ? (int)(slash - file->path) : 1,
		 slash ? file->path : ".");
	return faccessat(files->root, above, F_OK, 0) == 0;
}
