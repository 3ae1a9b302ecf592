/* SPDX-License-Identifier: MIT */
/*
 * A FILE tag, then a line of FIELD tags separated by semicolons, then the text that is read with
 * them. Each word that is passed on must be a word of the text, and each number must be what the
 * word says.
 */
#include "fuzz.h"

#include "plugin/source/text.h"

#include <errno.h>

#define FIELDS_MAX 8

struct reading {
	const struct file_tag *file;
	struct field_tag fields[FIELDS_MAX];
	size_t count;
	const char *text, *end;
	size_t rows;
};

static void check_number(const struct text_word *word, const struct field_tag *field)
{
	uint64_t got, again = 0;
	char *end;
	char *text;

	if (!text_number(word, field, false, &got))
		return;
	FUZZ_WANT(text_number(word, field, true, &again) == (got <= INT64_MAX));
	FUZZ_WANT(got > INT64_MAX || again == got);
	if (field->decimals)
		return;
	text = fuzz_text((const uint8_t *)word->at, word->length);
	errno = 0;
	FUZZ_WANT(strtoull(text, &end, field->is_hex ? 16 : 10) == got && !errno);
	FUZZ_WANT(*end == '\0' || (*end == '.' && !field->is_hex));
	free(text);
}

static void check_key(const struct text_word *word)
{
	uint64_t got;

	if (!text_key_number(word, &got))
		return;
	FUZZ_WANT(word->length && word->at[word->length - 1] >= '0' &&
		  word->at[word->length - 1] <= '9');
}

static int check_words(void *to, const struct text_word *words)
{
	struct reading *r = to;

	r->rows++;
	for (size_t i = 0; i < r->count; i++) {
		const struct text_word *word = &words[i];

		if (!word->at)
			continue;
		FUZZ_WANT(!r->fields[i].is_match);
		FUZZ_WANT(word->at >= r->text && word->at <= r->end);
		FUZZ_WANT(word->length <= (size_t)(r->end - word->at));
		FUZZ_WANT(!memchr(word->at, ' ', word->length) &&
			  !memchr(word->at, '\n', word->length));
		check_number(word, &r->fields[i]);
		check_key(word);
	}
	return 0;
}

static size_t count_lines(const char *text, const char *end)
{
	size_t lines = 0;

	for (; text < end && (text = memchr(text, '\n', (size_t)(end - text))); text++)
		lines++;
	return lines + 1;
}

/* Parses the FIELD tags and keeps the valid ones; false: none is valid. */
static bool check_fields(struct reading *r, char *tags)
{
	struct error error = { "" };
	char *tag;

	while ((tag = strsep(&tags, ";")) && r->count < FIELDS_MAX) {
		struct field_tag field = { .line = "untouched" };

		error.text[0] = '\0';
		if (field_tag_parse(tag, r->file, &field, &error) == 0) {
			FUZZ_WANT(!error.text[0] && field.position <= FIELD_POSITION_MAX);
			FUZZ_WANT(field.is_match || field.position || field.word[0]);
			r->fields[r->count++] = field;
		} else {
			FUZZ_WANT(error.text[0] && !strcmp(field.line, "untouched"));
		}
	}
	return r->count > 0;
}

static void check_file(const struct file_tag *file)
{
	size_t length = 0;

	FUZZ_WANT(file->path[0] && file->path[0] != '/' && !strstr(file->path, "//"));
	FUZZ_WANT(strncmp(file->path, "../", 3) != 0 && !strstr(file->path, "/../"));
	FUZZ_WANT(file->root != KERNEL_FS_CGROUP || !strchr(file->path, '/'));
	FUZZ_WANT(!path_wildcard(file->path, &length) || length > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *all = fuzz_text(data, size), *text = all, *tags, *fields;
	struct file_tag file = { .path = "untouched" };
	struct reading r = { .file = &file };
	struct error error = { "" };

	tags = strsep(&text, "\n");
	fields = text ? strsep(&text, "\n") : NULL;
	if (file_tag_parse(tags, &file, &error)) {
		FUZZ_WANT(error.text[0] && !strcmp(file.path, "untouched"));
	} else {
		check_file(&file);
		if (fields && text && check_fields(&r, fields)) {
			r.text = text;
			r.end = all + size;
			FUZZ_WANT(text_read(&file, r.fields, r.count, text,
					    (size_t)(r.end - r.text), check_words, &r) == 0);
			FUZZ_WANT(file.form == FORM_CELLS || r.rows <= count_lines(text, r.end));
			FUZZ_WANT(r.rows <= size + 1);
		}
	}
	free(all);
	return 0;
}
