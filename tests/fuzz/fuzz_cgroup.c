/* SPDX-License-Identifier: MIT */
/*
 * Paths of cgroups, one a line, each of a Service block of its own. A path that the configuration
 * accepts must become rules in the kernel's maps, one for each directory, and the kernel's way down
 * must find them.
 */
#include "fuzz.h"

#include "tests/unit/fake/maps.h"

#include "bpf/lib/services/service.h"
#include "plugin/config/config.h"
#include "plugin/object/engine_object.h"
#include "plugin/service/rule.h"
#include "plugin/util/message.h"

#include <liboconfig/oconfig.h>

#define PATHS_MAX 3

static void ignore(int severity, const char *text)
{
	(void)severity;
	FUZZ_WANT(text[0]);
}

static void add_path(struct config *config, const char *name, char *path)
{
	oconfig_value_t name_value = { .value.string = (char *)name, .type = OCONFIG_TYPE_STRING };
	oconfig_value_t path_value = { .value.string = path, .type = OCONFIG_TYPE_STRING };
	oconfig_item_t option = { .key = (char *)"Cgroup", .values = &path_value, .values_num = 1 };
	oconfig_item_t block = {
		.key = (char *)"Service",
		.values = &name_value,
		.values_num = 1,
		.children = &option,
		.children_num = 1,
	};
	oconfig_item_t plugin = { .key = (char *)"Plugin", .children = &block, .children_num = 1 };

	config_read(config, &plugin);
}

/* The row that the BPF side finds: that of the lowest directory that has a rule. */
static uint32_t find_row(const char *path)
{
	uint32_t parent = 0, row = 0;

	for (int depth = 0; *path; depth++) {
		struct cgroup_step step = { .parent = parent };
		struct cgroup_node node;
		size_t length = strcspn(path, "/");

		FUZZ_WANT(depth < CGROUP_DEPTH_MAX);
		FUZZ_WANT(length > 0 && length < sizeof(step.name));
		memcpy(step.name, path, length);
		FUZZ_WANT(maps_get("service_cgroups", &step, &node));
		if (node.row && (!row || node.row < row))
			row = node.row;
		parent = node.node;
		path += length + strspn(path + length, "/");
	}
	return row;
}

static void check_rules(const struct config *config)
{
	static struct object object;
	struct error error = { "" };

	if (!object.bpf)
		FUZZ_WANT(engine_object_open(&object, &error) == 0);
	FUZZ_WANT(rules_prepare(config, &object, &error) == 0);
	FUZZ_WANT(rules_fill(config, &object, &error) == 0);
	for (size_t i = 0; i < config->service_count; i++) {
		const char *path = config->services[i].cgroups.item[0];
		uint32_t row = find_row(path);

		FUZZ_WANT(*path && *path != '/' && path[strlen(path) - 1] != '/');
		FUZZ_WANT(row >= SERVICE_FIRST && row <= SERVICE_FIRST + i);
	}
	maps_clear();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[PATHS_MAX] = { "a", "b", "c" };
	char *text = fuzz_text(data, size), *lines = text;
	struct config config;

	message_to(ignore);
	config_init(&config);
	for (size_t i = 0; i < PATHS_MAX && lines; i++)
		add_path(&config, names[i], strsep(&lines, "\n"));
	config_finish(&config);
	check_rules(&config);
	config_done(&config);
	free(text);
	return 0;
}
