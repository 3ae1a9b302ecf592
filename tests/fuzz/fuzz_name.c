/* SPDX-License-Identifier: MIT */
/*
 * Names that processes choose, and what they become in identifiers, file names and receivers of
 * metrics. The input is two names, separated by a NUL.
 */
#include "fuzz.h"

#include "plugin/config/name.h"
#include "plugin/service/subject.h"

/* As in test_subject. */
static const struct subject_names reserved[] = {
	{ SUBJECT_NONE, 0, "self" },     { SUBJECT_SERVICE, 0, "web" },
	{ SUBJECT_SERVICE, 0, "db" },    { SUBJECT_SERVICE, 0, "db__" },
	{ SUBJECT_SERVICE, 0, "late_" }, { SUBJECT_SERVICE, 0, "my_app" },
	{ SUBJECT_SERVICE, 0, "_" },     { SUBJECT_PROBE, 0, "net" },
	{ SUBJECT_PROBE, 1, "disk" },    { SUBJECT_PROCESS, 2, "web" },
};

/* Bytes of the letter at `s`, by the table in RFC 3629, section 4; 0: there is none. */
static size_t utf8_letter(const unsigned char *s)
{
	static const struct {
		unsigned char first, last, second_first, second_last;
		size_t length;
	} ranges[] = {
		{ 0x01, 0x7f, 0, 0, 1 },       { 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		if (s[0] < ranges[i].first || s[0] > ranges[i].last)
			continue;
		if (ranges[i].length > 1 &&
		    (s[1] < ranges[i].second_first || s[1] > ranges[i].second_last))
			return 0;
		for (size_t j = 2; j < ranges[i].length; j++)
			if (s[j] < 0x80 || s[j] > 0xbf)
				return 0;
		return ranges[i].length;
	}
	return 0;
}

static void check_clean(const char *name)
{
	for (const unsigned char *s = (const unsigned char *)name; *s;) {
		size_t length = utf8_letter(s);

		FUZZ_WANT(length > 0);
		FUZZ_WANT(*s != '/' && *s > ' ' && *s != 0x7f);
		FUZZ_WANT(!(s[0] == 0xc2 && s[1] < 0xa0));
		s += length;
	}
	FUZZ_WANT(name[0] && strcmp(name, ".") && strcmp(name, ".."));
}

static void clean(const char *name, size_t size)
{
	char once[SUBJECT_NAME_MAX], twice[SUBJECT_NAME_MAX];

	memset(once, 'x', sizeof(once));
	name_clean(once, size, name);
	FUZZ_WANT(memchr(once, '\0', size));
	check_clean(once);
	name_clean(twice, size, once);
	FUZZ_WANT(!strcmp(once, twice));
}

/* Whether it is NAME, or NAME-1-2 with as many numbers as the reserved names have. A dot counts
 * as an underscore. */
static bool is_reserved(const char *name, const struct subject_names *names)
{
	size_t at = 0;

	for (; names->name[at]; at++)
		if (names->name[at] != (name[at] == '.' ? '_' : name[at]))
			return false;
	for (unsigned i = 0; i < names->numbers; i++) {
		size_t digits = name[at] == '-' ? strspn(name + at + 1, "0123456789") : 0;

		if (!digits)
			return false;
		at += 1 + digits;
	}
	return name[at] == '\0';
}

/* Enters the name of a command; false: it has no subject of its own. */
static bool enter(struct subjects *subjects, const char *name, char *ret_name)
{
	int subject = subjects_enter(subjects, SUBJECT_COMMAND, name);

	if (subject < 0)
		return false;
	memcpy(ret_name, subjects->subject[subject].name, SUBJECT_NAME_MAX);
	subjects_release(subjects, (size_t)subject);
	check_clean(ret_name);
	for (size_t i = 0; i < sizeof(reserved) / sizeof(*reserved); i++)
		FUZZ_WANT(!is_reserved(ret_name, &reserved[i]));
	return true;
}

/* Two names that differ after they are cleaned must be two subjects. */
static void check_pair(const char *a, const char *b)
{
	static struct subjects subjects;
	char name_a[SUBJECT_NAME_MAX], name_b[SUBJECT_NAME_MAX];
	char clean_a[SUBJECT_NAME_MAX], clean_b[SUBJECT_NAME_MAX];

	for (size_t i = subjects.reserved_count; i < sizeof(reserved) / sizeof(*reserved); i++)
		FUZZ_WANT(subjects_reserve(&subjects, reserved[i].kind, reserved[i].name,
					   reserved[i].numbers) == 0);
	name_clean(clean_a, sizeof(clean_a), a);
	name_clean(clean_b, sizeof(clean_b), b);
	if (enter(&subjects, a, name_a) && enter(&subjects, b, name_b))
		FUZZ_WANT(!strcmp(clean_a, clean_b) == !strcmp(name_a, name_b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *first = fuzz_text(data, size);
	size_t length = strlen(first);
	const char *second = length < size ? first + length + 1 : "";

	clean(first, SUBJECT_NAME_MAX);
	clean(second, 2 + size % 16);
	check_pair(first, second);
	free(first);
	return 0;
}
