/* SPDX-License-Identifier: MIT */
/*
 * Parses the state files of container runtimes: docker's config.v2.json (20.10), the annotations of OCI
 * bundles by containerd's CRI plugin (1.6), CRI-O (1.x) and nerdctl, and entries of containers/storage
 * (podman 4.3).
 */
#include "state.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define SWARM "com.docker.swarm."
#define ECS "com.amazonaws.ecs."
#define ECS_SANDBOX "~internal~ecs~pause"
#define COMPOSE "com.docker.compose."
#define HEX_LENGTH 12 /* of short ids in names */
#define CRI "io.kubernetes.cri."
#define CRIO "io.kubernetes.cri-o."
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

static bool has_hex(const char *text)
{
	return strspn(text, "0123456789abcdef") >= HEX_LENGTH;
}

/* Labels say which part of the name is generated. */
static void set_base_name(struct container *container, enum workload workload, const char *base)
{
	memcpy(container->given, container->name, sizeof(container->given));
	copy_container_name(container->name, base);
	container->workload = workload;
}

/* A task of a swarm is called SERVICE.SLOT.ID; that of a global service SERVICE.NODE.ID. */
static void parse_swarm_name(const json_t *labels, struct container *container)
{
	const char *service = member_text(labels, SWARM "service.name");
	const char *node = member_text(labels, SWARM "node.id");
	char base[CONTAINER_NAME_MAX], global[CONTAINER_NAME_MAX];
	char *end;

	if (strcmp(member_text(labels, SWARM "task.name"), container->name) != 0)
		return;
	copy_container_name(base, container->name);
	end = strrchr(base, '.');
	if (!end || end == base)
		return;
	*end = '\0';
	snprintf(global, sizeof(global), "%.*s.%s", CONTAINER_NAME_MAX, service, node);
	set_base_name(container, WORKLOAD_SWARM,
		      *service && !strcmp(base, global) ? service : base);
}

/* The agent of Amazon ECS: ecs-FAMILY-VERSION-CONTAINER-RANDOM. Each deployment has another version. */
static void parse_ecs_name(const json_t *labels, struct container *container)
{
	const char *family = member_text(labels, ECS "task-definition-family");
	const char *version = member_text(labels, ECS "task-definition-version");
	const char *random = strrchr(container->name, '-');
	char begin[CONTAINER_NAME_MAX], base[CONTAINER_NAME_MAX];
	size_t length;

	length = (size_t)snprintf(begin, sizeof(begin), "ecs-%s-%s-", family, version);
	if (!*family || !*version || length >= sizeof(begin) ||
	    strncmp(container->name, begin, length) != 0 || random <= container->name + length)
		return;
	snprintf(base, sizeof(base), "ecs-%s-%.*s", family,
		 (int)(random - container->name - length), container->name + length);
	container->is_sandbox = !strcmp(member_text(labels, ECS "container-name"), ECS_SANDBOX);
	set_base_name(container, WORKLOAD_ECS, base);
}

/* While compose creates a container again, the old or the new one is called ID_PROJECT-SERVICE-NUMBER. That of
 * "compose run" is PROJECT-SERVICE-run-RANDOM. */
static void parse_compose_name(const json_t *labels, struct container *container)
{
	bool is_run = !strcmp(member_text(labels, COMPOSE "oneoff"), "True");
	char base[CONTAINER_NAME_MAX];
	size_t length;

	if (!*member_text(labels, COMPOSE "service"))
		return;
	copy_container_name(base, container->name);
	length = strlen(base);
	if (is_run && length > HEX_LENGTH + 1 && has_hex(base + length - HEX_LENGTH) &&
	    strchr("-_", base[length - HEX_LENGTH - 1]))
		base[length - HEX_LENGTH - 1] = '\0';
	set_base_name(container, WORKLOAD_COMPOSE,
		      has_hex(base) && base[HEX_LENGTH] == '_' && base[HEX_LENGTH + 1]
			      ? base + HEX_LENGTH + 1
			      : base);
}

static void parse_docker_name(const json_t *labels, const char *name, struct container *container)
{
	copy_container_name(container->name, name);
	parse_swarm_name(labels, container);
	if (!container->workload)
		parse_ecs_name(labels, container);
	if (!container->workload)
		parse_compose_name(labels, container);
}

