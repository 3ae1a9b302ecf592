/* SPDX-License-Identifier: MIT */
/*
 * Uprobes: programs attached to locations in one file. Where the kernel has uprobe.multi, all
 * locations of a program share one link. The kernel accepts all locations of a link or none: a
 * refused set is split in halves, so that a location that cannot be attached costs only itself.
 *
 * The kernel inserts its breakpoint into all processes that have the file mapped, or into none. If
 * one is at its memory limit, collectd-ebpf(5) says "the kernel refuses the function for all of
 * them, and may end a process of that cgroup". It is tried again later, and so is a location whose
 * symbol could not be looked up in time.
 */
#include "uprobe.h"

#include "attachment_message.h"
#include "object/diagnosis.h"
#include "uprobe_event.h"
#include "uprobe_multi.h"
#include "util/clock.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define RETRY_NS NS_PER_S /* until what was deferred is tried again, doubled each time */
#define RETRY_NS_MAX (600 * NS_PER_S)
#define LOG_AFTER_NS (5 * NS_PER_S) /* of waiting */

/* A location that a program is to be attached to. */
struct uprobe_location {
	struct attachment *item;
	struct symbol_location symbol; /* `arguments` is NULL */
	uint64_t cookie;
	bool as_return;  /* the kernel replaces the return address of the function that starts
			 * there */
	bool is_unfound; /* the symbol could not be looked up yet */
};

struct uprobe_work {
	struct uprobe_links *links;
	const char *probe;
	const struct symbol_file *file;
	struct file_helper *files;
	struct uprobe_location *locations;
	size_t location_count;
	bool again;          /* the locations were deferred before */
	bool logs_deferred;  /* and long ago */
	int status;          /* error of the first needed attachment that failed */
	struct error *error; /* its text */
};

/* Does the error concern the symbol and not the file? */
static bool is_of_location(int status)
{
	switch (-status) {
	case ESRCH:
	case ENOTUNIQ:
	case ENOMSG:
	case EFAULT:
	case EOPNOTSUPP:
		return true;
	default:
		return false;
	}
}

static void name_location(const struct hook *hook, char *text, size_t size)
{
	const char *name = hook->name ?: "";

	if (hook->offset)
		snprintf(text, size, "%s%s%#" PRIx64, name, hook->name ? "+" : "", hook->offset);
	else
		snprintf(text, size, "%s", name);
}

/* `what`: what failed, "read" or "attach to". */
static void refuse_item(struct uprobe_work *work, struct attachment *item, int status,
			const char *what, const char *why)
{
	const char *path = item->hook->path ?: "the program";
	char symbol[640];
	struct error text;

	name_location(item->hook, symbol, sizeof(symbol));
	if (is_of_location(status))
		error_set(&text, status, "cannot attach to %s in %s: %s", symbol, path, why);
	else
		error_set(&text, status, "cannot %s %s: %s", what, path, why);
	if (item->is_needed && work->status == 0)
		work->status = error_set(work->error, status, "%s", text.text);
	else if (!item->is_needed)
		attachment_note(item, ATTACHMENT_FILE_REFUSED, text.text);
}

/* Errors that may not occur at the next try. */
static bool may_pass(int status)
{
	switch (-status) {
	case ENOMEM:
	case EINTR:
	case EAGAIN:
	case EBUSY:
	case ETIMEDOUT:
	case ECANCELED:
	case EPIPE:
		return true;
	default:
		return false;
	}
}

/* Errors of a pair are logged for its entry only. */
static bool is_second(const struct attachment *item)
{
	return item->is_paired && item->at_return;
}

