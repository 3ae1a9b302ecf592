/* SPDX-License-Identifier: MIT */
/*
 * What container runtimes write about their containers: docker's config.v2.json (20.10), the
 * annotations of OCI bundles by containerd's CRI plugin (1.6), CRI-O (1.x) and nerdctl, and the list of
 * containers/storage (podman 4.3).
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

/* An object takes a hundred times the bytes that it is written with: counted before it is parsed. */
static bool is_bounded(const char *bytes, size_t size)
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

/* The text of a member, or "". */
static const char *text_of(const json_t *object, const char *member)
{
	return json_string_value(json_object_get(object, member)) ?: "";
}

static void copy(char to[CONTAINER_NAME_MAX], const char *text)
{
	snprintf(to, CONTAINER_NAME_MAX, "%s", text);
}

/* A task of a swarm: SERVICE.SLOT.ID, another id each time. */
static void take_docker_name(const json_t *labels, const char *name, struct container *container)
{
	char *end;

	copy(container->name, name);
	if (strcmp(text_of(labels, SWARM_TASK), name) != 0)
		return;
	end = strrchr(container->name, '.');
	if (end && end != container->name)
		*end = '\0';
}

static bool take_docker(const json_t *root, struct container *container)
{
	const json_t *labels = json_object_get(json_object_get(root, "Config"), "Labels");
	const char *name = text_of(root, "Name");

	name += *name == '/';
	if (!container_parse(container, name))
		take_docker_name(labels, name, container);
	return container->name[0] != '\0';
}

static bool take_bundle(const json_t *root, struct container *container)
{
	const json_t *annotations = json_object_get(root, "annotations");

	if (container_parse(container, text_of(annotations, CRIO_NAME)))
		return true;
	container->is_sandbox = !strcmp(text_of(annotations, CRI "container-type"), "sandbox");
	copy(container->space, text_of(annotations, CRI "sandbox-namespace"));
	copy(container->pod, text_of(annotations, CRI "sandbox-name"));
	copy(container->name,
	     container->is_sandbox ? "POD" : text_of(annotations, CRI "container-name"));
	if (!container->name[0])
		copy(container->name, text_of(annotations, NERDCTL_NAME));
	return container->name[0] != '\0';
}

static bool take_stored(const json_t *stored, struct container *container)
{
	const json_t *names = json_object_get(stored, "names");
	size_t length;

	copy(container->name, json_string_value(json_array_get(names, 0)) ?: "");
	/* A pod's own container is called after the pod's id. */
	length = strspn(container->name, "0123456789abcdef");
	container->is_sandbox = length == 12 && !strcmp(container->name + length, "-infra");
	return container->name[0] != '\0';
}

static bool take_storage(const json_t *root, const char *id, struct container *container)
{
	for (size_t i = 0; i < json_array_size(root); i++) {
		const json_t *stored = json_array_get(root, i);

		if (!strcmp(text_of(stored, "id"), id))
			return take_stored(stored, container);
	}
	return false;
}

bool state_parse(enum state_format format, const char *bytes, size_t size, const char *id,
		 struct container *ret_container)
{
	struct container container = { 0 };
	bool found = false;
	json_t *root;

	if (size > STATE_SIZE_MAX || !is_bounded(bytes, size))
		return false;
	root = json_loadb(bytes, size, 0, NULL);
	if (format == STATE_DOCKER)
		found = take_docker(root, &container);
	else if (format == STATE_BUNDLE)
		found = take_bundle(root, &container);
	else
		found = take_storage(root, id, &container);
	json_decref(root);
	if (found)
		*ret_container = container;
	return found;
}
