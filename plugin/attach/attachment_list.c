/* SPDX-License-Identifier: MIT */
/*
 * The attachments of an object: hooks that the configuration names, and hooks in files, which may
 * be replaced. Hooks that libbpf finds by a program's section are not among them, see section.c.
 */
#include "attachment_list.h"

#include "attachment_message.h"
#include "followed_path.h"
#include "kernel.h"
#include "periodic.h"
#include "util/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_NS (10 * NS_PER_S)
#define CHECK_LATE_NS NS_PER_S              /* after a file has not answered for the first time */
#define MARKER_ARGUMENTS "__bpf_usdt_specs" /* of libbpf's usdt.bpf.h; only libbpf can fill it */

struct attachments {
	struct attachment **items; /* attachments of one part are adjacent */
	size_t count;
	struct followed_path *paths;
	size_t path_count;
	struct attachment_part {
		unsigned number;
		size_t first, count; /* indexes of `items` */
		bool paused;
		bool is_of_cpus;         /* of perf events, with a link for each online CPU */
		struct bpf_link **links; /* of hooks in the kernel */
		size_t link_count;
	} * parts;
	size_t part_count;
	uint64_t checked_ns, check_ns; /* the last check, and the time until the next */
	uint64_t online; /* hash of the list of CPUs that were online at the last attach */
};

bool attachments_any(const struct object *object)
{
	return object->attachments && object->attachments->count;
}

int attachments_none(struct error *error)
{
	return error_set(error, -ENOENT,
			 "nothing of it is attached: the messages before this one say why none of "
			 "its Attach lines and Function blocks can be used");
}

static void destroy_links(struct attachment_part *part)
{
	while (part->link_count)
		bpf_link__destroy(part->links[--part->link_count]);
	free(part->links);
	part->links = NULL;
}

static void attachments_done(struct object *object)
{
	struct attachments *all = object->attachments;

	if (!all)
		return;
	for (size_t i = 0; i < all->part_count; i++)
		destroy_links(&all->parts[i]);
	for (size_t i = 0; i < all->path_count; i++)
		followed_path_done(&all->paths[i]);
	for (size_t i = 0; i < all->count; i++)
		attachment_free(all->items[i]);
	free(all->paths);
	free(all->parts);
	free(all->items);
	free(all);
	object->attachments = NULL;
}

static struct attachments *ensure_attachments(struct object *object)
{
	if (!object->attachments) {
		object->attachments = calloc(1, sizeof(*object->attachments));
		object->attachments_done = attachments_done;
	}
	return object->attachments;
}

