/* SPDX-License-Identifier: MIT */
/*
 * The mappings of a process in which there is code, as /proc/PID/maps lists them:
 *
 *   55d0c8a00000-55d0c8a21000 r-xp 00002000 fe:01 1835013    /usr/bin/program
 *
 * What has no file is code that the process has made, and a memfd, too: compilers that are part of a program
 * put their code into one so that it need not be writable where it is executed.
 */
#include "process_map.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMFD "/memfd:"

static int grow(struct process_map *map, size_t length)
{
	if (map->count == map->room) {
		size_t room = map->room ? 2 * map->room : 16;
		struct code_mapping *grown = reallocarray(map->mapping, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		map->mapping = grown;
		map->room = room;
	}
	if (map->size - map->used < length) {
		size_t size = 2 * map->size + length;
		char *grown = realloc(map->paths, size);

		if (!grown)
			return -ENOMEM;
		map->paths = grown;
		map->size = size;
	}
	return 0;
}

static enum code_kind kind_of(const char *path, uint64_t inode)
{
	if (path[0] == '/' && inode && strncmp(path, MEMFD, strlen(MEMFD)) != 0)
		return CODE_OF_FILE;
	return !strcmp(path, "[vdso]") || !strcmp(path, "[vsyscall]") ? CODE_OF_KERNEL : CODE_MADE;
}

/* Parts of a program have the same path one after the other. */
static uint32_t put_path(struct process_map *map, const char *path)
{
	size_t length = strlen(path) + 1;

	if (map->count) {
		uint32_t before = map->mapping[map->count - 1].path;

		if (!strcmp(map->paths + before, path))
			return before;
	}
	memcpy(map->paths + map->used, path, length);
	map->used += length;
	return (uint32_t)(map->used - length);
}

static int take_line(struct process_map *map, char *line)
{
	struct code_mapping mapping;
	unsigned major, minor;
	char executable;
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*c%*c%c%*c %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &mapping.begin, &mapping.end, &executable, &mapping.offset, &major, &minor,
		   &mapping.inode, &path) != 7 ||
	    executable != 'x' || !path || mapping.end <= mapping.begin)
		return 0;
	if (map->count && mapping.begin < map->mapping[map->count - 1].end)
		return 0;
	if (grow(map, strlen(line + path) + 1))
		return -ENOMEM;
	mapping.device = (uint64_t)major << 32 | minor;
	mapping.kind = kind_of(line + path, mapping.inode);
	mapping.path = put_path(map, line + path);
	map->mapping[map->count++] = mapping;
	return 0;
}

int process_map_parse(char *text, size_t most, struct process_map *ret_map)
{
	struct process_map map = { 0 };
	char *line;

	while (map.count < most && (line = strsep(&text, "\n"))) {
		int status = take_line(&map, line);

		if (status) {
			process_map_done(&map);
			return status;
		}
	}
	*ret_map = map;
	return 0;
}

const struct code_mapping *process_map_find(const struct process_map *map, uint64_t address)
{
	size_t low = 0, high = map->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->mapping[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < map->count && map->mapping[low].begin <= address ? &map->mapping[low] : NULL;
}

size_t process_map_memory(const struct process_map *map)
{
	return map->room * sizeof(*map->mapping) + map->size;
}

void process_map_done(struct process_map *map)
{
	free(map->mapping);
	free(map->paths);
	*map = (struct process_map){ 0 };
}
