/* SPDX-License-Identifier: MIT */
/*
 * The kernel's list of traceable functions, in which a name can occur more than once.
 */
#include "traceable.h"

#include "util/glob.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LIST "available_filter_functions"

static int add_function_name(struct traceable *functions, const char *name)
{
	char **grown = reallocarray(functions->names, functions->count + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	functions->names = grown;
	grown[functions->count] = strdup(name);
	return grown[functions->count++] ? 0 : -ENOMEM;
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static void keep_one_of_each(struct traceable *functions)
{
	size_t unique = 0;

	if (functions->count)
		qsort(functions->names, functions->count, sizeof(*functions->names), compare_names);
	for (size_t i = 0; i < functions->count; i++) {
		if (unique && !strcmp(functions->names[unique - 1], functions->names[i]))
			free(functions->names[i]);
		else
			functions->names[unique++] = functions->names[i];
	}
	functions->count = unique;
}

/* A line is NAME or NAME [MODULE]; functions of modules are skipped. */
static int read_function_list(FILE *list, struct traceable *functions, const char *glob)
{
	char line[1024];
	int status = 0;

	while (status == 0 && fgets(line, sizeof(line), list)) {
		size_t length = strcspn(line, " \t\n");

		if (length == 0 || line[length] != '\n' || !strncmp(line, "__ftrace_invalid", 16))
			continue;
		line[length] = '\0';
		if (!glob_match(glob, line))
			continue;
		status = functions->count < 2 * TRACEABLE_MAX ? add_function_name(functions, line)
							      : -E2BIG;
	}
	return status;
}

int traceable_read(FILE *list, struct traceable *ret_functions, const char *glob,
		   struct error *error)
{
	struct traceable functions = { 0 };
	int status = read_function_list(list, &functions, glob);

	keep_one_of_each(&functions);
	if (status == 0 && functions.count == 0)
		status = error_set(error, -ENOENT,
				   "the kernel has no function of such a name that can be traced");
	else if (status == -ENOMEM)
		error_set(error, status, "no memory");
	else if (status || functions.count > TRACEABLE_MAX)
		status = error_set(error, -E2BIG,
				   "more than %d functions have such a name; choose fewer",
				   TRACEABLE_MAX);
	if (status)
		traceable_done(&functions);
	else
		*ret_functions = functions;
	return status;
}

int traceable_find(struct traceable *ret_functions, const char *glob, struct error *error)
{
	FILE *list = fopen("/sys/kernel/tracing/" LIST, "re");
	int status;

	if (!list)
		list = fopen("/sys/kernel/debug/tracing/" LIST, "re");
	if (!list)
		return error_set(error, -errno,
				 "cannot read /sys/kernel/tracing/" LIST
				 ": %s; mount -t tracefs tracefs /sys/kernel/tracing",
				 strerror(errno));
	status = traceable_read(list, ret_functions, glob, error);
	fclose(list);
	return status;
}

void traceable_done(struct traceable *functions)
{
	for (size_t i = 0; i < functions->count; i++)
		free(functions->names[i]);
	free(functions->names);
	*functions = (struct traceable){ 0 };
}
