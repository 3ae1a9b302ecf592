/* SPDX-License-Identifier: MIT */
/*
 * A list of CPUs as in /sys. If it is accepted, it contains the number that is returned as its
 * highest, by a simpler parser.
 */
#include "fuzz.h"

#include "plugin/util/kernel_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t end = kernel_file_cpus_end((const char *)data, size);
	uint64_t number = 0, highest = 0;

	if (end == 0)
		return 0;
	for (size_t i = 0; i < size; i++) {
		bool digit = data[i] >= '0' && data[i] <= '9';

		FUZZ_WANT(digit || data[i] == '-' || data[i] == ',' || i + 1 == size);
		number = digit ? number * 10 + data[i] - '0' : 0;
		highest = number > highest ? number : highest;
	}
	FUZZ_WANT(end == highest + 1);
	return 0;
}
