/* SPDX-License-Identifier: MIT */
/*
 * Lines of a folded file in memory: stacks and their values. What functions are called is up to whoever
 * wrote the program, so a line is text without control characters, of a bounded length, and nothing else.
 */
#include "folded.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LEFT_OUT ";[left out]"
#define DIGITS_MAX 15
#define LINE_BYTES (sizeof(" ") + DIGITS_MAX) /* beside the stack: blank, value and newline */
#define MALLOC_BYTES 16

struct text {
	const char *at;
	size_t length;
};

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a >= FOLDED_VALUE_MAX || b >= FOLDED_VALUE_MAX - a ? FOLDED_VALUE_MAX : a + b;
}

/* --- lines --- */

static bool is_stack(const void *of, uint32_t number, const void *wanted)
{
	const struct folded_line *line = &((const struct folded *)of)->line[number];
	const struct text *stack = wanted;

	return line->length == stack->length && !memcmp(line->stack, stack->at, stack->length);
}

static void enter(struct folded *folded)
{
	for (size_t i = 0; i < folded->count; i++) {
		const struct folded_line *line = &folded->line[i];

		index_add(&folded->index, index_hash(&folded->index, 0, line->stack, line->length),
			  (uint32_t)i);
	}
}

static bool grow(struct folded *folded)
{
	size_t room = folded->room ? 2 * folded->room : 16;
	struct folded_line *lines;
	struct index index = { 0 };

	if (index_init(&index, room))
		return false;
	lines = reallocarray(folded->line, room, sizeof(*lines));
	if (!lines) {
		index_done(&index);
		return false;
	}
	index_done(&folded->index);
	folded->index = index;
	folded->line = lines;
	folded->room = room;
	enter(folded);
	return true;
}

static bool append(struct folded *folded, const struct text *stack, uint64_t value)
{
	char *copy = NULL;

	if (folded->count < folded->room || grow(folded))
		copy = strndup(stack->at, stack->length);
	if (!copy)
		return false;
	index_add(&folded->index, index_hash(&folded->index, 0, stack->at, stack->length),
		  (uint32_t)folded->count);
	folded->line[folded->count++] = (struct folded_line){ copy, stack->length, value };
	folded->bytes += stack->length + LINE_BYTES;
	return true;
}

static void add_clean(struct folded *folded, const struct text *stack, uint64_t value)
{
	uint32_t known = INDEX_NONE;

	if (stack->length == strlen(FOLDED_OTHER) &&
	    !memcmp(stack->at, FOLDED_OTHER, stack->length)) {
		folded->other = sum(folded->other, value);
		return;
	}
	if (folded->count)
		known = index_find(&folded->index,
				   index_hash(&folded->index, 0, stack->at, stack->length),
				   is_stack, folded, stack);
	if (known != INDEX_NONE)
		folded->line[known].value = sum(folded->line[known].value, value);
	else if (!append(folded, stack, value))
		folded->other = sum(folded->other, value);
}

/* --- any text --- */

/* How much of a stack that is too long is kept: whole functions, where it has several. */
static size_t kept_length(const char *stack)
{
	size_t room = FOLDED_STACK_MAX - sizeof(LEFT_OUT);
	const char *end = memrchr(stack, ';', room);

	return end && end > stack ? (size_t)(end - stack) : room;
}

static size_t clean(char to[FOLDED_STACK_MAX], const char *stack, size_t length)
{
	bool is_cut = length >= FOLDED_STACK_MAX;

	if (is_cut)
		length = kept_length(stack);
	for (size_t i = 0; i < length; i++)
		to[i] = (unsigned char)stack[i] < ' ' || stack[i] == 0x7f ? '?' : stack[i];
	if (is_cut) {
		memcpy(to + length, LEFT_OUT, strlen(LEFT_OUT));
		length += strlen(LEFT_OUT);
	}
	return length;
}

void folded_add(struct folded *folded, const char *stack, size_t length, uint64_t value)
{
	char buffer[FOLDED_STACK_MAX];
	struct text text = { buffer, 0 };

	while (length && stack[length - 1] == ' ')
		length--;
	for (; length && *stack == ' '; stack++)
		length--;
	if (!length) {
		stack = "[unknown]";
		length = strlen(stack);
	}
	text.length = clean(buffer, stack, length);
	add_clean(folded, &text, value);
}

void folded_add_all(struct folded *folded, const struct folded *from)
{
	for (size_t i = 0; i < from->count; i++) {
		struct text stack = { from->line[i].stack, from->line[i].length };

		add_clean(folded, &stack, from->line[i].value);
	}
	folded->other = sum(folded->other, from->other);
}

/* The value at the end of a line; 0: it is none. */
static uint64_t value_of(const char *at, const char *end)
{
	uint64_t value = 0;

	if (at == end || end - at > DIGITS_MAX)
		return 0;
	for (; at < end; at++) {
		if (*at < '0' || *at > '9')
			return 0;
		value = 10 * value + (uint64_t)(*at - '0');
	}
	return value;
}

static bool has_controls(const char *at, const char *end)
{
	for (; at < end; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			return true;
	return false;
}

static void parse_line(struct folded *folded, const char *line, const char *end)
{
	const char *blank = memrchr(line, ' ', (size_t)(end - line));
	uint64_t value = blank ? value_of(blank + 1, end) : 0;
	struct text stack = { line, blank ? (size_t)(blank - line) : 0 };

	if (value && stack.length && stack.length < FOLDED_STACK_MAX && *line != ' ' &&
	    blank[-1] != ' ' && !has_controls(line, blank))
		add_clean(folded, &stack, value);
}

void folded_parse(struct folded *folded, const char *bytes, size_t size)
{
	const char *end = bytes + size, *newline;

	while (bytes < end && (newline = memchr(bytes, '\n', (size_t)(end - bytes)))) {
		parse_line(folded, bytes, newline);
		bytes = newline + 1;
	}
}

/* --- bounds --- */

static int by_value(const void *left, const void *right)
{
	const struct folded_line *a = left, *b = right;

	if (a->value != b->value)
		return a->value > b->value ? -1 : 1;
	return strcmp(a->stack, b->stack);
}

void folded_sort(struct folded *folded)
{
	if (!folded->count)
		return;
	qsort(folded->line, folded->count, sizeof(*folded->line), by_value);
	index_clear(&folded->index);
	enter(folded);
}

void folded_cut(struct folded *folded, size_t lines, size_t bytes)
{
	size_t kept = 0, left = 0;

	if (folded->count <= lines && folded->bytes <= bytes)
		return;
	qsort(folded->line, folded->count, sizeof(*folded->line), by_value);
	for (size_t i = 0; i < folded->count; i++) {
		struct folded_line line = folded->line[i];

		if (kept < lines && left + line.length + LINE_BYTES <= bytes) {
			left += line.length + LINE_BYTES;
			folded->line[kept++] = line;
			continue;
		}
		folded->other = sum(folded->other, line.value);
		free(line.stack);
	}
	folded->count = kept;
	folded->bytes = left;
	index_clear(&folded->index);
	enter(folded);
}

size_t folded_memory(const struct folded *folded)
{
	return folded->bytes + folded->count * MALLOC_BYTES +
	       folded->room * (sizeof(*folded->line) + 4 * sizeof(uint32_t));
}

void folded_done(struct folded *folded)
{
	for (size_t i = 0; i < folded->count; i++)
		free(folded->line[i].stack);
	free(folded->line);
	index_done(&folded->index);
	*folded = (struct folded){ 0 };
}
