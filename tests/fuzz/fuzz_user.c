/* SPDX-License-Identifier: MIT */
/*
 * Lines of /etc/passwd. Each name that is found must be in the text, between the start of a line
 * and a colon.
 */
#include "fuzz.h"

#include "plugin/cgroup/user.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct users users;
	char *text = fuzz_text(data, size), *lines = strdup(text);
	char name[USER_NAME_MAX], line[USER_NAME_MAX + 2] = "\n";

	users_init(&users);
	users_parse(&users, lines);
	for (uint64_t id = 0; id < 2000; id++) {
		if (!user_name(&users, id, name, sizeof(name)))
			continue;
		FUZZ_WANT(name[0] && !strchr(name, ':'));
		snprintf(line + 1, sizeof(line) - 1, "%s:", name);
		FUZZ_WANT(strstr(text, line) || !strncmp(text, line + 1, strlen(line + 1)));
	}
	FUZZ_WANT(!user_name(&users, UINT32_MAX, name, sizeof(name)));
	users_done(&users);
	free(lines);
	free(text);
	return 0;
}
