/* SPDX-License-Identifier: MIT */
/*
 * An ELF file in which a function or a marker is looked for: the first line of the bytes is its name,
 * with a colon that of a marker.
 */
#include "fuzz.h"

#include "plugin/system/elf.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	size_t length = end ? (size_t)(end - data) : 0;
	char *name = fuzz_text(data, length);
	uint64_t offset = UINT64_MAX;

	if (end && strchr(name, ':')) {
		struct elf_marker marker = { UINT64_MAX, UINT64_MAX };
		size_t rest = size - length - 1;
		int status = elf_marker(end + 1, rest, name, 0, &marker);

		FUZZ_WANT((status == 0) == (marker.offset < rest));
		FUZZ_WANT((status == 0) == (marker.semaphore < rest));
	} else if (end) {
		const uint8_t *bytes = end + 1;
		size_t rest = size - length - 1;
		int status = elf_function(bytes, rest, name, &offset);

		FUZZ_WANT((status == 0) == (offset < rest));
		FUZZ_WANT(status || elf_has_code(bytes, rest, offset) == 0);
	}
	free(name);
	return 0;
}
