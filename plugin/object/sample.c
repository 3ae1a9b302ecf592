/* SPDX-License-Identifier: MIT */
/*
 * SAMPLE tags: iterators that run many times between two readings.
 */
#include "sample.h"

#include "annotation.h"
#include "config/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_TAG "sample:"
#define HZ "hz="

static const char *sample_text(const struct object *object, const struct bpf_program *program,
			       unsigned n)
{
	return annotation_of_program(object->bpf, program, SAMPLE_TAG, n);
}

/* Returns 0 if the text is invalid. */
static unsigned parse_sample_hz(const char *text)
{
	const char *digits = text + strlen(HZ);
	size_t length;

	if (strncmp(text, HZ, strlen(HZ)) != 0)
		return 0;
	length = strspn(digits, "0123456789");
	if (length == 0 || length > 4 || digits[length] != '\0')
		return 0;
	length = (size_t)atoi(digits);
	return length <= CONFIG_FREQUENCY_MAX ? (unsigned)length : 0;
}

unsigned sample_hz(const struct object *object, const struct bpf_program *program)
{
	const char *text = sample_text(object, program, 0);

	return text ? parse_sample_hz(text) : 0;
}

int sample_check(const struct object *object, struct error *error)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object->bpf)
	{
		const char *name = bpf_program__name(program),
			   *text = sample_text(object, program, 0);

		if (!text)
			continue;
		if (sample_text(object, program, 1))
			return error_set(error, -EINVAL, "program %s: two SAMPLE tags", name);
		if (!parse_sample_hz(text))
			return error_set(error, -EINVAL,
					 "program %s: \"%.32s\" is not SAMPLE(\"hz=NUMBER\"), with "
					 "a number from 1 to %d",
					 name, text, CONFIG_FREQUENCY_MAX);
		if (strncmp(bpf_program__section_name(program), "iter", 4) != 0)
			return error_set(error, -EINVAL,
					 "program %s: SAMPLE is for iterators, SEC(\"iter/...\")",
					 name);
	}
	return 0;
}
