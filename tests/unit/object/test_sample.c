/* SPDX-License-Identifier: MIT */
/*
 * SAMPLE tags of an object. Nothing is loaded.
 */
#include "tests/unit/testing.h"

#include "plugin/object/sample.h"

#include <errno.h>

/* Opens the object with a text replaced by another one of its length; "" replaces nothing. */
static void open_with(struct object *object, const char *text, const char *by)
{
	FILE *file = fopen(testing_built("tests/bpf/sampler.bpf.o"), "r");
	struct error error = { "" };
	char *bytes = malloc(1 << 20);
	unsigned replaced = 0;
	size_t size;

	if (!file || !bytes)
		abort();
	size = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	for (char *at = bytes; text[0] && at + strlen(text) < bytes + size; at++)
		if (!memcmp(at, text, strlen(text) + 1)) {
			memcpy(at, by, strlen(by));
			replaced++;
		}
	CHECK_INT(replaced, text[0] != '\0');
	CHECK_INT(object_open_memory(object, bytes, size, "sampler.bpf.o", &error), 0);
	free(bytes);
}

static void check_mistake(const char *text, const char *by, const char *want)
{
	struct error error = { "" };
	struct object object = { 0 };

	CASE("%s", by);
	open_with(&object, text, by);
	CHECK_INT(sample_check(&object, &error), *want ? -EINVAL : 0);
	CHECK_TEXT(error.text, want);
	object_done(&object);
}

static unsigned hz_of(const struct object *object, const char *program)
{
	return sample_hz(object, bpf_object__find_program_by_name(object->bpf, program));
}

static void test_hz(void)
{
	struct object object = { 0 };

	CASE("as it is");
	open_with(&object, "", "");
	CHECK_UINT(hz_of(&object, "sampler_scan"), 200);
	CHECK_UINT(hz_of(&object, "sampler_twice"), 11);
	CHECK_UINT(hz_of(&object, "sampler_no_iterator"), 0);
	object_done(&object);
}

#define IS_NOT " is not SAMPLE(\"hz=NUMBER\"), with a number from 1 to 1000"

int main(void)
{
	test_hz();
	check_mistake("", "", "");
	check_mistake("sample:hz=200", "sample:hz=999", "");
	check_mistake("sample:hz=200", "sample:hz=000", "program sampler_scan: \"hz=000\"" IS_NOT);
	check_mistake("sample:hz=200", "sample:Hz=200", "program sampler_scan: \"Hz=200\"" IS_NOT);
	check_mistake("sample:hz=200", "sample:hz=-20", "program sampler_scan: \"hz=-20\"" IS_NOT);
	check_mistake("sample:hz=200", "sample:hz=2 0", "program sampler_scan: \"hz=2 0\"" IS_NOT);
	check_mistake("sample:hz=200", "sample:200 hz", "program sampler_scan: \"200 hz\"" IS_NOT);
	check_mistake("sample:hz=11", "sample:hz=1k", "program sampler_twice: \"hz=1k\"" IS_NOT);
	check_mistake("doubly:hz=22", "sample:hz=22", "program sampler_twice: two SAMPLE tags");
	check_mistake("spoilt:hz=1", "sample:hz=1",
		      "program sampler_no_iterator: SAMPLE is for iterators, SEC(\"iter/...\")");
	return testing_end();
}
