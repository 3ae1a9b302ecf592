/* SPDX-License-Identifier: MIT */
/*
 * Files that are replaced. A path leads to another file after an upgrade, and, in processes of a
 * service, after a restart, or to several files at once. An old file stays attached as long as
 * processes may run it: on a path as collectd sees it, until the next file comes; in a service,
 * until two checks in a row have found no process with the file.
 */
#include "followed_path.h"

#include "attachment_message.h"
#include "util/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PROCESSES_MAX 1024 /* of a service, checked at a time */
#define FILES_MAX 64       /* of a service, at a time */
#define OLD_FILES 1        /* of a path as collectd sees it */
#define MISSED_MAX 2
#define UPDATE_NS_MAX (5 * NS_PER_S)

struct path_update {
	struct followed_path *path;
	const char *probe;
	const struct file_finder *finder;
	struct error *error;
	bool any;      /* a file was found */
	bool complete; /* all processes were checked */
	bool late;     /* a file of one did not answer */
};

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

bool followed_path_fits(const struct followed_path *path, const struct attachment *attachment)
{
	return path->part == attachment->part &&
	       same_text(path->service, attachment->hook->service) &&
	       same_text(path->path, attachment->hook->path);
}

int followed_path_add(struct followed_path *path, struct attachment *item)
{
	struct attachment **grown = reallocarray(path->items, path->item_count + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	path->items = grown;
	path->items[path->item_count++] = item;
	path->service = item->hook->service;
	path->path = item->hook->path;
	path->part = item->part;
	return 0;
}

/* --- messages --- */

static bool is_needed(const struct followed_path *path)
{
	for (size_t i = 0; i < path->item_count; i++)
		if (path->items[i]->is_needed)
			return true;
	return false;
}

static void note_items(const struct followed_path *path, enum attachment_state state,
		       const char *why)
{
	for (size_t i = 0; i < path->item_count; i++)
		attachment_note(path->items[i], state, why);
}

/* Records it for all items of the path. An error if one of them is needed. */
static int refuse_items(const struct path_update *update, enum attachment_state state, int status,
			const char *why)
{
	if (is_needed(update->path))
		return error_set(update->error, status, "%s", why);
	note_items(update->path, state, why);
	return 0;
}

static int refuse_file(const struct path_update *update, int status, const char *why)
{
	struct error text;

	error_set(&text, status, "cannot read %s: %s", update->path->path ?: "the program", why);
	return refuse_items(update, ATTACHMENT_FILE_REFUSED, status, text.text);
}

static void log_new(const struct path_update *update, bool replaced)
{
	const struct followed_path *path = update->path;

	if (path->service)
		message(LOG_NOTICE, "probe %s: attached to %s, which the service %s uses now",
			update->probe, path->path ?: "the program", path->service);
	else
		message(LOG_NOTICE, "probe %s: attached to %s, which %s", update->probe, path->path,
			replaced ? "has been replaced" : "is there now");
}

/* --- files --- */

static void remove_file(struct followed_path *path, size_t at)
{
	uprobe_links_done(&path->files[at].links);
	symbol_close(&path->files[at].file);
	memmove(&path->files[at], &path->files[at + 1],
		(--path->file_count - at) * sizeof(*path->files));
}

static struct followed_file *find_file(struct followed_path *path, const struct symbol_file *file)
{
	for (size_t i = path->file_count; i-- > 0;)
		if (symbol_is_same(&path->files[i].file, file))
			return &path->files[i];
	return NULL;
}

/* The last file has been rewritten in place: its code is elsewhere now, so the attachments to its
 * former content are removed. */
static void remove_rewritten(struct followed_path *path)
{
	const struct symbol_file *file = &path->files[path->file_count - 1].file;
	const uint64_t device = file->device, inode = file->inode;

	for (size_t i = path->file_count - 1; i-- > 0;)
		if (path->files[i].file.device == device && path->files[i].file.inode == inode)
			remove_file(path, i);
}

/* Adds a file that was found. A new one is kept open. */
static int add_followed_file(struct path_update *update, struct symbol_file *file)
{
	struct followed_path *path = update->path;
	struct followed_file *followed = find_file(path, file), *grown;

	update->any = true;
	if (followed) {
		followed->missed = 0;
		return 0;
	}
	if (path->file_count >= FILES_MAX)
		return refuse_file(update, -E2BIG,
				   "its service has too many different files of this name");
	grown = reallocarray(path->files, path->file_count + 1, sizeof(*grown));
	if (!grown)
		return error_set(update->error, -ENOMEM, "no memory");
	path->files = grown;
	grown[path->file_count] =
		(struct followed_file){ .file = *file, .late = path->file_count || path->logged };
	*file = (struct symbol_file)SYMBOL_FILE_NONE;
	path->file_count++;
	remove_rewritten(path);
	return 0;
}

static int attach_file(const struct path_update *update, struct followed_file *followed)
{
	struct followed_path *path = update->path;
	struct file_helper *files = update->finder->files;
	struct error why = { "" };
	int status = followed->attached
			     ? uprobe_links_again(&followed->links, update->probe, &followed->file,
						  files, &why)
			     : uprobe_links_open(&followed->links, update->probe, path->items,
						 path->item_count, &followed->file, files, &why);

	followed->attached = true;
	if (followed->late && followed->links.count) {
		log_new(update, path->file_count > 1);
		followed->late = false;
	}
	return status ? refuse_items(update, ATTACHMENT_FILE_REFUSED, status, why.text) : 0;
}

static int attach_files(const struct path_update *update)
{
	struct followed_path *path = update->path;
	int status = 0;

	for (size_t i = 0; i < path->file_count && status == 0; i++)
		status = attach_file(update, &path->files[i]);
	return status;
}

/* --- finding the files --- */

/* The file may answer later. Nothing is said at the first time: the start does not wait for long. */
static int defer_path(const struct path_update *update, const char *why)
{
	struct followed_path *path = update->path;
	struct error text;

	path->waits = true;
	if (++path->late == 1 || path->logged)
		return 0;
	path->logged = true;
	error_set(&text, 0, "cannot read %s: %s", path->path ?: "the program", why);
	note_items(path, ATTACHMENT_DEFERRED, text.text);
	return 0;
}

static int update_from_path(struct path_update *update)
{
	struct followed_path *path = update->path;
	struct symbol_file file = SYMBOL_FILE_NONE;
	struct error why;
	int status = symbol_open(update->finder->files, path->path, 0, &file, &why);

	if (status == -ECANCELED)
		return 0;
	if (helper_may_reply_later(status))
		return defer_path(update, why.text);
	path->late = 0;
	if (status) {
		path->waits = status == -ENOENT;
		status = path->logged ? 0 : refuse_file(update, status, why.text);
		path->logged = true;
		return status;
	}
	status = add_followed_file(update, &file);
	symbol_close(&file);
	path->logged = path->waits = false;
	while (path->file_count > 1 + OLD_FILES)
		remove_file(path, 0);
	return status;
}

/* A process that has exited or has no such file is no error. */
static int update_from_process(struct path_update *update, pid_t pid, struct error *why)
{
	struct symbol_file file = SYMBOL_FILE_NONE;
	struct error error;
	int status = symbol_open(update->finder->files, update->path->path, pid, &file, &error);

	if (status == -ENOENT || status == -ESRCH)
		return 0;
	if (status == -ECANCELED)
		return status;
	if (status) {
		update->complete = false;
		update->late |= helper_may_reply_later(status);
		*why = error;
		return 0;
	}
	status = add_followed_file(update, &file);
	symbol_close(&file);
	return status;
}

static int report_none(struct path_update *update, ssize_t processes, const struct error *why)
{
	struct followed_path *path = update->path;
	struct error text;

	if (update->late)
		return defer_path(update, why->text);
	path->waits = why->text[0] == '\0' && processes != -ENOENT;
	if (path->logged)
		return 0;
	path->logged = true;
	if (processes == -ENOENT) {
		error_set(&text, 0, "there is no Service block \"%s\"", path->service);
		return refuse_items(update, ATTACHMENT_REFUSED, -ENOENT, text.text);
	}
	if (!path->waits)
		return refuse_file(update, -EIO, why->text);
	if (processes == 0)
		error_set(&text, 0, "no process of the service %s runs yet", path->service);
	else
		error_set(&text, 0, "no process of the service %s has a file %s", path->service,
			  path->path ?: "that it runs");
	note_items(path, ATTACHMENT_WAITS, text.text);
	return 0;
}

/* Between the exit of one process of a service and the start of the next there may be none, so one
 * check without the file is not enough. */
static void remove_missed(struct followed_path *path)
{
	for (size_t i = path->file_count; i-- > 0;)
		if (++path->files[i].missed > MISSED_MAX)
			remove_file(path, i);
}

static int update_from_service(struct path_update *update)
{
	pid_t pids[PROCESSES_MAX];
	struct followed_path *path = update->path;
	uint64_t end_ns = clock_ns() + UPDATE_NS_MAX;
	struct error why = { "" };
	ssize_t processes =
		update->finder->processes(update->finder->of, path->service, pids, PROCESSES_MAX);
	int status = 0;

	update->complete = processes >= 0 && processes <= PROCESSES_MAX;
	for (ssize_t i = 0; i < processes && i < PROCESSES_MAX && status == 0; i++) {
		if (clock_ns() > end_ns) {
			update->complete = false;
			break;
		}
		status = update_from_process(update, pids[i], &why);
	}
	if (status == -ECANCELED)
		return 0;
	if (update->complete)
		remove_missed(path);
	if (status || update->any) {
		path->logged = path->waits = false;
		path->late = 0;
		return status;
	}
	return report_none(update, processes, &why);
}

int followed_path_update(struct followed_path *path, const char *probe,
			 const struct file_finder *finder, struct error *error)
{
	struct path_update update = {
		.path = path, .probe = probe, .finder = finder, .error = error
	};
	int status;

	if (path->paused)
		return 0;
	status = path->service ? update_from_service(&update) : update_from_path(&update);
	return status ?: attach_files(&update);
}

int followed_path_retry(struct followed_path *path, const char *probe,
			const struct file_finder *finder, struct error *error)
{
	struct path_update update = {
		.path = path, .probe = probe, .finder = finder, .error = error
	};

	return path->paused ? 0 : attach_files(&update);
}

bool followed_path_waits(const struct followed_path *path)
{
	for (size_t i = 0; i < path->file_count; i++)
		if (path->files[i].links.deferred_count)
			return true;
	return path->waits;
}

size_t followed_path_links(const struct followed_path *path)
{
	size_t count = 0;

	for (size_t i = 0; i < path->file_count; i++)
		count += path->files[i].links.count;
	return count;
}

void followed_path_undo(struct followed_path *path)
{
	for (size_t i = 0; i < path->file_count; i++) {
		uprobe_links_done(&path->files[i].links);
		path->files[i].attached = false;
	}
}

void followed_path_done(struct followed_path *path)
{
	while (path->file_count)
		remove_file(path, path->file_count - 1);
	free(path->files);
	free(path->items);
	*path = (struct followed_path){ 0 };
}
