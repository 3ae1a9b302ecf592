/* SPDX-License-Identifier: MIT */
/*
 * A command line as in /proc/PID/cmdline, which a process can overwrite: it is cleaned and matched
 * with expressions of the usual kinds.
 */
#include "fuzz.h"

#include "plugin/service/resolve.h"
#include "plugin/util/regex.h"

static const char *const expressions[] = {
	"^/usr/bin/python3? .*-m (app|web)( |$)",
	"[[:alpha:]_]+=[^ ]{2,8}$",
	"(a|b)*a(a|b){12}",
	"java .*-jar [^ ]*server\\.jar",
};

#define EXPRESSIONS (sizeof(expressions) / sizeof(*expressions))

static struct regex compiled[EXPRESSIONS];

static void compile(void)
{
	char why[256];

	for (size_t i = 0; i < EXPRESSIONS; i++)
		FUZZ_WANT(regex_init(&compiled[i], expressions[i], why, sizeof(why)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line = fuzz_text(data, size);
	size_t words = 0;

	if (!compiled[0].code)
		compile();
	command_line_join(line, size);
	for (size_t i = 0; i < size; i++)
		words += data[i] != '\0';
	FUZZ_WANT(strlen(line) <= size && strlen(line) >= words);
	for (size_t i = 0; i < EXPRESSIONS; i++)
		regex_match(&compiled[i], line);
	free(line);
	return 0;
}
