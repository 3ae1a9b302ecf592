/* SPDX-License-Identifier: MIT */
/*
 * The engine's own object, embedded in the plugin.
 */
#include "engine_object.h"

#include <stddef.h>

/* The path is relative to the directory of the build. */
__asm__(".pushsection .rodata\n"
	".balign 16\n"
	".globl engine_object_start\n"
	".hidden engine_object_start\n"
	"engine_object_start:\n"
	".incbin \"bpf/engine/service.bpf.o\"\n"
	".globl engine_object_end\n"
	".hidden engine_object_end\n"
	"engine_object_end:\n"
	".byte 0\n"
	".popsection\n");

extern const unsigned char engine_object_start[], engine_object_end[];

int engine_object_open(struct object *object, struct error *error)
{
	return object_open_memory(object, engine_object_start,
				  (size_t)(engine_object_end - engine_object_start),
				  "service.bpf.o", error);
}
