/* SPDX-License-Identifier: MIT */
/*
 * /proc/PID/fdinfo/FD of a BPF map. The memory that is returned must be in the text, after its key.
 */
#include "fuzz.h"

#include "plugin/util/kernel_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char key[] = "memlock:\t";
	uint64_t bytes = kernel_file_memlock((const char *)data, size);
	const char *end = (const char *)data + size, *at = (const char *)data;
	bool found = false;

	if (bytes == 0)
		return 0;
	while (!found && (at = memmem(at, (size_t)(end - at), key, strlen(key)))) {
		uint64_t number = 0;

		for (at += strlen(key); at < end && *at >= '0' && *at <= '9'; at++)
			number = number * 10 + (uint64_t)(*at - '0');
		found = number == bytes;
	}
	FUZZ_WANT(found);
	return 0;
}
