/* SPDX-License-Identifier: MIT */
/*
 * An ELF file whose code is named at offsets all over it. Inlined functions are left out: libdw
 * parses DWARF, and the sandbox of ebpf-symbols contains its faults.
 */
#include "fuzz.h"

#include "plugin/helper/symbol_message.h"
#include "plugin/helper/symbols/naming.h"
#include "plugin/helper/symbols/offset.h"

#define OFFSETS 256

static void check(const struct naming *naming)
{
	FUZZ_WANT(naming->size < SYMBOL_NAMED_MAX);
	for (size_t i = 0; i < naming->size; i++)
		FUZZ_WANT(naming->bytes[i] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct naming namings[OFFSETS];
	uint64_t offsets[OFFSETS];
	char *bytes = fuzz_text(data, size);
	struct image image;

	for (size_t i = 0; i < OFFSETS; i++)
		offsets[i] = (OFFSETS - 1 - i) * (size / OFFSETS + 1);
	if (image_open_bytes(&image, bytes, size) == 0) {
		offsets_want_debug(&image);
		if (offsets_name(&image, offsets, OFFSETS, false, namings) == 0) {
			for (size_t i = 0; i < OFFSETS; i++)
				check(&namings[i]);
			naming_done(namings, OFFSETS);
		}
		image_close(&image);
	}
	free(bytes);
	return 0;
}
