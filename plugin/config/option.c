/* SPDX-License-Identifier: MIT */
/*
 * Values of one option, if they are of the expected number and type.
 */
#include "option.h"

#include <liboconfig/oconfig.h>
#include <math.h>
#include <stdio.h>

void option_text(const oconfig_item_t *item, char *text, size_t size)
{
	size_t length = 0;

	text[0] = '\0';
	for (int i = 0; i < item->values_num && length < size; i++) {
		const oconfig_value_t *v = &item->values[i];
		int more;

		if (v->type == OCONFIG_TYPE_STRING)
			more = snprintf(text + length, size - length, " \"%.*s\"", (int)size / 4,
					v->value.string);
		else if (v->type == OCONFIG_TYPE_NUMBER)
			more = snprintf(text + length, size - length, " %.15g", v->value.number);
		else
			more = snprintf(text + length, size - length, " %s",
					v->value.boolean ? "true" : "false");
		length += (size_t)more;
	}
}

const char *option_string_at(const oconfig_item_t *item, int i, int count)
{
	if (item->values_num != count || item->values[i].type != OCONFIG_TYPE_STRING ||
	    item->values[i].value.string[0] == '\0')
		return NULL;
	return item->values[i].value.string;
}

const char *option_string(const oconfig_item_t *item)
{
	return option_string_at(item, 0, 1);
}

bool option_number(const oconfig_item_t *item, double low, double high, double *ret_number)
{
	double n;

	if (item->values_num != 1 || item->values[0].type != OCONFIG_TYPE_NUMBER)
		return false;
	n = item->values[0].value.number;
	if (!(n >= low && n <= high))
		return false;
	*ret_number = n;
	return true;
}

bool option_whole(const oconfig_item_t *item, double low, double high, unsigned *ret_number)
{
	double n;

	if (!option_number(item, low, high, &n) || n != floor(n))
		return false;
	*ret_number = (unsigned)n;
	return true;
}

bool option_boolean(const oconfig_item_t *item, bool *ret_value)
{
	if (item->values_num != 1 || item->values[0].type != OCONFIG_TYPE_BOOLEAN)
		return false;
	*ret_value = item->values[0].value.boolean != 0;
	return true;
}
