/* SPDX-License-Identifier: MIT */
/*
 * The state files of container runtimes. The first byte chooses the runtime, the others are the
 * file. Whoever may start containers can add names to such a file without limit.
 */
#include "fuzz.h"

#include "tests/unit/fake/state.h"

#include "plugin/cgroup/runtime_config.h"
#include "plugin/cgroup/runtime_trust.h"
#include "plugin/cgroup/state.h"
#include "plugin/cgroup/storage_list.h"

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

/* The text as podman's list, in parts. */
static void check_list(const char *text, size_t size)
{
	struct container container;
	struct parsed_state parsed = { .id = PODMAN_ID, .container = &container };
	struct storage_list list = { .id = PODMAN_ID, .visit = note_parsed, .of = &parsed };

	storage_list_receive(&list, NULL, 0);
	for (size_t at = 0; at < size; at += 7)
		storage_list_receive(&list, text + at, size - at < 7 ? size - at : 7);
	FUZZ_WANT(list.room <= STATE_SIZE_MAX);
	if (parsed.is_found)
		check_settled(&container);
	storage_list_done(&list);
}

/* The text as configuration, and as /proc/PID/cgroup. */
static void check_texts(const char *text)
{
	char path[STATE_PATH_MAX];

	for (const char *at = text; (at = runtime_setting(at, "root", path));)
		FUZZ_WANT(path[0] == '/' || path[0] == '$');
	runtime_trusts("Name:\tx\nUid:\t0\t0\t0\t0\n", text);
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
	if (parse_state(format, text, size - 1, ids[format], &container)) {
		state_parse_sandbox(format, text, size - 1, &container);
		check_settled(&container);
	}
	container_parse(&container, text);
	check_list(text, size - 1);
	check_texts(text);
	free(text);
	return 0;
}
