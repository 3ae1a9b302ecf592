/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PROGRAM_KIND_H
#define EBPF_PROGRAM_KIND_H

#include "config/hook.h"

#include <bpf/libbpf.h>
#include <stdbool.h>

/* Does the program's section name this kind of hook? */
bool program_has_section(const struct bpf_program *program, enum hook_kind kind);

/* Returns the section of programs for this kind of hook, for messages. */
const char *program_section(enum hook_kind kind);

/* Can the program be attached to a hook of this kind? */
bool program_fits_hook(const struct bpf_program *program, enum hook_kind kind);

/* Does its section name the hook, as in SEC("KIND/HOOK")? */
bool program_names_hook(const struct bpf_program *program);

/* Returns the kind of hook in a file that its section names; HOOK_KINDS: none. */
enum hook_kind program_file_hook(const struct bpf_program *program);

/* Is the program left out by attach_sections(), because its hook is in a file or has to be named by
 * the configuration? */
bool program_is_attached_by_engine(const struct bpf_program *program);

/* Do programs on this kind of hook run when a function returns? */
bool program_hook_is_return(enum hook_kind kind);

#endif
