/* SPDX-License-Identifier: MIT */
/*
 * On each line "N" it calls malloc() N times, with sizes from 1 to 1000, and says "N".
 */
#include "load.h"

int main(void)
{
	char line[100];

	die_with_parent();
	for (;;) {
		unsigned long count = strtoul(hear(line, sizeof(line)), NULL, 10);

		for (unsigned long i = 0; i < count; i++) {
			void *volatile memory = malloc(i % 1000 + 1);

			free(memory);
		}
		sprintf(line, "%lu\n", count);
		say(line);
	}
}
