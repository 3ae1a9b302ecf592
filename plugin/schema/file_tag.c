/* SPDX-License-Identifier: MIT */
/*
 * Parses the texts of FILE and FIELD tags: which file a table is read from, and which word of it
 * fills a member.
 */
#include "file_tag.h"

#include "tag_word.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPACE " \t"
#define SKIP_MAX 100

static const struct {
	const char *prefix;
	enum kernel_fs root;
} roots[] = {
	{ "/proc/", KERNEL_FS_PROC },
	{ "/sys/", KERNEL_FS_SYS },
	{ "cgroup:", KERNEL_FS_CGROUP },
};

static const char *const forms[] = {
	[FORM_KEYS] = "keys",     [FORM_PAIRS] = "pairs", [FORM_LINES] = "lines",
	[FORM_HEADER] = "header", [FORM_CELLS] = "cells",
};

/* Finds the next word and moves *text behind it. Returns its length; 0: there is none. */
static size_t next_tag_word(const char **text, const char **ret_word)
{
	*ret_word = *text + strspn(*text, SPACE);
	*text = *ret_word + strcspn(*ret_word, SPACE);
	return (size_t)(*text - *ret_word);
}

/* Parses NAME=NUMBER, with a number from 1 to most. */
static bool parse_limited_number(const char *word, size_t length, const char *prefix,
				 unsigned long most, unsigned *ret_number)
{
	size_t skip = strlen(prefix);
	unsigned long number;
	char *end;

	if (length <= skip || strncmp(word, prefix, skip) != 0 || word[skip] < '0' ||
	    word[skip] > '9')
		return false;
	number = strtoul(word + skip, &end, 10);
	if (end != word + length || number == 0 || number > most)
		return false;
	*ret_number = (unsigned)number;
	return true;
}

/* --- FILE --- */

const char *path_wildcard(const char *path, size_t *ret_length)
{
	const char *star = strchr(path, '*'), *start = star;

	if (!star)
		return NULL;
	while (start > path && start[-1] != '/')
		start--;
	*ret_length = (size_t)(star - start) + strcspn(star, "/");
	return start;
}

bool name_matches(const char *glob, const char *name, size_t length)
{
	const char *star = strchr(glob, '*');
	size_t before = star ? (size_t)(star - glob) : strlen(glob);
	size_t behind = star ? strlen(star + 1) : 0;

	if (!star)
		return tag_word_is(name, length, glob);
	return length >= before + behind && !strncmp(name, glob, before) &&
	       !strncmp(name + length - behind, star + 1, behind);
}

static const char *check_component(const char *name, size_t length)
{
	if (length == 0 || tag_word_is(name, length, ".") || tag_word_is(name, length, ".."))
		return "has a part that is not a name";
	return NULL;
}

/* Files of a process belong to whoever owns the process, and a read of one may wait for a user's
 * file system. */
static const char *check_proc(const char *path)
{
	size_t length = strcspn(path, "/");

	if (strspn(path, "0123456789") == length || tag_word_is(path, length, "self") ||
	    tag_word_is(path, length, "thread-self"))
		return "is a process's";
	if (memchr(path, '*', length))
		return "has an asterisk where processes are";
	return NULL;
}

/* What is wrong with a path below its directory, or NULL. */
static const char *check_path(enum kernel_fs root, const char *path)
{
	const char *star = strchr(path, '*'), *why = NULL;

	for (const char *at = path; !why; at++) {
		size_t length = strcspn(at, "/");

		why = check_component(at, length);
		at += length;
		if (!*at)
			break;
	}
	if (!why && star && strchr(star + 1, '*'))
		why = "has more than one asterisk";
	if (!why && root == KERNEL_FS_PROC)
		why = check_proc(path);
	/* A read of /sys/power/wakeup_count blocks while a wake-up event is in progress. */
	if (!why && root == KERNEL_FS_SYS && !strncmp(path, "power/", 6))
		why = "may wait";
	if (!why && root == KERNEL_FS_CGROUP && strpbrk(path, "/*"))
		why = "is more than the name of a file of a cgroup";
	return why;
}

static int parse_path(const char *word, size_t length, struct file_tag *tag, struct error *error)
{
	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++) {
		size_t skip = strlen(roots[i].prefix);
		const char *why;

		if (length <= skip || strncmp(word, roots[i].prefix, skip) != 0)
			continue;
		tag->root = roots[i].root;
		if (!tag_word_copy(tag->path, sizeof(tag->path), word + skip, length - skip))
			return error_set(error, -EINVAL, "a path of more than %d bytes",
					 FILE_PATH_MAX - 1);
		why = check_path(tag->root, tag->path);
		return why ? error_set(error, -EINVAL, "\"%.*s\" %s", (int)length, word, why) : 0;
	}
	return error_set(error, -EINVAL,
			 "\"%.*s\" is neither below /proc or /sys nor cgroup:NAME, the file of "
			 "this name of cgroups",
			 (int)length, word);
}

