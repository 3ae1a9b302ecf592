/* SPDX-License-Identifier: MIT */
/*
 * From words of text files to rows. Files come and go, and their numbers may fall; sums only grow.
 * Rows of keys are passed on as the files have them: table/keys remembers their last values.
 */
#include "text_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_FIRST 16

/* --- sums --- */

static bool add_words(struct text_rows *r, const struct text_word *words)
{
	const struct fields *fields = r->fields;
	bool any = false;

	for (size_t i = 0; i < fields->count; i++) {
		uint64_t value;

		if (!text_number(&words[i], &fields->tag[i], fields->field[i].is_signed, &value))
			continue;
		r->value[i] += value;
		r->has[i] = r->found[i] = r->ever[i] = any = true;
	}
	return any;
}

static int add_sum_row(void *to, const struct text_word *words)
{
	struct text_rows *r = to;

	r->any |= add_words(r, words);
	return 0;
}

/* If it is unknown when counting started, the first number of a file may have been counted long
 * ago, and is no growth. */
static uint64_t growth_of_field(const struct text_rows *r, size_t i)
{
	const struct text_file *file = r->file;

	if (file->is_new)
		return r->has_begun && r->begins_at_zero && file->begins_at_zero ? r->value[i] : 0;
	return r->value[i] > file->previous[i] ? r->value[i] - file->previous[i] : 0;
}

static void clear_gauges(const struct text_rows *r, unsigned char *row)
{
	for (size_t i = 0; i < r->fields->count; i++)
		if (r->fields->field[i].is_gauge)
			memset(row + r->fields->field[i].offset, 0, sizeof(uint64_t));
}

/* What a file adds to a row. With `highest` the largest growth of all files counts: each file adds
 * what it has more than those before. */
static uint64_t addition(struct text_rows *r, uint32_t row, size_t i)
{
	uint64_t value = r->fields->field[i].is_gauge ? r->value[i] : growth_of_field(r, i);
	uint64_t *most = r->most ? &r->most[row * r->fields->count + i] : NULL;
	uint64_t before = most ? *most : 0;

	if (!most)
		return value;
	if (value > before)
		*most = value;
	return value > before ? value - before : 0;
}

/* Services may have several rows: the figures of all their files go to the first one. */
static uint32_t row_of_file(const struct text_rows *r, const struct text_file *file)
{
	if (!r->fields->by_service)
		return 0;
	return r->snapshot ? snapshot_first_row(r->snapshot, file->service) : file->service;
}

static void add_sums(struct text_rows *r)
{
	const struct text_file *file = r->file;
	uint32_t number = row_of_file(r, file);
	unsigned char *row = r->sums + number * r->stride;

	if (!r->given[number])
		clear_gauges(r, row);
	r->given[number] = true;
	for (size_t i = 0; i < r->fields->count; i++) {
		const struct field *field = &r->fields->field[i];

		if (!r->has[i])
			continue;
		*(uint64_t *)(row + field->offset) += addition(r, number, i);
		file->previous[i] = r->value[i];
	}
}

/* --- keys --- */

/* The number of the file is part of the key: if a new file has the same path, its rows are new. */
static size_t key_size(const struct fields *fields)
{
	return fields->key_size + sizeof(uint64_t);
}

static size_t row_offset(const struct fields *fields)
{
	return (key_size(fields) + 7) / 8 * 8;
}

size_t text_rows_size(const struct fields *fields, size_t stride)
{
	return fields->by_key ? row_offset(fields) + stride : stride;
}

static bool set_key_member(const struct field *field, const struct text_word *word, char *key)
{
	uint64_t number;

	if (field->is_text) {
		if (!word->at || !word->length)
			return false;
		memcpy(key + field->offset, word->at,
		       word->length < field->size ? word->length : field->size);
		return true;
	}
	if (!text_key_number(word, &number) ||
	    (field->size < sizeof(number) && number >> 8 * field->size))
		return false;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	number <<= 64 - 8 * field->size;
#endif
	memcpy(key + field->offset, &number, field->size);
	return true;
}

/* false: the line lacks a part of the key. */
static bool set_key(const struct text_rows *r, const struct text_word *words, char *key)
{
	const struct text_word match = { r->file->match, r->file->match_length };
	const struct fields *fields = r->fields;

	memset(key, 0, key_size(fields));
	for (size_t i = 0; i < fields->count; i++)
		if (fields->field[i].of_key &&
		    !set_key_member(&fields->field[i], fields->tag[i].is_match ? &match : &words[i],
				    key))
			return false;
	if (fields->by_service)
		memcpy(key + fields->service_offset, &r->file->service, sizeof(uint32_t));
	memcpy(key + fields->key_size, &r->file->number, sizeof(uint64_t));
	return true;
}

static bool is_key_of_row(const void *of, uint32_t number, const void *wanted)
{
	const struct text_rows *r = of;

	return !memcmp(r->keys + number * r->key_stride, wanted, key_size(r->fields));
}

static bool reserve_key(struct text_rows *r)
{
	size_t room = r->key_room ? 2 * r->key_room : KEYS_FIRST;
	unsigned char *grown;

	if (r->key_count == r->count)
		return false;
	if (r->key_count < r->key_room)
		return true;
	grown = reallocarray(r->keys, room, r->key_stride);
	if (!grown)
		return false;
	r->keys = grown;
	r->key_room = room;
	return true;
}

