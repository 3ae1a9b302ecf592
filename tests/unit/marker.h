/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TESTS_MARKER_H
#define EBPF_TESTS_MARKER_H

/*
 * A marker (USDT) as sys/sdt.h makes it: a nop, and a note with its location. SEMAPHORE is the name
 * of a variable of MARKER_SEMAPHORE(), which is not zero while the marker is in use, or 0.
 */
#define MARKER_TEXT(provider, name, semaphore, arguments, percent) \
	"990: nop\n"                                               \
	".pushsection .note.stapsdt, \"\", " percent "note\n"      \
	".balign 4\n"                                              \
	".4byte 992f - 991f, 994f - 993f, 3\n"                     \
	"991: .asciz \"stapsdt\"\n"                                \
	"992: .balign 4\n"                                         \
	"993: .8byte 990b, _.stapsdt.base, " #semaphore "\n"       \
	".asciz \"" provider "\"\n"                                \
	".asciz \"" name "\"\n"                                    \
	".asciz \"" arguments "\"\n"                               \
	"994: .balign 4\n"                                         \
	".popsection\n"                                            \
	".pushsection .stapsdt.base, \"a\", " percent "progbits\n" \
	".ifndef _.stapsdt.base\n"                                 \
	"_.stapsdt.base: .space 1\n"                               \
	".endif\n"                                                 \
	".popsection"

#define MARKER(provider, name, semaphore) \
	asm volatile(MARKER_TEXT(provider, name, semaphore, "", "%"))

/* With arguments as in "-4@%[a] 8@%[b]" and their operands for asm: [a] "nor"(number). */
#define MARKER_WITH(provider, name, semaphore, arguments, ...) \
	asm volatile(MARKER_TEXT(provider, name, semaphore, arguments, "%%")::__VA_ARGS__)

#define MARKER_SEMAPHORE(name) \
	volatile unsigned short name __attribute__((used, section(".probes"), visibility("hidden")))

#endif
