/* SPDX-License-Identifier: MIT */
/*
 * Reads files that name containers.
 */
#include "named_state.h"

#include <errno.h>
#include <stdlib.h>

/* The caller frees the bytes. */
static int read_named_state(struct named_state *state, struct file_helper *files,
			    struct file *ret_file)
{
	int status;

	state->request.path = state->path;
	status = file_read(files, &state->request, ret_file);
	if (status)
		return status;
	state->request.unless = ret_file->stamp;
	if (!state->request.user || ret_file->owner == state->request.user)
		return 0;
	free(ret_file->bytes);
	return -EPERM;
}

int named_state_check(struct named_state *state, struct file_helper *files, state_visitor *visit,
		      void *of)
{
	struct file file;
	int status = read_named_state(state, files, &file);

	if (status)
		return status;
	state_each(state->format, file.bytes, file.size, visit, of);
	free(file.bytes);
	return 0;
}

int named_state_find(struct named_state *state, struct file_helper *files, const char *id,
		     struct container *ret_container)
{
	struct file file;
	int status = read_named_state(state, files, &file);

	if (status)
		return status;
	if (!state_parse(state->format, file.bytes, file.size, id, ret_container))
		status = -ENOENT;
	free(file.bytes);
	return status;
}

int named_state_labels(struct named_state *state, struct file_helper *files,
		       struct container *container)
{
	struct file file;
	int status = read_named_state(state, files, &file);

	if (status)
		return status;
	state_parse_sandbox(state->format, file.bytes, file.size, container);
	free(file.bytes);
	return 0;
}
