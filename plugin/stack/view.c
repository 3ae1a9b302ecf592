/* SPDX-License-Identifier: MIT */
/*
 * Parses STACKS tags and sizes their rings.
 */
#include "view.h"

#include "object/annotation.h"
#include "object/hook_set_parts.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STACKS_TAG "stacks:"
#define SPACE " \t"
#define UNIT "unit="
#define RING_SIZE_MAX (16U << 20)

static bool parse_view_name(char to[VIEW_WORD_MAX], const char *word, size_t length)
{
	if (length == 0 || length >= VIEW_WORD_MAX ||
	    strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_") < length)
		return false;
	memcpy(to, word, length);
	to[length] = '\0';
	return true;
}

static bool parse_view_word(struct view *view, const char *word, size_t length)
{
	if (!view->name[0])
		return parse_view_name(view->name, word, length);
	if (!strncmp(word, UNIT, strlen(UNIT)) && length > strlen(UNIT) && !view->unit[0])
		return parse_view_name(view->unit, word + strlen(UNIT), length - strlen(UNIT));
	if (length == strlen("state") && !strncmp(word, "state", length))
		return view->is_state = true;
	if (length == strlen("percpu") && !strncmp(word, "percpu", length))
		return view->per_cpu = true;
	return false;
}

int view_parse(const char *text, struct view *ret_view, struct error *error)
{
	struct view view = { .is_state = false };
	const char *word = text;

	for (;;) {
		size_t length;

		word += strspn(word, SPACE);
		if (!*word)
			break;
		length = strcspn(word, SPACE);
		if (!parse_view_word(&view, word, length))
			return error_set(error, -EINVAL,
					 "\"%.*s\" in \"%.100s\" is not of STACKS(\"VIEW unit=UNIT "
					 "[state] [percpu]\")",
					 (int)(length < 32 ? length : 32), word, text);
		word += length;
	}
	if (!view.unit[0])
		return error_set(error, -EINVAL,
				 "\"%.100s\" has no VIEW and unit=UNIT, as STACKS(\"VIEW unit=UNIT "
				 "[state] [percpu]\") has",
				 text);
	*ret_view = view;
	return 0;
}

/* The kernel wants a power of two of whole pages. */
static uint32_t ring_size(uint64_t wanted)
{
	uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE);

	while (size < wanted && size < RING_SIZE_MAX)
		size *= 2;
	return (uint32_t)size;
}

static int size_ring(struct view *view, struct error *error)
{
	uint64_t wanted = bpf_map__max_entries(view->ring);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (bpf_map__type(view->ring) != BPF_MAP_TYPE_RINGBUF)
		return error_set(error, -EINVAL,
				 "map %s: STACKS is for ring buffers (BPF_MAP_TYPE_RINGBUF)",
				 bpf_map__name(view->ring));
	if (wanted == 0 || wanted > RING_SIZE_MAX)
		return error_set(error, -E2BIG, "map %s: a ring buffer of stacks has 1 to %u bytes",
				 bpf_map__name(view->ring), RING_SIZE_MAX);
	if (view->per_cpu && cpus > 1)
		wanted *= (uint64_t)cpus;
	bpf_map__set_max_entries(view->ring, ring_size(wanted));
	bpf_map__set_value_size(view->ring, 0); /* a ring buffer has no value size */
	return 0;
}

static bool has_view(const struct views *views, const char *name)
{
	for (size_t i = 0; i < views->count; i++)
		if (!strcmp(views->item[i].name, name))
			return true;
	return false;
}

static int open_view(struct views *views, struct bpf_map *map, const char *text,
		     struct error *error)
{
	struct view view, *grown;
	struct error why = { "" };
	int status = view_parse(text, &view, &why);

	if (status)
		return error_set(error, status, "map %s: %s", bpf_map__name(map), why.text);
	if (has_view(views, view.name))
		return error_set(error, -EINVAL, "map %s: another one has the view %s, too",
				 bpf_map__name(map), view.name);
	view.ring = map;
	status = size_ring(&view, error);
	if (status)
		return status;
	grown = reallocarray(views->item, views->count + 1, sizeof(*grown));
	if (!grown)
		return error_set(error, -ENOMEM, "no memory");
	views->item = grown;
	views->item[views->count++] = view;
	return 0;
}

int views_find(struct views *views, struct object *object, const struct strings *options,
	       struct error *error)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object->bpf)
	{
		const char *text = annotation_of_map(object->bpf, map, STACKS_TAG, 0);
		int status = 0;

		if (!text || bpf_map__is_internal(map) ||
		    !object_map_is_enabled(object, map, options))
			continue;
		if (annotation_of_map(object->bpf, map, STACKS_TAG, 1))
			return error_set(error, -EINVAL, "map %s: two STACKS tags",
					 bpf_map__name(map));
		status = open_view(views, map, text, error);
		if (status)
			return status;
	}
	return 0;
}

void views_done(struct views *views)
{
	free(views->item);
	*views = (struct views){ 0 };
}