static json_t *docker_labels(const json_t *root)
{
	return json_object_get(json_object_get(root, "Config"), "Labels");
}

static void copy_sandbox(char to[CONTAINER_ID_MAX], const char *id)
{
	snprintf(to, CONTAINER_ID_MAX, "%s", id);
}

static bool parse_docker_state(const json_t *root, struct container *container)
{
	const json_t *labels = docker_labels(root);
	const char *name = member_text(root, "Name");

	name += *name == '/';
	if (!container_parse(container, name))
		parse_docker_name(labels, name, container);
	copy_sandbox(container->sandbox, member_text(labels, "io.kubernetes.sandbox.id"));
	return container->name[0] != '\0';
}

static bool parse_bundle_state(const json_t *root, struct container *container)
{
	const json_t *annotations = json_object_get(root, "annotations");

	if (container_parse(container, member_text(annotations, CRIO "Name"))) {
		copy_sandbox(container->sandbox, member_text(annotations, CRIO "SandboxID"));
		return true;
	}
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

	copy_container_name(container->name, json_string_value(json_array_get(names, 0)) ?: "");
	/* The infra container of a pod has the name of the pod's id. */
	container->is_sandbox =
		has_hex(container->name) && !strcmp(container->name + HEX_LENGTH, "-infra");
	return container->name[0] && *member_text(stored, "id");
}

static json_t *load_state(const char *bytes, size_t size)
{
	if (size > STATE_SIZE_MAX || !is_json_bounded(bytes, size))
		return NULL;
	return json_loadb(bytes, size, 0, NULL);
}

void state_each(enum state_format format, const char *bytes, size_t size, state_visitor *visit,
		void *of)
{
	struct container container = { 0 };
	json_t *root = load_state(bytes, size);

	if (format == STATE_STORAGE && parse_storage_entry(root, &container))
		visit(of, member_text(root, "id"), &container);
	else if (format == STATE_DOCKER && parse_docker_state(root, &container))
		visit(of, "", &container);
	else if (format == STATE_BUNDLE && parse_bundle_state(root, &container))
		visit(of, "", &container);
	json_decref(root);
}

/* --- pods --- */

static void note_labels(struct pod_labels *to, const char *pod, json_t *labels)
{
	const char *key;
	json_t *value;

	to->are_known |= json_is_object(labels);
	json_object_foreach(labels, key, value) if (json_is_string(value))
		pod_label_note(to, pod, key, json_string_value(value));
}

/* CRI-O writes its labels and annotations as JSON into an annotation. */
static json_t *load_member(const json_t *annotations, const char *member)
{
	const char *text = member_text(annotations, member);

	return load_state(text, strlen(text));
}

static void note_config_source(struct pod_labels *to, const char *pod, const char *source)
{
	if (*source)
		pod_label_note(to, pod, POD_CONFIG_SOURCE, source);
}

static void parse_crio_sandbox(const json_t *root, const char *pod, struct pod_labels *ret)
{
	const json_t *of = json_object_get(root, "annotations");
	json_t *labels = load_member(of, CRIO "Labels");
	json_t *annotations = load_member(of, CRIO "Annotations");

	note_labels(ret, pod, labels);
	note_config_source(ret, pod, member_text(annotations, POD_CONFIG_SOURCE));
	json_decref(labels);
	json_decref(annotations);
}

/* cri-dockerd writes annotations as labels, too. */
static void parse_docker_sandbox(const json_t *root, const char *pod, struct pod_labels *ret)
{
	json_t *labels = docker_labels(root);

	note_labels(ret, pod, labels);
	note_config_source(ret, pod, member_text(labels, "annotation." POD_CONFIG_SOURCE));
}

void state_parse_sandbox(enum state_format format, const char *bytes, size_t size,
			 struct container *container)
{
	struct pod_labels labels = { 0 };
	json_t *root = load_state(bytes, size);

	if (format == STATE_DOCKER)
		parse_docker_sandbox(root, container->pod, &labels);
	else if (format == STATE_BUNDLE)
		parse_crio_sandbox(root, container->pod, &labels);
	json_decref(root);
	container->labels = labels;
}
