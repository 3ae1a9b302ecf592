/* SPDX-License-Identifier: MIT */
/*
 * Lines of a folded file in memory: stacks and their values. Whoever wrote a program chose the
 * names of its functions, so a line is made text without control characters, of a bounded length.
 */
#include "folded.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LEFT_OUT ";[left out]"
#define DIGITS_MAX 15
/* in addition to the stack: blank, value and newline */
#define LINE_BYTES (sizeof(" ") + DIGITS_MAX)
#define MALLOC_BYTES 16

struct stack_text {
	const char *at;
	size_t length;
};

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	return a >= FOLDED_VALUE_MAX || b >= FOLDED_VALUE_MAX - a ? FOLDED_VALUE_MAX : a + b;
}

/* --- lines --- */

static bool is_same_stack(const void *of, uint32_t number, const void *wanted)
{
	const struct folded_line *line = &((const struct folded *)of)->line[number];
	const struct stack_text *stack = wanted;

	return line->length == stack->length && !memcmp(line->stack, stack->at, stack->length);
}

static void index_lines(struct folded *folded)
{
	for (size_t i = 0; i < folded->count; i++) {
		const struct folded_line *line = &folded->line[i];

		index_add(&folded->index, index_hash(&folded->index, 0, line->stack, line->length),
			  (uint32_t)i);
	}
}

static bool grow_lines(struct folded *folded)
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
	index_lines(folded);
	return true;
}

static bool append_stack(struct folded *folded, const struct stack_text *stack, uint64_t value)
{
	char *copy = NULL;

	if (folded->count < folded->room || grow_lines(folded))
		copy = strndup(stack->at, stack->length);
	if (!copy)
		return false;
	index_add(&folded->index, index_hash(&folded->index, 0, stack->at, stack->length),
		  (uint32_t)folded->count);
	folded->line[folded->count++] = (struct folded_line){ copy, stack->length, value };
	folded->bytes += stack->length + LINE_BYTES;
	return true;
}

static void add_clean(struct folded *folded, const struct stack_text *stack, uint64_t value)
{
	uint32_t number = INDEX_NONE;

	if (stack->length == strlen(FOLDED_OTHER) &&
	    !memcmp(stack->at, FOLDED_OTHER, stack->length)) {
		folded->other = add_saturated(folded->other, value);
		return;
	}
	if (folded->count)
		number = index_find(&folded->index,
				    index_hash(&folded->index, 0, stack->at, stack->length),
				    is_same_stack, folded, stack);
	if (number != INDEX_NONE)
		folded->line[number].value = add_saturated(folded->line[number].value, value);
	else if (!append_stack(folded, stack, value))
		folded->other = add_saturated(folded->other, value);
}

/* --- any text --- */

/* The bytes that remain of a stack that is too long: whole functions, if it has several. */
static size_t length_after_cut(const char *stack)
{
	size_t room = FOLDED_STACK_MAX - sizeof(LEFT_OUT);
	const char *end = memrchr(stack, ';', room);

	return end && end > stack ? (size_t)(end - stack) : room;
}

static size_t clean_stack(char to[FOLDED_STACK_MAX], const char *stack, size_t length)
{
	bool is_cut = length >= FOLDED_STACK_MAX;

	if (is_cut)
		length = length_after_cut(stack);
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
	struct stack_text stack_text = { buffer, 0 };

	while (length && stack[length - 1] == ' ')
		length--;
	for (; length && *stack == ' '; stack++)
		length--;
	if (!length) {
		stack = "[unknown]";
		length = strlen(stack);
	}
	stack_text.length = clean_stack(buffer, stack, length);
	add_clean(folded, &stack_text, value);
}

void folded_add_all(struct folded *folded, const struct folded *from)
{
	for (size_t i = 0; i < from->count; i++) {
		struct stack_text stack = { from->line[i].stack, from->line[i].length };

		add_clean(folded, &stack, from->line[i].value);
	}
	folded->other = add_saturated(folded->other, from->other);
}

/* Parses the value at the end of a line; 0: invalid. */
static uint64_t parse_value(const char *at, const char *end)
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

static void parse_folded_line(struct folded *folded, const char *line, const char *end)
{
	const char *blank = memrchr(line, ' ', (size_t)(end - line));
	uint64_t value = blank ? parse_value(blank + 1, end) : 0;
	struct stack_text stack = { line, blank ? (size_t)(blank - line) : 0 };

	if (value && stack.length && stack.length < FOLDED_STACK_MAX && *line != ' ' &&
	    blank[-1] != ' ' && !has_controls(line, blank))
		add_clean(folded, &stack, value);
}

void folded_parse(struct folded *folded, const char *bytes, size_t size)
{
	const char *end = bytes + size, *newline;

	while (bytes < end && (newline = memchr(bytes, '\n', (size_t)(end - bytes)))) {
		parse_folded_line(folded, bytes, newline);
		bytes = newline + 1;
	}
}

/* --- bounds --- */

static int by_stack_value(const void *left, const void *right)
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
	qsort(folded->line, folded->count, sizeof(*folded->line), by_stack_value);
	index_clear(&folded->index);
	index_lines(folded);
}

void folded_cut(struct folded *folded, size_t lines, size_t bytes)
{
	size_t count = 0, left = 0;

	if (folded->count <= lines && folded->bytes <= bytes)
		return;
	qsort(folded->line, folded->count, sizeof(*folded->line), by_stack_value);
	for (size_t i = 0; i < folded->count; i++) {
		struct folded_line line = folded->line[i];

		if (count < lines && left + line.length + LINE_BYTES <= bytes) {
			left += line.length + LINE_BYTES;
			folded->line[count++] = line;
			continue;
		}
		folded->other = add_saturated(folded->other, line.value);
		free(line.stack);
	}
	folded->count = count;
	folded->bytes = left;
	index_clear(&folded->index);
	index_lines(folded);
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