/* Logged only if it has waited for some time. */
static int defer_location(struct uprobe_work *work, const struct uprobe_location *location,
			  const char *why)
{
	struct uprobe_links *links = work->links;
	struct uprobe_location *grown =
		reallocarray(links->deferred, links->deferred_count + 1, sizeof(*grown));
	struct error text;

	if (!grown)
		return -ENOMEM;
	links->deferred = grown;
	links->deferred[links->deferred_count++] = *location;
	if (!links->wait_ns) {
		links->wait_ns = RETRY_NS;
		links->deferred_ns = clock_ns();
		links->due_ns = links->deferred_ns + RETRY_NS;
	}
	error_set(&text, 0, "cannot %s %s: %s", location->is_unfound ? "read" : "attach to",
		  location->item->hook->path ?: "the program", why);
	if (work->logs_deferred && !(location->is_unfound && is_second(location->item)))
		attachment_note(location->item, ATTACHMENT_DEFERRED, text.text);
	return 0;
}

static int add_link_fd(struct uprobe_work *work, int fd)
{
	struct uprobe_links *links = work->links;
	int *grown = reallocarray(links->fd, links->count + 1, sizeof(*grown));

	if (!grown) {
		close(fd);
		return -ENOMEM;
	}
	links->fd = grown;
	links->fd[links->count++] = fd;
	return 0;
}

/* --- one by one --- */

static int create_event_link(const struct uprobe_location *location, int event, struct error *error)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .perf_event.bpf_cookie = location->cookie);
	int fd = bpf_link_create(bpf_program__fd(location->item->program), event, BPF_PERF_EVENT,
				 &options);

	return fd < 0 ? diagnosis_of_kind(HOOK_UPROBE, fd, error) : fd;
}

static int link_location(struct uprobe_work *work, const struct uprobe_location *location,
			 struct error *error)
{
	int event, link, status;

	status = uprobe_event(work->files, work->file, &location->symbol, location->as_return,
			      &event, error);
	if (status)
		return status;
	link = create_event_link(location, event, error);
	close(event);
	return link < 0 ? link : add_link_fd(work, link);
}

/* --- many at once --- */

static int link_locations_at_once(struct uprobe_work *work, const struct uprobe_location *locations,
				  size_t count)
{
	uint64_t *numbers = calloc(count, 3 * sizeof(*numbers));
	struct uprobe_multi links = { .program = bpf_program__fd(locations->item->program),
				      .file = work->file->fd,
				      .owner = symbol_number(work->file),
				      .at_return = locations->as_return,
				      .offsets = numbers,
				      .semaphores = numbers + count,
				      .cookies = numbers + 2 * count,
				      .count = count };
	int fd, status;

	if (!numbers)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		numbers[i] = locations[i].symbol.offset;
		numbers[count + i] = locations[i].symbol.semaphore;
		numbers[2 * count + i] = locations[i].cookie;
	}
	status = helper_link(work->files, &links, &fd);
	free(numbers);
	return status ?: add_link_fd(work, fd);
}

static void link_locations(struct uprobe_work *work, const struct uprobe_location *locations,
			   size_t count)
{
	bool many = uprobe_multi_is_of(locations->item->program);
	struct error why = { "" };
	int status;

	if (many)
		status = link_locations_at_once(work, locations, count);
	else
		status = count == 1 ? link_location(work, locations, &why)
				    : -EAGAIN; /* tried one by one */
	for (size_t i = 0; i < count && status == 0; i++)
		if (work->again)
			attachment_note_attached(locations[i].item);
		else
			locations[i].item->logged = 0;
	if (status && count > 1) {
		link_locations(work, locations, count / 2);
		link_locations(work, locations + count / 2, count - count / 2);
	} else if (status) {
		if (many)
			diagnosis_of_kind(HOOK_UPROBE, status, &why);
		if (!may_pass(status) || defer_location(work, locations, why.text) != 0)
			refuse_item(work, locations->item, status, "attach to", why.text);
	}
}

/* --- which locations --- */

static bool is_of_go(const struct symbol_found *found)
{
	return found->count && found->locations[0].flags & SYMBOL_GO;
}

/* Go moves its stacks, and the return addresses with them. */
static bool is_replaced(const struct attachment *item, const struct symbol_found *found)
{
	return item->replaces && !is_of_go(found);
}

