/* SPDX-License-Identifier: MIT */
/*
 * Names that processes choose, and what they become in identifiers, file names and receivers of
 * metrics. The input is two names, separated by a NUL.
 */
#include "fuzz.h"

#include "plugin/config/name.h"
#include "plugin/service/subject.h"
#include "plugin/util/utf8.h"

/* As in test_subject. */
static const struct subject_names reserved[] = {
	{ SUBJECT_NONE, 0, "self" },     { SUBJECT_SERVICE, 0, "web" },
	{ SUBJECT_SERVICE, 0, "db" },    { SUBJECT_SERVICE, 0, "db__" },
	{ SUBJECT_SERVICE, 0, "late_" }, { SUBJECT_SERVICE, 0, "my_app" },
	{ SUBJECT_SERVICE, 0, "_" },     { SUBJECT_PROBE, 0, "net" },
	{ SUBJECT_PROBE, 1, "disk" },    { SUBJECT_PROCESS, 2, "web" },
};

static void check_clean(const char *name)
{
	FUZZ_WANT(
		name[strspn(
			name,
			"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.@:+")] ==
		0);
	FUZZ_WANT(name[0] && strcmp(name, ".") && strcmp(name, ".."));
}

static void clean(const char *name, size_t size)
{
	char once[SUBJECT_NAME_MAX], twice[SUBJECT_NAME_MAX];
	size_t length;

	memset(once, 'x', sizeof(once));
	length = name_clean(once, size, name);
	FUZZ_WANT(memchr(once, '\0', size));
	FUZZ_WANT(strlen(once) == (length < size ? length : size - 1));
	check_clean(once);
	name_clean(twice, size, once);
	FUZZ_WANT(!strcmp(once, twice));
}

static bool is_letter(char a, char b)
{
	return a == b || (strchr("._", a) && strchr("._", b));
}

/* Whether it is NAME, or NAME-1-2 with as many numbers as the reserved names have. A dot counts
 * as an underscore. */
static bool is_reserved(const char *name, const struct subject_names *names)
{
	size_t at = 0;

	for (; names->name[at]; at++)
		if (!name[at] || !is_letter(names->name[at], name[at]))
			return false;
	for (unsigned i = 0; i < names->numbers; i++) {
		size_t digits = name[at] == '-' ? strspn(name + at + 1, "0123456789") : 0;

		if (!digits)
			return false;
		at += 1 + digits;
	}
	return name[at] == '\0';
}

/* Enters the name of a command, and returns its number. */
static int enter(struct subjects *subjects, const char *name)
{
	int subject = subjects_enter(subjects, SUBJECT_COMMAND, name);

	FUZZ_WANT(subject >= 0);
	check_clean(subjects->subject[subject].name);
	for (size_t i = 0; i < sizeof(reserved) / sizeof(*reserved); i++)
		FUZZ_WANT(!is_reserved(subjects->subject[subject].name, &reserved[i]));
	return subject;
}

/* Two names are two subjects, whose names no receiver takes for one. */
static void check_pair(const char *a, const char *b)
{
	static struct subjects subjects;
	struct error clash;
	int of_a, of_b;

	for (size_t i = subjects.reserved_count; i < sizeof(reserved) / sizeof(*reserved); i++)
		FUZZ_WANT(subjects_reserve(&subjects, reserved[i].kind, reserved[i].name,
					   reserved[i].numbers) == 0);
	of_a = enter(&subjects, a);
	of_b = enter(&subjects, b);
	if (subjects_find(&subjects, SUBJECT_COMMAND, a) < 0) {
		subjects_release(&subjects, (size_t)of_a);
		of_a = enter(&subjects, a);
	}
	FUZZ_WANT(!strcmp(a, b) == (of_a == of_b));
	FUZZ_WANT(of_a == of_b ||
		  !name_is_same(subjects.subject[of_a].name, subjects.subject[of_b].name));
	subjects_release(&subjects, (size_t)of_a);
	subjects_release(&subjects, (size_t)of_b);
	subjects_claim_clash(&subjects, 0, &clash);
}

/* Texts that only need to be printable. */
static void words(const char *text, size_t size)
{
	char once[SUBJECT_NAME_MAX], twice[SUBJECT_NAME_MAX];

	utf8_clean(once, size, text);
	FUZZ_WANT(strlen(once) < size && once[0] && strcmp(once, ".") && strcmp(once, ".."));
	for (const char *at = once; *at; at += utf8_letter_length(at))
		FUZZ_WANT(utf8_letter_length(at) && *at != '/' && *at != ' ');
	utf8_clean(twice, size, once);
	FUZZ_WANT(!strcmp(once, twice));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *first = fuzz_text(data, size);
	size_t length = strlen(first);
	const char *second = length < size ? first + length + 1 : "";

	clean(first, SUBJECT_NAME_MAX);
	clean(second, 2 + size % 16);
	words(second, 2 + size % 16);
	check_pair(first, second);
	free(first);
	return 0;
}
