/* SPDX-License-Identifier: MIT */
/*
 * Numbers of code and of build IDs, each found by a hash of its key.
 *
 * Code of files and of the kernel stays from one write to the next, so that the name of what runs
 * all day is asked for once. The tables are emptied after an hour at the latest, since files and
 * modules come and go.
 */
#include "code_table.h"

#include "util/clock.h"

#include <stdlib.h>
#include <string.h>

#define CODES_MAX (1U << 17)
#define BYTES_MAX ((size_t)32 << 20) /* of names */
#define AGE_MAX_NS (3600 * NS_PER_S)

int code_table_init(struct codes *codes)
{
	int status = index_init(&codes->builds, CODE_BUILDS_MAX);

	codes->since_ns = clock_ns();
	return status ?: index_init(&codes->index, CODES_MAX);
}

static uint64_t hash_code(const struct codes *codes, const struct code_key *key)
{
	return index_hash(&codes->index, 0, key, sizeof(*key));
}

static bool is_code(const void *of, uint32_t number, const void *wanted)
{
	return !memcmp(&((const struct codes *)of)->code[number].key, wanted,
		       sizeof(struct code_key));
}

static bool grow_codes(struct codes *codes)
{
	uint32_t room = codes->room ? 2 * codes->room : 1024;
	struct code *grown;

	if (codes->count < codes->room)
		return true;
	if (codes->count == CODES_MAX)
		return false;
	grown = reallocarray(codes->code, room, sizeof(*grown));
	if (!grown)
		return false;
	codes->code = grown;
	codes->room = room;
	return true;
}

struct code *code_table_add(struct codes *codes, const struct code_key *key)
{
	uint64_t hash = hash_code(codes, key);
	uint32_t number = index_find(&codes->index, hash, is_code, codes, key);

	if (number != INDEX_NONE)
		return &codes->code[number];
	if (!grow_codes(codes))
		return NULL;
	number = codes->count++;
	codes->code[number] = (struct code){ .key = *key };
	index_add(&codes->index, hash, number);
	return &codes->code[number];
}

uint32_t code_table_number(const struct codes *codes, const struct code *code)
{
	return code ? (uint32_t)(code - codes->code) + 1 : 0;
}

/* --- build IDs --- */

static bool is_build(const void *of, uint32_t number, const void *wanted)
{
	return !memcmp(((const struct codes *)of)->build[number].id, wanted, STACK_BUILD_ID_SIZE);
}

uint32_t code_table_build(struct codes *codes, const uint8_t id[STACK_BUILD_ID_SIZE])
{
	uint64_t hash = index_hash(&codes->builds, 0, id, STACK_BUILD_ID_SIZE);
	uint32_t number = index_find(&codes->builds, hash, is_build, codes, id);

	if (number != INDEX_NONE || codes->build_count == CODE_BUILDS_MAX)
		return number;
	number = codes->build_count++;
	memcpy(codes->build[number].id, id, STACK_BUILD_ID_SIZE);
	codes->build[number].file = INDEX_NONE;
	index_add(&codes->builds, hash, number);
	return number;
}

bool code_table_lacks_files(const struct codes *codes)
{
	for (uint32_t i = 0; i < codes->build_count; i++)
		if (codes->build[i].file == INDEX_NONE)
			return true;
	return false;
}

void code_table_set_build_id(struct codes *codes, uint32_t number,
			     const uint8_t id[STACK_BUILD_ID_SIZE])
{
	static const uint8_t none[STACK_BUILD_ID_SIZE];
	struct code_file *file = &codes->files.item[number];
	uint32_t build;

	file->has_build_id = true;
	memcpy(file->build_id, id, STACK_BUILD_ID_SIZE);
	if (!memcmp(id, none, STACK_BUILD_ID_SIZE))
		return;
	build = code_table_build(codes, id);
	if (build != INDEX_NONE)
		codes->build[build].file = number;
}

/* --- emptying --- */

bool code_table_is_due(const struct codes *codes)
{
	return codes->count > CODES_MAX / 2 || codes->bytes > BYTES_MAX ||
	       codes->build_count > CODE_BUILDS_MAX / 2 ||
	       codes->files.count > CODE_FILES_MAX / 2 || clock_ns() - codes->since_ns > AGE_MAX_NS;
}

void code_table_drop_processes(struct codes *codes)
{
	uint32_t count = 0;

	index_clear(&codes->index);
	for (uint32_t i = 0; i < codes->count; i++) {
		struct code code = codes->code[i];

		if (code.key.source == CODE_IN_PROCESS) {
			codes->bytes -= code.name ? strlen(code.name) + 1 : 0;
			free(code.name);
			continue;
		}
		index_add(&codes->index, hash_code(codes, &code.key), count);
		codes->code[count++] = code;
	}
	codes->count = count;
}

void code_table_clear(struct codes *codes)
{
	for (uint32_t i = 0; i < codes->count; i++)
		free(codes->code[i].name);
	free(codes->code);
	codes->code = NULL;
	codes->count = codes->room = 0;
	codes->bytes = 0;
	index_clear(&codes->index);
	codes->build_count = 0;
	index_clear(&codes->builds);
	code_files_clear(&codes->files);
	codes->logged = 0;
	codes->since_ns = clock_ns();
}

void code_table_done(struct codes *codes)
{
	if (codes->index.slot && codes->builds.slot)
		code_table_clear(codes);
	index_done(&codes->builds);
	index_done(&codes->index);
}
