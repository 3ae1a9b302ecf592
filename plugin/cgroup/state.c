/* SPDX-License-Identifier: MIT */
/*
 * Parses the state files of container runtimes: docker's config.v2.json (20.10), the annotations of OCI
 * bundles by containerd's CRI plugin (1.6), CRI-O (1.x) and nerdctl, and the list of containers/storage
 * (podman 4.3).
 */
#include "state.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define SWARM_TASK "com.docker.swarm.task.name"
#define CRI "io.kubernetes.cri."
#define CRIO_NAME "io.kubernetes.cri-o.Name"
#define NERDCTL_NAME "nerdctl/name"

bool state_is_readable(void)
{
	return true;
}

/* A parsed object may take a hundred times the bytes of its text, so its parts are counted before. */
static bool is_json_bounded(const char *bytes, size_t size)
{
	size_t depth = 0, nests = 0, values = 0;
	bool in_string = false;

	for (size_t i = 0; i < size; i++) {
		char c = bytes[i];

		if (c == '"')
			in_string = !in_string;
		else if (in_string)
			i += c == '\\';
		else if (c == '{' || c == '[')
			nests++, depth++;
		else if ((c == '}' || c == ']') && depth)
			depth--;
		else if (c == ',')
			values++;
		if (depth > STATE_DEPTH_MAX || nests > STATE_NESTS_MAX || values > STATE_VALUES_MAX)
			return false;
	}
	return true;
}

/* The string of a member, or "". */
static const char *member_text(const json_t *object, const char *member)
{
	return json_string_value(json_object_get(object, member)) ?: "";
}

static void copy_container_name(char to[CONTAINER_NAME_MAX], const char *text)
{
	snprintf(to, CONTAINER_NAME_MAX, "%s", text);
}

/* Tasks of a swarm are called SERVICE.SLOT.ID, with a different id each time. */
static void parse_docker_name(const json_t *labels, const char *name, struct container *container)
{
	char *end;

	copy_container_name(container->name, name);
	if (strcmp(member_text(labels, SWARM_TASK), name) != 0)
		return;
	end = strrchr(container->name, '.');
	if (end && end != container->name)
		*end = '\0';
}

static bool parse_docker_state(const json_t *root, struct container *container)
{
	const json_t *labels = json_object_get(json_object_get(root, "Config"), "Labels");
	const char *name = member_text(root, "Name");

	name += *name == '/';
	if (!container_parse(container, name))
		parse_docker_name(labels, name, container);
	return container->name[0] != '\0';
}

static bool parse_bundle_state(const json_t *root, struct container *container)
{
	const json_t *annotations = json_object_get(root, "annotations");

	if (container_parse(container, member_text(annotations, CRIO_NAME)))
		return true;
	container->is_sandbox = !strcmp(member_text(annotations, CRI "container-type"), "sandbox");
	copy_container_name(container->space, member_text(annotations, CRI "sandbox-namespace"));
	copy_container_name(container->pod, member_text(annotations, CRI "sandbox-name"));
	copy_container_name(container->name,
			    container->is_sandbox ? "POD"
						  : member_text(annotations, CRI "container-name"));
	if (!container->name[0])
		copy_container_name(container->name, member_text(annotations, NERDCTL_NAME));
	return container->name[0] != '\0';
}

static bool parse_storage_entry(const json_t *stored, struct container *container)
{
	const json_t *names = json_object_get(stored, "names");
	size_t length;

	copy_container_name(container->name, json_string_value(json_array_get(names, 0)) ?: "");
	/* The infra container of a pod has the name of the pod's id. */
	length = strspn(container->name, "0123456789abcdef");
	container->is_sandbox = length == 12 && !strcmp(container->name + length, "-infra");
	return container->name[0] != '\0';
}

static bool parse_storage_state(const json_t *root, const char *id, struct container *container)
{
	for (size_t i = 0; i < json_array_size(root); i++) {
		const json_t *stored = json_array_get(root, i);

		if (!strcmp(member_text(stored, "id"), id))
			return parse_storage_entry(stored, container);
	}
	return false;
}

bool state_parse(enum state_format format, const char *bytes, size_t size, const char *id,
		 struct container *ret_container)
{
	struct container container = { 0 };
	bool found = false;
	json_t *root;

	if (size > STATE_SIZE_MAX || !is_json_bounded(bytes, size))
		return false;
	root = json_loadb(bytes, size, 0, NULL);
	if (format == STATE_DOCKER)
		found = parse_docker_state(root, &container);
	else if (format == STATE_BUNDLE)
		found = parse_bundle_state(root, &container);
	else
		found = parse_storage_state(root, id, &container);
	json_decref(root);
	if (found)
		*ret_container = container;
	return found;
}
