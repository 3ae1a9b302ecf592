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

void strings_cut(struct strings *list, size_t count)
{
	while (list->count > count)
		free(list->item[--list->count]);
}

void strings_done(struct strings *list)
{
	strings_cut(list, 0);
	free(list->item);
	*list = (struct strings){ 0 };
}