static bool is_symbol_wanted(const struct attachment *item, const struct symbol_found *found,
			     const struct symbol_location *symbol)
{
	bool at_return = symbol->flags & SYMBOL_RETURN;

	return at_return == (item->at_return && !is_replaced(item, found));
}

/* The symbol as it applies to this attachment. `arguments` stays owned by `found`. */
static struct symbol_location symbol_for(const struct attachment *item,
					 const struct symbol_found *found,
					 const struct symbol_location *symbol)
{
	struct symbol_location known = *symbol;

	if (is_of_go(found))
		known.flags |= SYMBOL_GO;
	if (is_replaced(item, found))
		known.flags &= ~(uint32_t)SYMBOL_NO_RETURNS;
	return known;
}

static int add_locations(struct uprobe_work *work, struct attachment *item,
			 const struct symbol_found *found)
{
	bool as_return = item->at_return && is_replaced(item, found);
	struct uprobe_location *grown = reallocarray(
		work->locations, work->location_count + found->count + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	work->locations = grown;
	item->single_step = false;
	item->replaced = as_return;
	for (size_t i = 0; i < found->count; i++) {
		struct symbol_location symbol = symbol_for(item, found, &found->locations[i]);
		struct uprobe_location *location = &work->locations[work->location_count];

		if (!is_symbol_wanted(item, found, &symbol))
			continue;
		/* The return of a pair uses the breakpoint of its entry. */
		item->single_step |=
			symbol.flags & SYMBOL_SINGLE_STEP && !(as_return && item->is_paired);
		*location = (struct uprobe_location){ .item = item,
						      .cookie = item->cookie,
						      .as_return = as_return };
		if (item->location_cookie)
			location->cookie = item->location_cookie(item, &symbol);
		symbol.arguments = NULL;
		location->symbol = symbol;
		work->location_count++;
	}
	return 0;
}

/* Its returns are unknown, so there is nothing to attach to. */
static void refuse_return(struct uprobe_work *work, struct attachment *item,
			  const struct symbol_found *found)
{
	struct error why;

	if (item->is_paired) {
		attachment_note(item, ATTACHMENT_CALLS_ONLY, found->error.text);
		return;
	}
	error_set(&why, 0,
		  "a function of Go moves its stack, which a uretprobe would break, and where it "
		  "returns is not known: %s",
		  found->error.text);
	refuse_item(work, item, -EOPNOTSUPP, "attach to", why.text);
}

static void handle_unfound(struct uprobe_work *work, struct attachment *item,
			   const struct symbol_found *found)
{
	const struct uprobe_location location = { .item = item, .is_unfound = true };

	if (may_pass(found->status) && defer_location(work, &location, found->error.text) == 0)
		return;
	if (!is_second(item))
		refuse_item(work, item, found->status, "read", found->error.text);
}

static int add_found(struct uprobe_work *work, struct attachment *item,
		     const struct symbol_found *found)
{
	size_t before = work->location_count;
	int status;

	if (found->status) {
		handle_unfound(work, item, found);
		return 0;
	}
	status = add_locations(work, item, found);
	if (status == 0 && work->location_count == before)
		refuse_return(work, item, found);
	return status;
}

static int find_symbols(struct uprobe_work *work, struct attachment *const *items, size_t count,
			struct symbol_found *found)
{
	struct symbol_wanted *wanted = calloc(count, sizeof(*wanted));
	int status = wanted ? 0 : -ENOMEM;
	struct error why;

	for (size_t i = 0; i < count && status == 0; i++) {
		const struct hook *hook = items[i]->hook;

		wanted[i] = (struct symbol_wanted){
			.kind = hook->kind == HOOK_USDT ? SYMBOL_MARKER : SYMBOL_FUNCTION,
			.name = hook->name,
			.offset = hook->offset,
			.returns = items[i]->at_return || items[i]->is_paired,
		};
	}
	if (status == 0) {
		int failed = symbol_find(work->files, work->file, wanted, count, found, &why);

		for (size_t i = 0; i < count && failed; i++)
			found[i] = (struct symbol_found){ .status = failed, .error = why };
		if (!failed && why.text[0])
			attachment_log_file(items[0], work->probe, why.text);
	}
	free(wanted);
	return status;
}

/* Adds the locations of these attachments to work->locations. */
static int search_items(struct uprobe_work *work, struct attachment *const *items, size_t count)
{
	struct symbol_found *found = calloc(count, sizeof(*found));
	int status = found ? find_symbols(work, items, count, found) : -ENOMEM;

	for (size_t i = 0; i < count && status == 0; i++)
		status = add_found(work, items[i], &found[i]);
	if (found)
		symbol_found_done(found, count);
	free(found);
	return status;
}

/* Removes the locations without a symbol and looks their symbols up again. */
static int search_unfound_items(struct uprobe_work *work)
{
	struct attachment **items = calloc(work->location_count, sizeof(*items));
	size_t count = 0, remaining = 0;
	int status = items ? 0 : -ENOMEM;

	for (size_t i = 0; i < work->location_count && status == 0; i++)
		if (work->locations[i].is_unfound)
			items[count++] = work->locations[i].item;
		else
			work->locations[remaining++] = work->locations[i];
	work->location_count = remaining;
	if (count)
		status = search_items(work, items, count);
	free(items);
	return status;
}

/* --- all --- */

/* Locations of one link are adjacent. Returns come first, so that each call that is counted also
 * has its return counted. */
static int by_link(const void *left, const void *right)
{
	const struct uprobe_location *a = left, *b = right;

	if (a->item->at_return != b->item->at_return)
		return b->item->at_return - a->item->at_return;
	if (a->item->program != b->item->program)
		return a->item->program < b->item->program ? -1 : 1;
	return a->as_return - b->as_return;
}

static void link_all_locations(struct uprobe_work *work)
{
	if (work->location_count)
		qsort(work->locations, work->location_count, sizeof(*work->locations), by_link);
	for (size_t i = 0, next; i < work->location_count; i = next) {
		for (next = i + 1; next < work->location_count; next++)
			if (by_link(&work->locations[i], &work->locations[next]) != 0 ||
			    next - i == UPROBE_MULTI_MAX)
				break;
		link_locations(work, &work->locations[i], next - i);
	}
}

static int finish_links(struct uprobe_work *work, int status)
{
	if (status == 0)
		link_all_locations(work);
	free(work->locations);
	if (status == -ENOMEM)
		return error_set(work->error, status, "no memory");
	return status ?: work->status;
}

int uprobe_links_open(struct uprobe_links *links, const char *probe,
		      struct attachment *const *items, size_t count, const struct symbol_file *file,
		      struct file_helper *files, struct error *error)
{
	struct uprobe_work work = {
		.links = links, .probe = probe, .file = file, .files = files, .error = error
	};

	return finish_links(&work, search_items(&work, items, count));
}

int uprobe_links_again(struct uprobe_links *links, const char *probe,
		       const struct symbol_file *file, struct file_helper *files,
		       struct error *error)
{
	uint64_t now_ns = clock_ns();
	struct uprobe_work work = { .links = links,
				    .probe = probe,
				    .file = file,
				    .files = files,
				    .error = error,
				    .locations = links->deferred,
				    .location_count = links->deferred_count,
				    .again = true };

	if (!links->deferred_count || now_ns < links->due_ns)
		return 0;
	work.logs_deferred = now_ns - links->deferred_ns > LOG_AFTER_NS;
	if (links->wait_ns < RETRY_NS_MAX)
		links->wait_ns *= 2;
	links->due_ns = now_ns + links->wait_ns;
	links->deferred = NULL;
	links->deferred_count = 0;
	return finish_links(&work, search_unfound_items(&work));
}

void uprobe_links_done(struct uprobe_links *links)
{
	/* Entries are detached first, for the same reason. */
	while (links->count)
		close(links->fd[--links->count]);
	free(links->fd);
	free(links->deferred);
	*links = (struct uprobe_links){ 0 };
}
