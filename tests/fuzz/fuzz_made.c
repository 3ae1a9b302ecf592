/* SPDX-License-Identifier: MIT */
/*
 * A perf map: the code that a program has generated, with its names.
 */
#include "fuzz.h"

#include "plugin/helper/symbol_message.h"
#include "plugin/helper/symbols/perf_map.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

static const uint64_t addresses[] = {
	0x1000, 0, 1, 0x1008, 0x100f, 0x7fffffff, UINT64_MAX, 0x1000
};
#define ADDRESSES (sizeof(addresses) / sizeof(*addresses))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct naming namings[ADDRESSES];
	int fd = memfd_create("map", 0), status;

	if (fd < 0 || (size && pwrite(fd, data, size, 0) != (ssize_t)size))
		abort();
	status = perf_map_name(fd, addresses, ADDRESSES, namings);
	FUZZ_WANT(status == 0 || status == -ENOEXEC);
	for (size_t i = 0; i < ADDRESSES; i++) {
		FUZZ_WANT(namings[i].size <= NAMING_FUNCTION_MAX);
		FUZZ_WANT(status == 0 || namings[i].size == 0);
	}
	FUZZ_WANT(namings[0].size == namings[ADDRESSES - 1].size);
	naming_done(namings, ADDRESSES);
	close(fd);
	return 0;
}
