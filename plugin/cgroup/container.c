/* SPDX-License-Identifier: MIT */
/*
 * Names of containers and pods.
 */
#include "container.h"

#include <stdio.h>
#include <string.h>

#define HEX "0123456789abcdef"
#define UUID_LENGTH 36
#define NOMAD_SANDBOX "nomad_init_"

/* Copies the part before the next underscore; returns what follows it, or NULL. */
static const char *parse_name_part(char *to, const char *text)
{
	size_t length = strcspn(text, "_");

	if (length == 0 || text[length] == '\0')
		return NULL;
	snprintf(to, CONTAINER_NAME_MAX, "%.*s", (int)length, text);
	return text + length + 1;
}

bool container_parse(struct container *container, const char *text)
{
	struct container found = { 0 };
	const char *remaining = strncmp(text, "k8s_", 4) ? NULL : text + 4;

	remaining = remaining ? parse_name_part(found.name, remaining) : NULL;
	remaining = remaining ? parse_name_part(found.pod, remaining) : NULL;
	remaining = remaining ? parse_name_part(found.space, remaining) : NULL;
	if (!remaining)
		return false;
	found.is_sandbox = !strcmp(found.name, "POD");
	*container = found;
	return true;
}

void container_text(const struct container *container, char to[CONTAINER_TEXT_MAX])
{
	if (container->pod[0])
		snprintf(to, CONTAINER_TEXT_MAX, "%s_%s_%s", container->space, container->pod,
			 container->name);
	else
		snprintf(to, CONTAINER_TEXT_MAX, "%s", container->name);
}

static bool is_uuid(const char *text)
{
	static const unsigned char parts[] = { 8, 4, 4, 4, 12 };

	for (size_t i = 0; i < sizeof(parts); i++) {
		if (strspn(text, HEX) != parts[i])
			return false;
		text += parts[i];
		if (*text != (i + 1 < sizeof(parts) ? '-' : '\0'))
			return false;
		text++;
	}
	return true;
}

/* Nomad calls a task's container TASK-UUID, and the one that holds the namespaces nomad_init_UUID. */
static void settle_task(struct container *container)
{
	size_t length = strlen(container->name);
	char *end;

	if (length <= UUID_LENGTH + 1)
		return;
	end = container->name + length - UUID_LENGTH;
	container->is_sandbox |= !strncmp(container->name, NOMAD_SANDBOX, strlen(NOMAD_SANDBOX)) &&
				 end == container->name + strlen(NOMAD_SANDBOX) && is_uuid(end);
	if (end[-1] != '-' || !is_uuid(end))
		return;
	end[-1] = '\0';
	container->workload = WORKLOAD_NOMAD;
}

void container_settle(struct container *container)
{
	if (container->pod[0])
		container->workload = pod_settle(container->pod, &container->labels);
	else if (!container->workload)
		settle_task(container);
}
