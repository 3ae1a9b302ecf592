/* SPDX-License-Identifier: MIT */
/*
 * Lists of strings, as options have them.
 */
#include "string_list.h"

#include <stdlib.h>
#include <string.h>

bool strings_have(const struct strings *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->item[i], text))
			return true;
	return false;
}

void strings_done(struct strings *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->item[i]);
	free(list->item);
	*list = (struct strings){ 0 };
}
