/* SPDX-License-Identifier: MIT */
/*
 * One program and the hook that it is attached to.
 */
#include "attachment.h"

#include <stdlib.h>
#include <string.h>

bool attachment_is_of_file(const struct attachment *attachment)
{
	switch (attachment->hook->kind) {
	case HOOK_UPROBE:
	case HOOK_URETPROBE:
	case HOOK_USDT:
		return true;
	default:
		return false;
	}
}

void attachment_free(struct attachment *attachment)
{
	if (attachment->own_hook)
		hook_done(attachment->own_hook);
	free(attachment->own_hook);
	free(attachment->what);
	free(attachment->why);
	free(attachment);
}

struct attachment *attachment_copy(const struct attachment *attachment)
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
