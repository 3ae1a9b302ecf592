/* SPDX-License-Identifier: MIT */
/*
 * Folded files. The first line of the input is the file's name, the other lines are its content.
 * What is read must be written as it was, and read again as the same.
 */
#include "fuzz.h"

#include "plugin/stack/folded.h"
#include "plugin/stack/folded_file.h"

static void check_name(const char *text)
{
	char again[FOLDED_NAME_MAX];
	struct folded_name name;

	if (!folded_name_parse(text, &name))
		return;
	FUZZ_WANT(folded_is_view(name.view));
	FUZZ_WANT(name.service[0]);
	folded_name_text(&name, again);
	FUZZ_WANT(!strcmp(text, again));
}

static uint64_t total(const struct folded *folded)
{
	uint64_t sum = folded->other;

	for (size_t i = 0; i < folded->count; i++)
		sum += folded->line[i].value;
	return sum;
}

static void check_lines(const struct folded *folded)
{
	size_t bytes = 0;

	for (size_t i = 0; i < folded->count; i++) {
		const struct folded_line *line = &folded->line[i];

		FUZZ_WANT(line->value && line->value <= FOLDED_VALUE_MAX);
		FUZZ_WANT(line->length && line->length == strlen(line->stack));
		FUZZ_WANT(line->length < FOLDED_STACK_MAX);
		for (size_t j = 0; j < line->length; j++)
			FUZZ_WANT((unsigned char)line->stack[j] >= ' ' && line->stack[j] != 0x7f);
		bytes += line->length + 17;
	}
	FUZZ_WANT(bytes == folded->bytes);
}

/* Adds each line of a file as a stack of its own. */
static void add_lines(struct folded *folded, const char *bytes, size_t size)
{
	for (const char *end = bytes + size; bytes < end;) {
		const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
		size_t length = (size_t)((newline ? newline : end) - bytes);

		folded_add(folded, bytes, length, 1 + length);
		bytes += length + 1;
	}
}

static char *print(const struct folded *folded, size_t *ret_size)
{
	char *text = NULL;
	FILE *stream = open_memstream(&text, ret_size);

	FUZZ_WANT(stream);
	for (size_t i = 0; i < folded->count; i++)
		fprintf(stream, "%s %llu\n", folded->line[i].stack,
			(unsigned long long)folded->line[i].value);
	if (folded->other)
		fprintf(stream, FOLDED_OTHER " %llu\n", (unsigned long long)folded->other);
	fclose(stream);
	return text;
}

static void check_again(struct folded *folded)
{
	struct folded again = { 0 };
	size_t size;
	char *text = print(folded, &size);

	folded_parse(&again, text, size);
	check_lines(&again);
	FUZZ_WANT(again.count == folded->count && again.other == folded->other);
	FUZZ_WANT(total(&again) == total(folded));
	free(text);
	folded_sort(folded);
	folded_sort(&again);
	for (size_t i = 0; i < folded->count; i++)
		FUZZ_WANT(!strcmp(folded->line[i].stack, again.line[i].stack));
	folded_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *newline = memchr(text, '\n', size);
	size_t begin = newline ? (size_t)(newline - text) + 1 : size;
	struct folded folded = { 0 };

	if (newline)
		*newline = '\0';
	check_name(text);
	folded_parse(&folded, text + begin, size - begin);
	check_lines(&folded);
	check_again(&folded);
	add_lines(&folded, text + begin, size - begin);
	check_lines(&folded);
	check_again(&folded);
	folded_cut(&folded, 2, size / 2);
	FUZZ_WANT(folded.count <= 2 && folded.bytes <= size / 2);
	check_lines(&folded);
	folded_done(&folded);
	free(text);
	return 0;
}