static int add_to_path(struct attachments *all, struct attachment *item)
{
	struct followed_path *grown;

	for (size_t i = 0; i < all->path_count; i++)
		if (followed_path_fits(&all->paths[i], item))
			return followed_path_add(&all->paths[i], item);
	grown = reallocarray(all->paths, all->path_count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	all->paths = grown;
	grown[all->path_count] = (struct followed_path){ 0 };
	return followed_path_add(&grown[all->path_count++], item);
}

static bool is_in_part(const struct attachment *item, const struct attachment_part *part)
{
	return item->part == part->number && (item->hook->kind == HOOK_PERF) == part->is_of_cpus;
}

/* Counts the item that is about to be appended to its part: the last part, or a new one. */
static int add_to_part(struct attachments *all, const struct attachment *item)
{
	struct attachment_part *grown;

	if (all->part_count && is_in_part(item, &all->parts[all->part_count - 1])) {
		all->parts[all->part_count - 1].count++;
		return 0;
	}
	grown = reallocarray(all->parts, all->part_count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	all->parts = grown;
	grown[all->part_count++] = (struct attachment_part){
		.number = item->part,
		.first = all->count,
		.count = 1,
		.is_of_cpus = item->hook->kind == HOOK_PERF,
	};
	return 0;
}

static int append_attachment(struct attachments *all, const struct attachment *attachment)
{
	struct attachment **grown = reallocarray(all->items, all->count + 1, sizeof(*grown));
	struct attachment *new;
	int status;

	if (!grown)
		return -ENOMEM;
	all->items = grown;
	new = attachment_copy(attachment);
	if (!new)
		return -ENOMEM;
	status = add_to_part(all, new);
	if (status == 0 && attachment_is_of_file(new))
		status = add_to_path(all, new);
	if (status == 0) {
		all->items[all->count++] = new;
		return 0;
	}
	new->own_hook = NULL;
	attachment_free(new);
	return status;
}

int attachments_add(struct object *object, const struct attachment *attachment, struct error *error)
{
	struct attachments *all = ensure_attachments(object);
	int status = all ? 0 : -ENOMEM;

	if (attachment->hook->kind == HOOK_USDT && object_map(object, MARKER_ARGUMENTS))
		return error_set(error, -EOPNOTSUPP,
				 "arguments of markers are not supported, and the object includes "
				 "usdt.bpf.h");
	status = status ?: append_attachment(all, attachment);
	return status ? error_set(error, status, "no memory") : 0;
}

static int update_paths(struct attachments *all, const char *probe,
			const struct file_finder *finder, struct error *error)
{
	int status = 0;

	all->checked_ns = clock_ns();
	all->check_ns = CHECK_NS;
	for (size_t i = 0; i < all->path_count && status == 0; i++)
		status = followed_path_update(&all->paths[i], probe, finder, error);
	for (size_t i = 0; i < all->path_count; i++)
		if (all->paths[i].late == 1)
			all->check_ns = CHECK_LATE_NS;
	return status;
}

static int retry_paths(struct attachments *all, const char *probe, const struct file_finder *finder,
		       struct error *error)
{
	int status = 0;

	for (size_t i = 0; i < all->path_count && status == 0; i++)
		status = followed_path_retry(&all->paths[i], probe, finder, error);
	return status;
}

/* Moves the object's links from index `first` on into the part, so that they can be detached
 * separately. */
static int move_links_to_part(struct attachment_part *part, struct object *object, size_t first,
			      struct error *error)
{
	size_t count = object->link_count - first;

	if ((!part->number && !part->is_of_cpus) || !count)
		return 0;
	part->links = calloc(count, sizeof(*part->links));
	if (!part->links)
		return error_set(error, -ENOMEM, "no memory");
	memcpy(part->links, object->links + first, count * sizeof(*part->links));
	part->link_count = count;
	object->link_count = first;
	return 0;
}

/* Attaches the part's programs to hooks in the kernel. */
static int attach_part(struct object *object, struct attachment_part *part, struct error *error)
{
	struct attachments *all = object->attachments;
	size_t links = object->link_count;
	int status;

	if (part->paused)
		return 0;
	status = kernel_links_open(object, all->items + part->first, part->count, error);
	return status ?: move_links_to_part(part, object, links, error);
}

static int attach_parts(struct object *object, struct error *error)
{
	struct attachments *all = object->attachments;
	int status = 0;

	for (size_t i = 0; i < all->part_count && status == 0; i++)
		status = attach_part(object, &all->parts[i], error);
	return status;
}

static size_t count_links(const struct object *object)
{
	const struct attachments *all = object->attachments;
	size_t count = object->link_count;
	bool waits = false;

	for (size_t i = 0; i < all->path_count; i++) {
		count += followed_path_links(&all->paths[i]);
		waits |= followed_path_waits(&all->paths[i]);
	}
	for (size_t i = 0; i < all->part_count; i++) {
		count += all->parts[i].link_count;
		waits |= all->parts[i].paused;
	}
	return count + waits;
}

ssize_t attachments_attach(struct object *object, const char *probe,
			   const struct file_finder *finder, struct error *error)
{
	struct attachments *all = object->attachments;
	char online[PERIODIC_CPUS_MAX];
	int status;

	if (!attachments_any(object))
		return 0;
	/* Read first: a CPU that comes online meanwhile is noticed at the next call. */
	periodic_list_online(online);
	all->online = file_number(online);
	status = attach_parts(object, error);
	status = status ?: update_paths(all, probe, finder, error);
	attachments_log(all->items, all->count, probe);
	return status ?: (ssize_t)count_links(object);
}

void attachments_check(struct object *object, const char *probe, const struct file_finder *finder)
{
	struct attachments *all = object->attachments;
	struct error error;
	int status;

	if (!attachments_any(object))
		return;
	if (clock_ns() - all->checked_ns >= all->check_ns)
		status = update_paths(all, probe, finder, &error);
	else
		status = retry_paths(all, probe, finder, &error);
	if (status)
		message(LOG_ERR, "probe %s: %s", probe, error.text);
	attachments_log(all->items, all->count, probe);
}

int attachments_follow_cpus(struct object *object, const char *probe, const char *online,
			    struct error *error)
{
	struct attachments *all = object->attachments;
	int status = 0;

	if (!all || all->online == file_number(online))
		return 0;
	all->online = file_number(online);
	for (size_t i = 0; i < all->part_count && status == 0; i++) {
		struct attachment_part *part = &all->parts[i];

		if (!part->is_of_cpus || !part->link_count)
			continue;
		destroy_links(part);
		status = attach_part(object, part, error);
	}
	attachments_log(all->items, all->count, probe);
	return status;
}

static struct attachment_part *find_part(struct attachments *all, unsigned number)
{
	for (size_t i = 0; all && i < all->part_count; i++)
		if (all->parts[i].number == number)
			return &all->parts[i];
	return NULL;
}

static void mark_part_paused(struct attachments *all, struct attachment_part *part, bool paused)
{
	part->paused = paused;
	for (size_t i = 0; i < all->path_count; i++)
		if (all->paths[i].part == part->number)
			all->paths[i].paused = paused;
}

static void undo_part(struct attachments *all, struct attachment_part *part)
{
	destroy_links(part);
	for (size_t i = 0; i < all->path_count; i++)
		if (all->paths[i].part == part->number)
			followed_path_undo(&all->paths[i]);
}

void attachments_pause(struct object *object, unsigned number)
{
	struct attachments *all = object->attachments;
	struct attachment_part *part = find_part(all, number);

	if (!part)
		return;
	undo_part(all, part);
	mark_part_paused(all, part, true);
}

int attachments_resume(struct object *object, unsigned number, const char *probe,
		       const struct file_finder *finder, struct error *error)
{
	struct attachments *all = object->attachments;
	struct attachment_part *part = find_part(all, number);
	int status;

	if (!part)
		return 0;
	mark_part_paused(all, part, false);
	status = attach_part(object, part, error);
	for (size_t i = 0; i < all->path_count && status == 0; i++)
		if (all->paths[i].part == number)
			status = followed_path_update(&all->paths[i], probe, finder, error);
	attachments_log(all->items, all->count, probe);
	if (status)
		attachments_pause(object, number);
	return status;
}

void attachments_each(const struct object *object, unsigned number,
		      void (*each)(void *with, const struct attachment *attachment), void *with)
{
	const struct attachments *all = object->attachments;
	const struct attachment_part *part = find_part(object->attachments, number);

	for (size_t i = 0; part && i < part->count; i++)
		each(with, all->items[part->first + i]);
}

double attachments_single_step_ratio(const struct object *object, const struct bpf_program *program)
{
	const struct attachments *all = object->attachments;
	double count = 0, single_step = 0;

	for (size_t i = 0; all && i < all->count; i++) {
		if (all->items[i]->program != program)
			continue;
		count++;
		single_step += all->items[i]->single_step;
	}
	return single_step > 0 ? single_step / count : 0;
}

void attachments_undo(struct object *object)
{
	struct attachments *all = object->attachments;

	for (size_t i = 0; all && i < all->part_count; i++)
		destroy_links(&all->parts[i]);
	for (size_t i = 0; all && i < all->path_count; i++)
		followed_path_undo(&all->paths[i]);
}
