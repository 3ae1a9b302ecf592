/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PROGRAM_KIND_H
#define EBPF_PROGRAM_KIND_H

#include "config/point.h"

#include <bpf/libbpf.h>
#include <stdbool.h>

/* Does the program's section say this kind of hook? */
bool program_has_section(const struct bpf_program *program, enum point_kind kind);

/* The section of programs for this kind of hook, for messages. */
const char *program_section(enum point_kind kind);

/* Can the program be attached to a hook of this kind? */
bool program_fits_hook(const struct bpf_program *program, enum point_kind kind);

/* Does its section name the hook, SEC("KIND/HOOK")? */
bool program_names_hook(const struct bpf_program *program);

/* The kind of hook in a file that its section says; POINT_KINDS: none. */
enum point_kind program_file_hook(const struct bpf_program *program);

/* Can attach_sections() not attach the program: is its hook in a file, or named by the
 * configuration? */
bool attach_is_own(const struct bpf_program *program);

/* Does a program on such a hook run when a function returns? */
bool program_hook_is_return(enum point_kind kind);

#endif
