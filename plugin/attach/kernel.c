/* SPDX-License-Identifier: MIT */
/*
 * Attaches programs to hooks in the kernel: functions, tracepoints and perf events. Functions of
 * one program share one link where the kernel has kprobe.multi; of a set that it refuses, halves
 * are tried, and finally single functions.
 */
#include "kernel.h"

#include "attachment_message.h"
#include "kprobe_multi.h"
#include "object/diagnosis.h"
#include "perf_event.h"
#include "traceable.h"
#include "util/glob.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

/* Returns the program for many functions at once that can stand in for the item's, or NULL. */
static const struct bpf_program *many_of(const struct attachment *item)
{
	const struct hook *hook = item->hook;

	if ((hook->kind != HOOK_KPROBE && hook->kind != HOOK_KRETPROBE) || hook->offset)
		return NULL;
	return kprobe_multi_is_of(item->program) ? item->program : item->many;
}

static bool is_glob(const struct attachment *item)
{
	return item->hook->name && glob_has_wildcard(item->hook->name);
}

static struct bpf_link *create_kernel_link(const struct attachment *attachment)
{
	const struct hook *hook = attachment->hook;
	LIBBPF_OPTS(bpf_kprobe_opts, function, .offset = hook->offset,
		    .retprobe = attachment->at_return, .bpf_cookie = attachment->cookie);
	LIBBPF_OPTS(bpf_trace_opts, trace, .cookie = attachment->cookie);

	switch (hook->kind) {
	case HOOK_TRACEPOINT:
		return bpf_program__attach_tracepoint(attachment->program, hook->category,
						      hook->name);
	case HOOK_FENTRY:
		return bpf_program__attach_trace_opts(attachment->program, &trace);
	default:
		return bpf_program__attach_kprobe_opts(attachment->program, hook->name, &function);
	}
}

static int link_by_libbpf(struct object *object, const struct attachment *attachment,
			  struct error *error)
{
	struct bpf_link *link;
	int status = 0;

	diagnosis_begin();
	link = create_kernel_link(attachment);
	if (!link)
		status = diagnosis_of_hook(attachment->hook, -errno, error);
	diagnosis_end();
	return status ?: object_add_link(object, link, error);
}

static int link_functions(struct object *object, const struct bpf_program *program, bool at_return,
			  const char **names, const __u64 *cookies, size_t count)
{
	LIBBPF_OPTS(bpf_kprobe_multi_opts, options, .syms = names, .cookies = cookies, .cnt = count,
		    .retprobe = at_return);
	struct bpf_link *link;
	struct error ignored;
	int status;

	diagnosis_begin();
	link = bpf_program__attach_kprobe_multi_opts(program, NULL, &options);
	status = link ? 0 : -errno;
	diagnosis_end();
	return status ?: object_add_link(object, link, &ignored);
}

static int refuse_glob(struct error *error)
{
	return error_set(
		error, -EOPNOTSUPP,
		"many functions at once need a kernel with CONFIG_FPROBE (since 5.18) and, in an "
		"object of your own, a program SEC(\"kprobe.multi\"); name them one by one");
}

/* Attaches to all functions whose names match the glob. */
static int link_glob(struct object *object, const struct attachment *item, struct error *error)
{
	const struct bpf_program *program = many_of(item);
	struct traceable functions = { 0 };
	__u64 *cookies;
	int status;

	if (!program)
		return refuse_glob(error);
	status = traceable_find(&functions, item->hook->name, error);
	if (status)
		return status;
	cookies = calloc(functions.count, sizeof(*cookies));
	for (size_t i = 0; cookies && i < functions.count; i++)
		cookies[i] = item->cookie;
	if (cookies)
		status = link_functions(object, program, item->at_return,
					(const char **)functions.names, cookies, functions.count);
	else
		status = -ENOMEM;
	if (status == -EOPNOTSUPP)
		status = refuse_glob(error);
	else if (status)
		status = diagnosis_of_hook(item->hook, status, error);
	free(cookies);
	traceable_done(&functions);
	return status;
}

static int link_alone(struct object *object, const struct attachment *item, struct error *error)
{
	if (kprobe_multi_is_of(item->program))
		return error_set(error, -EOPNOTSUPP,
				 "cannot attach to %s: the kernel has no function of this name "
				 "that a program SEC(\"kprobe.multi\") can be attached to",
				 item->hook->name);
	if (item->hook->kind == HOOK_PERF)
		return perf_event_attach(object, item, error);
	return link_by_libbpf(object, item, error);
}

static void link_item(struct object *object, struct attachment *item)
{
	struct error why = { "" };
	int status;

	if (is_glob(item))
		status = link_glob(object, item, &why);
	else
		status = link_alone(object, item, &why);
	if (status)
		attachment_note(item, ATTACHMENT_REFUSED, why.text);
}

/* Items of one program: all by one link, or, if one is refused, in halves. */
static void link_items(struct object *object, struct attachment *const *items, size_t count)
{
	const char **names = calloc(count, sizeof(*names));
	__u64 *cookies = calloc(count, sizeof(*cookies));
	int status = names && cookies ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && status == 0; i++) {
		names[i] = items[i]->hook->name;
		cookies[i] = items[i]->cookie;
	}
	status = status
			 ?: link_functions(object, many_of(items[0]), items[0]->at_return, names,
					   cookies, count);
	free(names);
	free(cookies);
	if (status && count > 1) {
		link_items(object, items, count / 2);
		link_items(object, items + count / 2, count - count / 2);
	} else if (status) {
		link_item(object, items[0]);
	}
}

/* Links all items of the first item's program and sets them to NULL. */
static void link_group(struct object *object, struct attachment **left, size_t count)
{
	struct attachment **group = calloc(count, sizeof(*group));
	const struct bpf_program *program = many_of(left[0]);
	size_t size = 0;

	for (size_t i = 0; i < count; i++) {
		if (!left[i] || is_glob(left[i]) || many_of(left[i]) != program)
			continue;
		if (group)
			group[size++] = left[i];
		else
			link_item(object, left[i]);
		left[i] = NULL;
	}
	if (size)
		link_items(object, group, size);
	free(group);
}

int kernel_links_open(struct object *object, struct attachment *const *items, size_t count,
		      struct error *error)
{
	struct attachment **left = calloc(count, sizeof(*left));

	if (!left)
		return error_set(error, -ENOMEM, "no memory");
	for (size_t i = 0; i < count; i++)
		left[i] = attachment_is_of_file(items[i]) ? NULL : items[i];
	for (size_t i = 0; i < count; i++) {
		if (left[i] && many_of(left[i]) && !is_glob(left[i]))
			link_group(object, left + i, count - i);
		else if (left[i])
			link_item(object, left[i]);
	}
	free(left);
	return 0;
}
