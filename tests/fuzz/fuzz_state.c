/* SPDX-License-Identifier: MIT */
/*
 * The state files of container runtimes. The first byte chooses the runtime, the others are the
 * file. Whoever may start containers can add names to such a file without limit.
 */
#include "fuzz.h"

#include "tests/unit/fake/state.h"

#include "plugin/cgroup/state.h"

static void check_settled(struct container *container)
{
	struct container before = *container;
	char text[CONTAINER_TEXT_MAX];

	container_settle(container);
	FUZZ_WANT(!strncmp(container->name, before.name, strlen(container->name)));
	FUZZ_WANT(container->name[0]);
	FUZZ_WANT(!container->pod[0] == !before.pod[0]);
	container_text(container, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const ids[] = { DOCKER_ID, CONTAINERD_ID, PODMAN_ID };
	struct container container;
	enum state_format format;
	char *text;

	if (size == 0)
		return 0;
	format = data[0] % 3;
	text = fuzz_text(data + 1, size - 1);
	memset(&container, 'x', sizeof(container));
	if (state_parse(format, text, size - 1, ids[format], &container)) {
		state_parse_sandbox(format, text, size - 1, &container);
		check_settled(&container);
	}
	container_parse(&container, text);
	free(text);
	return 0;
}
