/* SPDX-License-Identifier: MIT */
/*
 * Links of programs to points in the kernel. Functions of one program are one link where the
 * kernel has kprobe.multi, as in file_link.c; those that it refuses so are tried one by one.
 */
#include "kernel_link.h"

#include "diagnosis.h"
#include "link.h"
#include "multi.h"
#include "system/glob.h"
#include "traceable.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

struct work {
	struct object *object;
	const char *probe;
};

/* The program by which it can be one of many, or NULL. */
static const struct bpf_program *many_of(const struct attachment *item)
{
	const struct point *point = item->point;

	if ((point->kind != POINT_KPROBE && point->kind != POINT_KRETPROBE) || point->offset)
		return NULL;
	return multi_is_of_kernel(item->program) ? item->program : item->many;
}

static bool is_pattern(const struct attachment *item)
{
	return item->point->name && glob_is_pattern(item->point->name);
}

static int link_functions(struct work *work, const struct bpf_program *program, bool at_return,
			  const char **names, const __u64 *cookies, size_t count,
			  struct error *error)
{
	LIBBPF_OPTS(bpf_kprobe_multi_opts, options, .syms = names, .cookies = cookies, .cnt = count,
		    .retprobe = at_return);
	struct bpf_link *link;
	int status = 0;

	diagnosis_begin();
	link = bpf_program__attach_kprobe_multi_opts(program, NULL, &options);
	if (!link)
		status = diagnosis_error(DIAGNOSIS_ATTACH, names[0], -errno, error);
	diagnosis_end();
	return status ?: link_add(work->object, link, error);
}

static int refuse_pattern(struct error *error)
{
	return error_set(error, -EOPNOTSUPP,
			 "many functions of the kernel at once need a kernel with kprobe.multi "
			 "(CONFIG_FPROBE, since 5.18) and, in the object, a program "
			 "SEC(\"kprobe.multi\"); name them one by one");
}

/* All functions of these names. */
static int link_pattern(struct work *work, const struct attachment *item, struct error *error)
{
	const struct bpf_program *program = many_of(item);
	struct traceable functions = { 0 };
	__u64 *cookies;
	int status;

	if (!program)
		return refuse_pattern(error);
	status = traceable_find(&functions, item->point->name, error);
	if (status)
		return status;
	cookies = calloc(functions.count, sizeof(*cookies));
	for (size_t i = 0; cookies && i < functions.count; i++)
		cookies[i] = item->cookie;
	if (cookies)
		status = link_functions(work, program, item->at_return,
					(const char **)functions.names, cookies, functions.count,
					error);
	else
		status = error_set(error, -ENOMEM, "no memory");
	if (status == -EOPNOTSUPP)
		status = refuse_pattern(error);
	free(cookies);
	traceable_done(&functions);
	return status;
}

static int link_alone(struct work *work, const struct attachment *item, struct error *error)
{
	if (multi_is_of_kernel(item->program))
		return error_set(error, -EOPNOTSUPP,
				 "the kernel has no function of this name that a program "
				 "SEC(\"kprobe.multi\") can be attached to");
	return link_point(work->object, item, error);
}

static void link_one(struct work *work, struct attachment *item)
{
	struct error why = { "" };
	int status;

	if (is_pattern(item))
		status = link_pattern(work, item, &why);
	else
		status = link_alone(work, item, &why);
	if (status)
		attachment_tell(item, work->probe, why.text);
}

/* Of one program, all or, where one of them is refused, by halves. */
static void link_many(struct work *work, struct attachment *const *items, size_t count)
{
	const char **names = calloc(count, sizeof(*names));
	__u64 *cookies = calloc(count, sizeof(*cookies));
	int status = names && cookies ? 0 : -ENOMEM;
	struct error ignored;

	for (size_t i = 0; i < count && status == 0; i++) {
		names[i] = items[i]->point->name;
		cookies[i] = items[i]->cookie;
	}
	status = status
			 ?: link_functions(work, many_of(items[0]), items[0]->at_return, names,
					   cookies, count, &ignored);
	free(names);
	free(cookies);
	if (status && count > 1) {
		link_many(work, items, count / 2);
		link_many(work, items + count / 2, count - count / 2);
	} else if (status) {
		link_one(work, items[0]);
	}
}

/* Those of the same program as the first, which are then done. */
static void link_group(struct work *work, struct attachment **left, size_t count)
{
	struct attachment **group = calloc(count, sizeof(*group));
	const struct bpf_program *program = many_of(left[0]);
	size_t size = 0;

	for (size_t i = 0; i < count; i++) {
		if (!left[i] || is_pattern(left[i]) || many_of(left[i]) != program)
			continue;
		if (group)
			group[size++] = left[i];
		else
			link_one(work, left[i]);
		left[i] = NULL;
	}
	if (size)
		link_many(work, group, size);
	free(group);
}

int kernel_links_open(struct object *object, const char *probe, struct attachment *const *items,
		      size_t count, struct error *error)
{
	struct attachment **left = calloc(count, sizeof(*left));
	struct work work = { .object = object, .probe = probe };

	if (!left)
		return error_set(error, -ENOMEM, "no memory");
	for (size_t i = 0; i < count; i++)
		left[i] = attachment_is_of_file(items[i]) ? NULL : items[i];
	for (size_t i = 0; i < count; i++) {
		if (left[i] && many_of(left[i]) && !is_pattern(left[i]))
			link_group(&work, left + i, count - i);
		else if (left[i])
			link_one(&work, left[i]);
	}
	free(left);
	return 0;
}
