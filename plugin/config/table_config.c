/* SPDX-License-Identifier: MIT */
/*
 * Table blocks, as they were read: their release.
 */
#include "table_config.h"

#include <stdlib.h>

void table_config_done(struct table_config *table)
{
	for (size_t i = 0; i < table->key_count; i++) {
		struct key_config *key = &table->keys[i];

		for (size_t k = 0; k < key->decode_count; k++)
			strings_done(&key->decodes[k]);
		free(key->decodes);
		strings_done(&key->once);
	}
	for (size_t i = 0; i < table->value_count; i++) {
		free(table->values[i].metric);
		strings_done(&table->values[i].histogram);
		strings_done(&table->values[i].once);
	}
	free(table->keys);
	free(table->values);
	free(table->map);
	strings_done(&table->once);
	*table = (struct table_config){ 0 };
}
