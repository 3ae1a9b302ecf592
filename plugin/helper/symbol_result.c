/* SPDX-License-Identifier: MIT */
/*
 * Frees what ebpf-symbols has found.
 */
#include "symbol_result.h"

#include <stdlib.h>

void symbol_found_done(struct symbol_found *found, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < found[i].count; j++)
			free(found[i].locations[j].arguments);
		free(found[i].locations);
		found[i] = (struct symbol_found){ 0 };
	}
}

void symbol_names_done(struct symbol_names *names)
{
	free(names->bytes);
	free(names->name);
	*names = (struct symbol_names){ 0 };
}