/* The row of a key; a new one is zeroed. NULL: there is no room. */
static unsigned char *row_of_key(struct text_rows *r, const char *key)
{
	uint64_t hash = index_hash(&r->by_key, 0, key, key_size(r->fields));
	uint32_t number = index_find(&r->by_key, hash, is_key_of_row, r, key);
	unsigned char *at;

	if (number != INDEX_NONE)
		return r->keys + number * r->key_stride + row_offset(r->fields);
	if (!reserve_key(r))
		return NULL;
	at = r->keys + r->key_count * r->key_stride;
	memset(at, 0, r->key_stride);
	memcpy(at, key, key_size(r->fields));
	index_add(&r->by_key, hash, (uint32_t)r->key_count++);
	return at + row_offset(r->fields);
}

/* A row without a counter that other rows have is discarded: the missing counter would look as if
 * it had fallen. */
static bool set_values(struct text_rows *r, const struct text_word *words)
{
	const struct fields *fields = r->fields;
	bool any = false;

	for (size_t i = 0; i < fields->count; i++) {
		const struct field *field = &fields->field[i];

		r->has[i] = !field->of_key &&
			    text_number(&words[i], &fields->tag[i], field->is_signed, &r->value[i]);
		if (r->ever[i] && !r->has[i] && !field->is_gauge)
			return false;
		any |= r->has[i];
	}
	return any;
}

static int add_key_row(void *to, const struct text_word *words)
{
	char key[LABEL_KEY_SIZE_MAX + sizeof(uint64_t)];
	struct text_rows *r = to;
	unsigned char *row;

	if (!set_values(r, words) || !set_key(r, words, key))
		return 0;
	r->any = true;
	row = row_of_key(r, key);
	if (!row) {
		r->is_full = true;
		return 1;
	}
	for (size_t i = 0; i < r->fields->count; i++)
		if (r->has[i]) {
			*(uint64_t *)(row + r->fields->field[i].offset) += r->value[i];
			r->found[i] = r->ever[i] = true;
		}
	return 0;
}

/* --- reading --- */

int text_rows_init(struct text_rows *r, const struct fields *fields, uint32_t count, size_t stride,
		   void *sums)
{
	*r = (struct text_rows){ .fields = fields, .count = count, .stride = stride };
	r->begins_at_zero = fields->file.root == KERNEL_FS_CGROUP;
	r->key_stride = text_rows_size(fields, stride);
	if (fields->by_key)
		return index_init(&r->by_key, count);
	r->sums = sums;
	r->given = calloc(count, sizeof(*r->given));
	r->files = calloc(count, sizeof(*r->files));
	if (fields->file.is_highest)
		r->most = calloc(count * fields->count, sizeof(*r->most));
	return r->given && r->files && (r->most || !fields->file.is_highest) ? 0 : -ENOMEM;
}

void text_rows_begin(struct text_rows *r)
{
	memset(r->found, 0, sizeof(r->found));
	r->is_full = false;
	r->key_count = 0;
	if (r->fields->by_key) {
		index_clear(&r->by_key);
		return;
	}
	memset(r->given, 0, r->count * sizeof(*r->given));
	memset(r->files, 0, r->count * sizeof(*r->files));
	if (r->most)
		memset(r->most, 0, r->count * r->fields->count * sizeof(*r->most));
}

void text_rows_count(struct text_rows *r, const struct text_file *file)
{
	uint32_t row = row_of_file(r, file);

	if (!r->fields->by_key && r->files[row] < 2)
		r->files[row]++;
}

bool text_rows_read(struct text_rows *r, struct text_file *file, const char *text, size_t size)
{
	const struct fields *fields = r->fields;

	if (!fields->by_key && !file->previous)
		file->previous = calloc(fields->count, sizeof(*file->previous));
	if (!fields->by_key && !file->previous)
		return false;
	r->file = file;
	r->any = false;
	memset(r->value, 0, sizeof(r->value));
	memset(r->has, 0, sizeof(r->has));
	text_read(&fields->file, fields->tag, fields->count, text, size,
		  fields->by_key ? add_key_row : add_sum_row, r);
	if (r->any && !fields->by_key)
		add_sums(r);
	return r->any;
}

static int each_key(const struct text_rows *r, row_visitor *visit, void *to, struct error *error)
{
	int status = 0;

	for (size_t i = 0; i < r->key_count && status == 0; i++) {
		const unsigned char *key = r->keys + i * r->key_stride;
		const struct source_row row = {
			.key = key,
			.bytes = { key + row_offset(r->fields), 1, r->stride },
			.cpu = -1,
			.is_base = !r->begins_at_zero,
		};

		status = visit(to, &row, error);
	}
	return status;
}

int text_rows_each(const struct text_rows *r, row_visitor *visit, void *to, struct error *error)
{
	int status = 0;

	if (r->fields->by_key)
		return each_key(r, visit, to, error);
	for (uint32_t i = 0; i < r->count && status == 0; i++) {
		const struct source_row row = {
			.key = &i,
			.bytes = { r->sums + i * r->stride, 1, r->stride },
			.cpu = -1,
		};

		if (r->given[i] && !(r->fields->file.is_single && r->files[i] > 1))
			status = visit(to, &row, error);
	}
	return status;
}

void text_rows_done(struct text_rows *r)
{
	index_done(&r->by_key);
	free(r->given);
	free(r->files);
	free(r->most);
	free(r->keys);
	*r = (struct text_rows){ 0 };
}
