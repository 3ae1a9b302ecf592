/* SPDX-License-Identifier: MIT */
/*
 * The text of a pid file. The process that is returned must be the number at its start.
 */
#include "fuzz.h"

#include "plugin/service/pidfile.h"

#define PID_LIMIT (1UL << 22)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *end;
	uint32_t pid = 0;

	if (pid_parse(text, &pid) == 0) {
		FUZZ_WANT(pid > 0 && pid <= PID_LIMIT);
		FUZZ_WANT(strtoul(text, &end, 10) == pid);
		FUZZ_WANT(*end == '\0' || strchr(" \t\r\n", *end));
		FUZZ_WANT(!memchr(text, '-', (size_t)(end - text)));
	} else {
		FUZZ_WANT(pid == 0);
	}
	free(text);
	return 0;
}
