/* SPDX-License-Identifier: MIT */
/*
 * The text of a METRIC tag, of a SUBJECT tag, of a RANGE tag, and of HELP and UNIT tags.
 */
#include "fuzz.h"

#include "contrib/describe/help.h"
#include "plugin/config/name.h"
#include "plugin/object/parameter.h"
#include "plugin/schema/schema.h"

#include <stdlib.h>
#include <string.h>

static bool is_clean(const char *name)
{
	char clean[SUBJECT_NAME_MAX];

	name_clean(clean, sizeof(clean), name);
	return !name[0] || !strcmp(name, clean);
}

static void check_subject(const char *text)
{
	struct subject_tag tag = { .via = "untouched" };
	struct error error = { "" };

	if (subject_parse(text, &tag, &error)) {
		FUZZ_WANT(!strcmp(tag.via, "untouched") && error.text[0]);
		return;
	}
	FUZZ_WANT(strlen(tag.via) < sizeof(tag.via) && strlen(tag.owners) < sizeof(tag.owners));
	FUZZ_WANT(tag.kind != SUBJECT_NONE && !error.text[0]);
	FUZZ_WANT(!tag.via[0] == !tag.owners[0]);
	FUZZ_WANT(!tag.via[0] || tag.kind == SUBJECT_SERVICE || tag.kind == SUBJECT_PROCESS);
	FUZZ_WANT(strlen(tag.label) < sizeof(tag.label));
	FUZZ_WANT((!tag.cpu && !tag.label[0]) || tag.kind == SUBJECT_KEY);
}

static void check_range(const char *text)
{
	struct number low, high;

	if (parameter_range(text, &low, &high))
		FUZZ_WANT(number_compare(low, high) <= 0 && strstr(text, ".."));
}

static void check_help(const char *text)
{
	struct help help = { .title = "untouched" };
	struct error error = { "" };
	char unit[HELP_UNIT_MAX];

	if (help_parse(text, &help, &error) == 0) {
		FUZZ_WANT(strlen(help.title) < sizeof(help.title) && !strchr(help.title, '|'));
		FUZZ_WANT(strlen(help.text) < sizeof(help.text) && !strchr(help.text, '|'));
		FUZZ_WANT(strncmp(text, help.title, strlen(help.title)) == 0 && !error.text[0]);
	} else {
		FUZZ_WANT(!strcmp(help.title, "untouched") && error.text[0]);
	}
	if (help_unit(text, unit, &error) == 0)
		FUZZ_WANT(!strcmp(unit, text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct tag tag = { .type = "untouched" };
	struct error error = { "" };

	if (tag_parse(text, &tag, &error) == 0) {
		FUZZ_WANT(tag.type[0] && strlen(tag.type) < sizeof(tag.type));
		FUZZ_WANT(strlen(tag.instance) < sizeof(tag.instance));
		FUZZ_WANT(strlen(tag.source) < sizeof(tag.source));
		FUZZ_WANT(strlen(tag.per) < sizeof(tag.per));
		FUZZ_WANT(tag.numerator && tag.denominator);
		FUZZ_WANT(is_clean(tag.instance) && !error.text[0]);
	} else {
		FUZZ_WANT(!strcmp(tag.type, "untouched") && error.text[0]);
	}
	check_subject(text);
	check_range(text);
	check_help(text);
	free(text);
	return 0;
}
