/* SPDX-License-Identifier: MIT */
/*
 * What the programs of an object are attached to, but for what libbpf finds by their sections alone:
 * points that the configuration names, and functions of files, which may become other files.
 */
#include "attachment.h"

#include "kernel_link.h"
#include "link.h"
#include "system/clock.h"
#include "traced_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_NS (10 * NS_PER_S)
#define MARKER_ARGUMENTS \
	"__bpf_usdt_specs" /* of libbpf's usdt.bpf.h, which libbpf alone can fill */

struct attachments {
	struct attachment **items;
	size_t count;
	struct traced_path *paths;
	size_t path_count;
	uint64_t checked_ns;
};

bool attachment_is_of_file(const struct attachment *attachment)
{
	switch (attachment->point->kind) {
	case POINT_UPROBE:
	case POINT_URETPROBE:
	case POINT_USDT:
		return true;
	default:
		return false;
	}
}

void attachment_tell(struct attachment *attachment, const char *probe, const char *why)
{
	uint64_t number = file_number(why);

	if (attachment->told != number)
		message(LOG_ERR, "probe %s: ignoring %s%s: %s", probe, attachment->what,
			attachment_is_of_file(attachment) ? " until its file changes" : "", why);
	attachment->told = number;
}

bool attachments_any(const struct object *object)
{
	return object->attachments && object->attachments->count;
}

static struct attachments *all_of(struct object *object)
{
	if (!object->attachments)
		object->attachments = calloc(1, sizeof(*object->attachments));
	return object->attachments;
}

static int add_to_path(struct attachments *all, struct attachment *item)
{
	struct traced_path *grown;

	for (size_t i = 0; i < all->path_count; i++)
		if (traced_path_fits(&all->paths[i], item->point))
			return traced_path_add(&all->paths[i], item);
	grown = reallocarray(all->paths, all->path_count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	all->paths = grown;
	grown[all->path_count] = (struct traced_path){ 0 };
	return traced_path_add(&grown[all->path_count++], item);
}

static void attachment_free(struct attachment *attachment)
{
	if (attachment->own_point)
		point_done(attachment->own_point);
	free(attachment->own_point);
	free(attachment->what);
	free(attachment);
}

static struct attachment *copy(const struct attachment *attachment)
{
	struct attachment *new = malloc(sizeof(*new));

	if (!new)
		return NULL;
	*new = *attachment;
	new->what = strdup(attachment->what);
	if (new->what)
		return new;
	free(new);
	return NULL;
}

static int add(struct attachments *all, const struct attachment *attachment)
{
	struct attachment **grown = reallocarray(all->items, all->count + 1, sizeof(*grown));
	struct attachment *new;
	int status;

	if (!grown)
		return -ENOMEM;
	all->items = grown;
	new = copy(attachment);
	if (!new)
		return -ENOMEM;
	status = attachment_is_of_file(new) ? add_to_path(all, new) : 0;
	if (status == 0) {
		all->items[all->count++] = new;
		return 0;
	}
	new->own_point = NULL;
	attachment_free(new);
	return status;
}

int attachments_add(struct object *object, const struct attachment *attachment, struct error *error)
{
	struct attachments *all = all_of(object);
	int status = all ? 0 : -ENOMEM;

	if (attachment->point->kind == POINT_USDT && object_map(object, MARKER_ARGUMENTS))
		return error_set(error, -EOPNOTSUPP,
				 "arguments of markers are not supported, and the object includes "
				 "usdt.bpf.h");
	status = status ?: add(all, attachment);
	return status ? error_set(error, status, "no memory") : 0;
}

static int update_paths(struct attachments *all, const char *probe,
			const struct file_finder *finder, struct error *error)
{
	int status = 0;

	all->checked_ns = clock_ns();
	for (size_t i = 0; i < all->path_count && status == 0; i++)
		status = traced_path_update(&all->paths[i], probe, finder, error);
	return status;
}

static size_t count_links(const struct object *object)
{
	const struct attachments *all = object->attachments;
	size_t count = object->link_count;
	bool waits = false;

	for (size_t i = 0; i < all->path_count; i++) {
		count += traced_path_links(&all->paths[i]);
		waits |= all->paths[i].waits;
	}
	return count + waits;
}

ssize_t attachments_attach(struct object *object, const char *probe,
			   const struct file_finder *finder, struct error *error)
{
	struct attachments *all = object->attachments;
	int status;

	if (!attachments_any(object))
		return 0;
	status = kernel_links_open(object, probe, all->items, all->count, error);
	status = status ?: update_paths(all, probe, finder, error);
	return status ?: (ssize_t)count_links(object);
}

void attachments_check(struct object *object, const char *probe, const struct file_finder *finder)
{
	struct attachments *all = object->attachments;
	struct error error;

	if (!attachments_any(object) || clock_ns() - all->checked_ns < CHECK_NS)
		return;
	if (update_paths(all, probe, finder, &error))
		message(LOG_ERR, "probe %s: %s", probe, error.text);
}

double attachments_stepped(const struct object *object, const struct bpf_program *program)
{
	const struct attachments *all = object->attachments;
	double count = 0, stepped = 0;

	for (size_t i = 0; all && i < all->count; i++) {
		if (all->items[i]->program != program)
			continue;
		count++;
		stepped += all->items[i]->stepped;
	}
	return stepped > 0 ? stepped / count : 0;
}

void attachments_undo(struct object *object)
{
	struct attachments *all = object->attachments;

	for (size_t i = 0; all && i < all->path_count; i++)
		traced_path_undo(&all->paths[i]);
}

void attachments_done(struct object *object)
{
	struct attachments *all = object->attachments;

	if (!all)
		return;
	for (size_t i = 0; i < all->path_count; i++)
		traced_path_done(&all->paths[i]);
	for (size_t i = 0; i < all->count; i++)
		attachment_free(all->items[i]);
	free(all->paths);
	free(all->items);
	free(all);
	object->attachments = NULL;
}