static bool parse_cgroup_word(const char *word, size_t length, struct file_tag *tag)
{
	if (tag_word_is(word, length, "optional"))
		return tag->is_optional = true;
	if (tag_word_is(word, length, "single"))
		return tag->is_single = true;
	if (tag_word_is(word, length, "highest"))
		return tag->is_highest = true;
	if (tag_word_value(word, length, "controller=", tag->controller, sizeof(tag->controller)))
		return !strcmp(tag->controller, "cpu") || !strcmp(tag->controller, "memory");
	return tag_word_value(word, length, "limited=", tag->limited, sizeof(tag->limited)) &&
	       !check_path(KERNEL_FS_CGROUP, tag->limited);
}

static bool parse_file_word(const char *word, size_t length, struct file_tag *tag)
{
	const char *star;

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		if (tag_word_is(word, length, forms[i])) {
			tag->form = (enum file_form)i;
			return true;
		}
	if (parse_limited_number(word, length, "skip=", SKIP_MAX, &tag->skip))
		return true;
	if (tag->root == KERNEL_FS_CGROUP && parse_cgroup_word(word, length, tag))
		return true;
	if (!tag_word_value(word, length, "only=", tag->only, sizeof(tag->only)))
		return false;
	star = strchr(tag->only, '*');
	return !star || !strchr(star + 1, '*');
}

int file_tag_parse(const char *text, struct file_tag *ret_tag, struct error *error)
{
	struct file_tag tag = { 0 };
	const char *word;
	size_t length = next_tag_word(&text, &word);
	int status = parse_path(word, length, &tag, error);

	while (status == 0 && (length = next_tag_word(&text, &word)) > 0)
		if (!parse_file_word(word, length, &tag))
			status = error_set(error, -EINVAL,
					   "unknown word \"%.*s\" (keys, pairs, lines, header, "
					   "cells, skip=N or only=NAME, with one asterisk at most; "
					   "of cgroups also controller=cpu, controller=memory, "
					   "limited=NAME, optional, single and highest)",
					   (int)length, word);
	if (status == 0 && tag.is_single && tag.is_highest)
		status = error_set(error, -EINVAL, "either single or highest");
	if (status == 0)
		*ret_tag = tag;
	return status;
}

/* --- FIELD --- */

static bool parse_field_option(const char *word, size_t length, struct field_tag *tag)
{
	if (tag_word_is(word, length, "base=16"))
		return tag->is_hex = true;
	return parse_limited_number(word, length, "decimals=", FIELD_DECIMALS_MAX, &tag->decimals);
}

/* A word of a line: digits are a position, anything else is a name. */
static bool parse_line_word(const char *word, size_t length, struct field_tag *tag)
{
	if (strspn(word, "0123456789") < length)
		return tag_word_copy(tag->word, sizeof(tag->word), word, length);
	return parse_limited_number(word, length, "", FIELD_POSITION_MAX, &tag->position);
}

static int check_field_words(const struct file_tag *file, size_t count, const struct field_tag *tag,
			     struct error *error)
{
	const char *form = forms[file->form];

	if (file->form == FORM_PAIRS && count != 2)
		return error_set(error, -EINVAL, "with %s a FIELD is \"LINE WORD\"", form);
	if (file->form == FORM_KEYS && count != 1 && count != 2)
		return error_set(error, -EINVAL, "with %s a FIELD is \"LINE\" or \"LINE WORD\"",
				 form);
	if (file->form == FORM_CELLS && (count != 1 || tag->position < 1 || tag->position > 3))
		return error_set(error, -EINVAL,
				 "with %s a FIELD is \"1\", \"2\" or \"3\": what the line is "
				 "called, what the column is, and what is there",
				 form);
	if (file->form >= FORM_LINES && count != 1)
		return error_set(error, -EINVAL, "with %s a FIELD is one \"WORD\"", form);
	return 0;
}

int field_tag_parse(const char *text, const struct file_tag *file, struct field_tag *ret_tag,
		    struct error *error)
{
	bool has_line = file->form == FORM_KEYS || file->form == FORM_PAIRS;
	struct field_tag tag = { .is_match = !strcmp(text, "*") };
	size_t length, words = 0;
	bool good = true;
	const char *word;
	int status;

	while (!tag.is_match && good && (length = next_tag_word(&text, &word)) > 0) {
		if (memchr(word, '=', length))
			good = parse_field_option(word, length, &tag);
		else if (++words == 1 && has_line)
			good = tag_word_copy(tag.line, sizeof(tag.line), word, length);
		else if (words <= 2)
			good = parse_line_word(word, length, &tag);
	}
	if (!good)
		return error_set(error, -EINVAL,
				 "\"%.*s\" is neither a word, of %d bytes at most, nor decimals=N "
				 "or base=16",
				 (int)length, word, FIELD_NAME_MAX - 1);
	if (tag.is_hex && tag.decimals)
		return error_set(error, -EINVAL, "either decimals=N or base=16");
	if (!tag.is_match && (status = check_field_words(file, words, &tag, error)))
		return status;
	if (has_line && words == 1)
		tag.position = 1;
	if (tag.is_match && !strchr(file->path, '*'))
		return error_set(error, -EINVAL, "\"*\", but no part of the FILE has an asterisk");
	*ret_tag = tag;
	return 0;
}
