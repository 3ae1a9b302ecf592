/* SPDX-License-Identifier: MIT */
/*
 * Reads files that name containers: lists as streams, others as a whole.
 */
#include "named_state.h"

#include "storage_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The caller frees the bytes, unless the request has a stream. */
static int read_named_state(struct named_state *state, struct file_helper *files,
			    struct file *ret_file)
{
	int status;

	state->request.path = state->path;
	status = state_file_read(files, &state->request, state->view, ret_file);
	if (status)
		return status;
	state->request.unless = ret_file->stamp;
	if (!state->request.user || ret_file->owner == state->request.user)
		return 0;
	free(ret_file->bytes);
	return -EPERM;
}

/* id: of the container that is searched for; NULL: all are visited. */
static int visit_list(struct named_state *state, struct file_helper *files, const char *id,
		      state_visitor *visit, void *of)
{
	struct storage_list list = { .id = id, .visit = visit, .of = of };
	struct file file;
	int status;

	state->request.stream = (struct file_stream){ storage_list_receive, &list };
	status = read_named_state(state, files, &file);
	state->request.stream = (struct file_stream){ 0 };
	storage_list_done(&list);
	return status;
}

static int visit_named_state(struct named_state *state, struct file_helper *files, const char *id,
			     state_visitor *visit, void *of)
{
	struct file file;
	int status;

	if (state->format == STATE_STORAGE)
		return visit_list(state, files, id, visit, of);
	status = read_named_state(state, files, &file);
	if (status)
		return status;
	state_each(state->format, file.bytes, file.size, visit, of);
	free(file.bytes);
	return 0;
}

int named_state_check(struct named_state *state, struct file_helper *files, state_visitor *visit,
		      void *of)
{
	return visit_named_state(state, files, NULL, visit, of);
}

struct named_container {
	struct container *container;
	bool is_found;
};

static void note_named_container(void *of, __attribute__((unused)) const char *id,
				 const struct container *container)
{
	struct named_container *named = of;

	*named->container = *container;
	named->is_found = true;
}

int named_state_find(struct named_state *state, struct file_helper *files, const char *id,
		     struct container *ret_container)
{
	struct named_container named = { .container = ret_container };
	int status = visit_named_state(state, files, id, note_named_container, &named);

	if (status)
		return status;
	return named.is_found ? 0 : -ENOENT;
}

int named_state_labels(struct named_state *state, struct file_helper *files,
		       struct container *container)
{
	struct file file;
	int status;

	if (state->format == STATE_STORAGE)
		return -ENOENT;
	status = read_named_state(state, files, &file);
	if (status)
		return status;
	state_parse_sandbox(state->format, file.bytes, file.size, container);
	free(file.bytes);
	return 0;
}
