/* SPDX-License-Identifier: MIT */
/*
 * Files that code is in. A file is opened when a stack with its code is seen and stays open until
 * its functions are named, since the process may exit and its container be removed before that.
 */
#include "code_file.h"

#include "util/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DELETED "_(deleted)" /* as utf8_clean() writes the " (deleted)" of /proc/PID/maps */

int code_files_init(struct code_files *files, struct file_helper *helper)
{
	files->files = helper;
	return index_init(&files->index, CODE_FILES_MAX);
}

struct code_file_key {
	uint64_t device, inode;
	const char *path;
};

/* The path is part of the key, as the inode number of a removed file is used again. */
static uint64_t hash_file(const struct code_files *files, const struct code_file_key *key)
{
	uint64_t hash = index_hash(&files->index, 0, &key->device, sizeof(key->device));

	hash = index_hash(&files->index, hash, &key->inode, sizeof(key->inode));
	return index_hash(&files->index, hash, key->path, strlen(key->path));
}

static bool is_same_code_file(const void *of, uint32_t number, const void *wanted)
{
	const struct code_file *file = &((const struct code_files *)of)->item[number];
	const struct code_file_key *key = wanted;

	return file->inode == key->inode && file->device == key->device &&
	       !strcmp(file->path, key->path);
}

/* "[NAME]"; NULL: no memory. */
static char *make_file_text(const char *path)
{
	const char *name = strrchr(path, '/');
	char clean[256], *text;
	size_t length;

	utf8_clean(clean, sizeof(clean), name ? name + 1 : path);
	length = strlen(clean);
	if (length > strlen(DELETED) && !strcmp(clean + length - strlen(DELETED), DELETED))
		clean[length - strlen(DELETED)] = '\0';
	for (char *at = clean; *at; at++)
		if (*at == ';')
			*at = '_';
	return asprintf(&text, "[%s]", clean) < 0 ? NULL : text;
}

uint32_t code_file_of(struct code_files *files, const struct process_map *map,
		      const struct code_mapping *mapping)
{
	struct code_file_key key = { mapping->device, mapping->inode, map->paths + mapping->path };
	uint64_t hash = hash_file(files, &key);
	uint32_t number = index_find(&files->index, hash, is_same_code_file, files, &key);
	char *path, *text;

	if (number != INDEX_NONE || files->count == CODE_FILES_MAX)
		return number;
	path = strdup(key.path);
	text = make_file_text(key.path);
	if (!path || !text) {
		free(path);
		free(text);
		return INDEX_NONE;
	}
	number = files->count++;
	files->item[number] = (struct code_file){
		.device = mapping->device,
		.inode = mapping->inode,
		.path = path,
		.text = text,
		.file = SYMBOL_FILE_NONE,
	};
	index_add(&files->index, hash, number);
	return number;
}

/* On overlays and Btrfs the device in /proc/PID/maps differs from that of stat(2), and on overlays
 * the inode, too. */
static bool is_expected_file(const struct code_file *file, const struct symbol_file *opened)
{
	return opened->inode == file->inode || opened->is_overlay;
}

static bool open_path(struct code_files *files, struct code_file *file, uint32_t pid)
{
	struct error ignored;

	if (symbol_open(files->files, file->path, (pid_t)pid, &file->file, &ignored) == 0) {
		if (is_expected_file(file, &file->file))
			return true;
		symbol_close(&file->file);
	}
	file->file = (struct symbol_file)SYMBOL_FILE_NONE;
	return false;
}

/* Opens the mapped file itself, even if it was deleted. */
static bool open_mapping(struct code_files *files, struct code_file *file, uint32_t pid,
			 const struct code_mapping *mapping)
{
	char path[96];
	struct error ignored;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, pid,
		 mapping->begin, mapping->end);
	if (symbol_open(files->files, path, 0, &file->file, &ignored) == 0)
		return true;
	file->file = (struct symbol_file)SYMBOL_FILE_NONE;
	return false;
}

bool code_file_open(struct code_files *files, struct code_file *file, uint32_t pid,
		    const struct code_mapping *mapping)
{
	bool opened = file->file.fd >= 0;

	if (opened || file->failed || files->open == CODE_FILES_OPEN)
		return opened;
	/* First by the mapping: the process decides where the path leads, and may have another file
	 * there. */
	opened =
		(mapping && open_mapping(files, file, pid, mapping)) || open_path(files, file, pid);
	files->open += opened;
	return opened;
}

void code_files_close(struct code_files *files)
{
	for (uint32_t i = 0; i < files->count && files->open; i++) {
		files->open -= files->item[i].file.fd >= 0;
		symbol_close(&files->item[i].file);
	}
}

void code_files_clear(struct code_files *files)
{
	code_files_close(files);
	for (uint32_t i = 0; i < files->count; i++) {
		free(files->item[i].path);
		free(files->item[i].text);
	}
	files->count = 0;
	index_clear(&files->index);
}

void code_files_done(struct code_files *files)
{
	if (files->index.slot)
		code_files_clear(files);
	index_done(&files->index);
}
