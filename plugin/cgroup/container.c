/* SPDX-License-Identifier: MIT */
/*
 * Names of containers and pods.
 */
#include "container.h"

#include <stdio.h>
#include <string.h>

#define SAFE "bcdfghjklmnpqrstvwxz2456789" /* the alphabet of Kubernetes' generated suffixes */
#define HEX "0123456789abcdef"
#define UUID_LENGTH 36

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

/* Cuts off the last dash and its suffix, if that has from `least` to `most` characters, all of this alphabet. */
static bool cut_suffix(char *text, const char *of, size_t least, size_t most)
{
	char *dash = strrchr(text, '-');
	size_t length = dash ? strlen(dash + 1) : 0;

	if (!dash || dash == text || length < least || length > most ||
	    strspn(dash + 1, of) != length)
		return false;
	*dash = '\0';
	return true;
}

static void strip_pod_suffix(char *pod)
{
	if (!cut_suffix(pod, SAFE, 5, 5))
		return;
	/* Of a Deployment the hash of its template; of a CronJob the minute it was due. */
	if (!cut_suffix(pod, SAFE, 7, 10))
		cut_suffix(pod, "0123456789", 8, 10);
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

void container_settle(struct container *container)
{
	size_t length = strlen(container->name);
	char *end;

	strip_pod_suffix(container->pod);
	if (length <= UUID_LENGTH + 1)
		return;
	end = container->name + length - UUID_LENGTH;
	if (end[-1] == '-' && is_uuid(end))
		end[-1] = '\0';
}
