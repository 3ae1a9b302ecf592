/* SPDX-License-Identifier: MIT */
/*
 * The engine's own object, embedded in the plugin.
 */
#include "image.h"

#include <stddef.h>

/* The path is relative to the directory of the build. */
__asm__(".pushsection .rodata\n"
	".balign 16\n"
	".globl image_start\n"
	".hidden image_start\n"
	"image_start:\n"
	".incbin \"bpf/engine/service.bpf.o\"\n"
	".globl image_end\n"
	".hidden image_end\n"
	"image_end:\n"
	".byte 0\n"
	".popsection\n");

extern const unsigned char image_start[], image_end[];

int image_open(struct object *object, struct error *error)
{
	return object_open_memory(object, image_start, (size_t)(image_end - image_start),
				  "service.bpf.o", error);
}
