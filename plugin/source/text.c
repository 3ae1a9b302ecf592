/* SPDX-License-Identifier: MIT */
/*
 * Parses text files of the kernel: lines of words. Nothing is copied; rows are words of the text.
 */
#include "text.h"

#include "schema/label_names.h"

#include <string.h>

/* The unread part of a line, or of the text. */
struct text_cursor {
	const char *at, *end;
};

struct text_parse {
	const struct file_tag *file;
	const struct field_tag *fields;
	size_t count;
	text_visitor *visit;
	void *to;
	uint32_t columns
		[TEXT_FIELDS_MAX]; /* FORM_HEADER: position of each field in the header, or 0 */
};

static bool next_text_line(struct text_cursor *text, struct text_cursor *ret_line)
{
	const char *end;

	if (text->at == text->end)
		return false;
	end = memchr(text->at, '\n', (size_t)(text->end - text->at));
	*ret_line = (struct text_cursor){ text->at, end ? end : text->end };
	text->at = end ? end + 1 : text->end;
	return true;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

/* A final colon does not belong to the word. */
static bool next_line_word(struct text_cursor *line, struct text_word *ret_word)
{
	const char *at = line->at, *end = line->end;

	while (at < end && is_space(*at))
		at++;
	ret_word->at = at;
	while (at < end && !is_space(*at))
		at++;
	line->at = at;
	ret_word->length = (size_t)(at - ret_word->at);
	if (ret_word->length == 0)
		return false;
	ret_word->length -= ret_word->length > 1 && at[-1] == ':';
	return true;
}

static bool word_equals(const struct text_word *word, const char *name, size_t length)
{
	return word->length == length && !memcmp(word->at, name, length);
}

/* The position of a name in a line, counted from 1; 0: it does not occur. */
static uint32_t position_of_name(struct text_cursor line, const char *name)
{
	size_t length = strlen(name);
	struct text_word word;

	for (uint32_t i = 1; next_line_word(&line, &word) && i <= FIELD_POSITION_MAX; i++)
		if (word_equals(&word, name, length))
			return i;
	return 0;
}

static struct text_word word_at_position(struct text_cursor line, uint32_t position)
{
	struct text_word word;

	for (uint32_t i = 1; next_line_word(&line, &word); i++)
		if (i == position)
			return word;
	return (struct text_word){ 0 };
}

/* The value of NAME=VALUE or NAME VALUE. */
static struct text_word word_called(struct text_cursor line, const char *name)
{
	size_t length = strlen(name);
	struct text_word word;

	while (next_line_word(&line, &word)) {
		if (word_equals(&word, name, length))
			return next_line_word(&line, &word) ? word : (struct text_word){ 0 };
		if (word.length > length && word.at[length] == '=' &&
		    !memcmp(word.at, name, length))
			return (struct text_word){ word.at + length + 1, word.length - length - 1 };
	}
	return (struct text_word){ 0 };
}

static struct text_word word_of_field(const struct text_cursor *line, const struct field_tag *field)
{
	return field->position ? word_at_position(*line, field->position)
			       : word_called(*line, field->word);
}

/* Reads the first word of a line, its name. false: the line is empty or does not match the tag. */
static bool read_line_name(const struct text_parse *r, struct text_cursor *line,
			   struct text_word *ret_name)
{
	return next_line_word(line, ret_name) &&
	       (!r->file->only[0] || name_matches(r->file->only, ret_name->at, ret_name->length));
}

/* Is this field in the line of this name, and not found yet? */
static bool is_field_of_line(const struct field_tag *field, const struct text_word *found,
			     const struct text_word *name)
{
	return !field->is_match && !found->at &&
	       word_equals(name, field->line, strlen(field->line));
}

static int parse_keys(const struct text_parse *r, struct text_cursor text)
{
	struct text_word words[TEXT_FIELDS_MAX] = { 0 }, name;
	struct text_cursor line;

	while (next_text_line(&text, &line)) {
		if (!read_line_name(r, &line, &name))
			continue;
		for (size_t i = 0; i < r->count; i++)
			if (is_field_of_line(&r->fields[i], &words[i], &name))
				words[i] = word_of_field(&line, &r->fields[i]);
	}
	return r->visit(r->to, words);
}

/* Reads pairs of lines that start with the same word: one has names, the next one their values. */
static int parse_pairs(const struct text_parse *r, struct text_cursor text)
{
	struct text_word words[TEXT_FIELDS_MAX] = { 0 }, name, before = { 0 };
	struct text_cursor line, names = { 0 };

	while (next_text_line(&text, &line)) {
		if (!read_line_name(r, &line, &name))
			continue;
		if (!before.at || !word_equals(&name, before.at, before.length)) {
			before = name;
			names = line;
			continue;
		}
		before.at = NULL;
		for (size_t i = 0; i < r->count; i++) {
			const struct field_tag *field = &r->fields[i];
			uint32_t position = field->position;

			if (!is_field_of_line(field, &words[i], &name))
				continue;
			position = position ? position : position_of_name(names, field->word);
			if (position)
				words[i] = word_at_position(line, position);
		}
	}
	return r->visit(r->to, words);
}

/* The word of a field in a line: by position, by the name of its column, or by a name in the line
 * itself. */
static struct text_word word_of_column(const struct text_parse *r, const struct text_cursor *line,
				       size_t i)
{
	const struct field_tag *field = &r->fields[i];

	if (field->is_match)
		return (struct text_word){ 0 };
	if (r->columns[i])
		return word_at_position(*line, r->columns[i]);
	if (r->file->form == FORM_HEADER && !field->position)
		return (struct text_word){ 0 };
	return word_of_field(line, field);
}

static int parse_lines(struct text_parse *r, struct text_cursor text)
{
	struct text_word words[TEXT_FIELDS_MAX] = { 0 }, name;
	struct text_cursor line;
	int status = 0;

	if (r->file->form == FORM_HEADER && next_text_line(&text, &line))
		for (size_t i = 0; i < r->count; i++)
			r->columns[i] = position_of_name(line, r->fields[i].word);
	while (status == 0 && next_text_line(&text, &line)) {
		struct text_cursor all = line;

		if (!read_line_name(r, &line, &name))
			continue;
		for (size_t i = 0; i < r->count; i++)
			words[i] = word_of_column(r, &all, i);
		status = r->visit(r->to, words);
	}
	return status;
}

/* A cell counts as a line of three words: row, column, value. */
static int parse_cell(const struct text_parse *r, const struct text_word cell[3])
{
	struct text_word words[TEXT_FIELDS_MAX] = { 0 };

	for (size_t i = 0; i < r->count; i++)
		if (!r->fields[i].is_match)
			words[i] = cell[r->fields[i].position - 1];
	return r->visit(r->to, words);
}

static int parse_cells(const struct text_parse *r, struct text_cursor text)
{
	struct text_cursor header, line;
	int status = 0;

	if (!next_text_line(&text, &header))
		return 0;
	while (status == 0 && next_text_line(&text, &line)) {
		struct text_cursor columns = header;
		struct text_word cell[3];

		if (!read_line_name(r, &line, &cell[0]))
			continue;
		while (status == 0 && next_line_word(&columns, &cell[1]) &&
		       next_line_word(&line, &cell[2]))
			status = parse_cell(r, cell);
	}
	return status;
}

int text_read(const struct file_tag *file, const struct field_tag *fields, size_t count,
	      const char *text, size_t size, text_visitor *visit, void *to)
{
	struct text_parse r = {
		.file = file, .fields = fields, .count = count, .visit = visit, .to = to
	};
	struct text_cursor body = { text, text + size }, line;

	for (unsigned i = 0; i < file->skip && next_text_line(&body, &line); i++)
		;
	switch (file->form) {
	case FORM_KEYS:
		return parse_keys(&r, body);
	case FORM_PAIRS:
		return parse_pairs(&r, body);
	case FORM_LINES:
	case FORM_HEADER:
		return parse_lines(&r, body);
	case FORM_CELLS:
		return parse_cells(&r, body);
	}
	return 0;
}

/* --- numbers --- */

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* Reads at most `most` digits of a base. false: the number is too large. */
static bool parse_digits(struct text_cursor *from, unsigned base, size_t most, uint64_t *number)
{
	for (; from->at < from->end && most; from->at++, most--) {
		unsigned digit = (unsigned)digit_value(*from->at);

		if (digit >= base)
			break;
		if (__builtin_mul_overflow(*number, base, number) ||
		    __builtin_add_overflow(*number, digit, number))
			return false;
	}
	return true;
}

/* Reads the first `decimals` digits of a fraction, with zeros for missing ones. */
static bool parse_fraction(struct text_cursor *from, unsigned decimals, uint64_t *number)
{
	const char *dot = from->at;
	uint64_t ignored;
	size_t decimals_read = 0;

	if (dot < from->end && *dot == '.') {
		from->at++;
		if (!parse_digits(from, 10, decimals, number))
			return false;
		decimals_read = (size_t)(from->at - dot - 1);
		for (ignored = 0; from->at < from->end && digit_value(*from->at) < 10; ignored = 0)
			parse_digits(from, 10, 1, &ignored);
		if (from->at == dot + 1)
			return false;
	}
	for (; decimals_read < decimals; decimals_read++)
		if (__builtin_mul_overflow(*number, 10, number))
			return false;
	return true;
}

bool text_number(const struct text_word *word, const struct field_tag *field, bool is_signed,
		 uint64_t *ret_number)
{
	struct text_cursor from = { word->at, word->at + word->length };
	uint64_t number = 0;
	const char *digits;
	bool negative;

	if (!word->at || !word->length)
		return false;
	negative = *from.at == '-';
	from.at += negative;
	if (field->is_hex && from.end - from.at > 2 && !memcmp(from.at, "0x", 2))
		from.at += 2;
	digits = from.at;
	if (!parse_digits(&from, field->is_hex ? 16 : 10, SIZE_MAX, &number) || from.at == digits)
		return false;
	if (!field->is_hex && !parse_fraction(&from, field->decimals, &number))
		return false;
	if (from.at != from.end || (negative && !is_signed) || (is_signed && number > INT64_MAX))
		return false;
	*ret_number = negative ? -number : number;
	return true;
}

bool text_key_number(const struct text_word *word, uint64_t *ret_number)
{
	struct text_cursor from = { word->at, word->at + word->length };
	uint64_t major = 0, minor = 0, number = 0;

	if (!word->at)
		return false;
	if (word->length && parse_digits(&from, 10, 10, &major) && from.at > word->at &&
	    from.at < from.end && *from.at == ':') {
		from.at++;
		if (from.at == from.end || !parse_digits(&from, 10, 10, &minor) ||
		    from.at != from.end || major >> 12 || minor >> DEVICE_MINOR_BITS)
			return false;
		*ret_number = major << DEVICE_MINOR_BITS | minor;
		return true;
	}
	from.at = from.end;
	while (from.at > word->at && digit_value(from.at[-1]) < 10)
		from.at--;
	if (from.at == from.end || !parse_digits(&from, 10, SIZE_MAX, &number))
		return false;
	*ret_number = number;
	return true;
}
