/* SPDX-License-Identifier: MIT */
#ifndef FAKE_NAMES_H
#define FAKE_NAMES_H

#include "plugin/helper/symbol_name.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Replaces symbol_name() and symbol_name_made() in tests that are linked with --wrap: the names
 * say what was requested. */

static unsigned fake_requests; /* how many there were */
static int fake_status;        /* returned by both */
static const char
	*fake_name;         /* of all addresses; NULL: "f" and the offset, or "m" and the address */
static uint64_t fake_inode; /* of the file with this build ID */
static uint8_t fake_build_id[20];

int __wrap_symbol_name(struct file_helper *files, const struct symbol_file *file,
		       const uint64_t *offsets, size_t count, struct symbol_names *ret_names,
		       uint8_t ret_build_id[20], struct error *error);
int __wrap_symbol_name_made(struct file_helper *files, const struct symbol_file *map,
			    const uint64_t *addresses, size_t count, struct symbol_names *ret_names,
			    struct error *error);

static int fake(char letter, const uint64_t *addresses, size_t count,
		struct symbol_names *ret_names, struct error *error)
{
	size_t size = 32;

	fake_requests++;
	if (fake_status)
		return error_set(error, fake_status, "it is broken");
	if (fake_name)
		size += strlen(fake_name);
	ret_names->bytes = malloc(count * size);
	ret_names->name = calloc(count, sizeof(*ret_names->name));
	ret_names->count = count;
	for (size_t i = 0; i < count; i++) {
		char *at = ret_names->bytes + i * size;

		if (fake_name)
			snprintf(at, size, "%s", fake_name);
		else
			snprintf(at, size, "%c%llx", letter, (unsigned long long)addresses[i]);
		ret_names->name[i] = at;
	}
	return 0;
}

int __wrap_symbol_name(struct file_helper *files, const struct symbol_file *file,
		       const uint64_t *offsets, size_t count, struct symbol_names *ret_names,
		       uint8_t ret_build_id[20], struct error *error)
{
	(void)files;
	memset(ret_build_id, 0, 20);
	if (file->inode == fake_inode)
		memcpy(ret_build_id, fake_build_id, 20);
	return fake('f', offsets, count, ret_names, error);
}

int __wrap_symbol_name_made(struct file_helper *files, const struct symbol_file *map,
			    const uint64_t *addresses, size_t count, struct symbol_names *ret_names,
			    struct error *error)
{
	(void)files;
	(void)map;
	return fake('m', addresses, count, ret_names, error);
}

#endif
