/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SECTION_H
#define EBPF_SECTION_H

#include "object/object.h"
#include "util/message.h"

#include <stdbool.h>

/* Attaches the loaded programs as their sections say, except those whose hooks are in files or
 * named by the configuration, see attach_hooks(), and those that libbpf is told not to attach
 * (bpf_program__set_autoattach()). The links are the object's. Returns 0 or a negative errno; the
 * error names the section. object_done() undoes what was done. */
int attach_sections(struct object *object, struct error *error);

/* Attaches these programs again after attach_undo(). `iterators`: include those that readings and
 * samplers run, which attach_undo() does not detach. */
int section_attach_programs(struct object *object, bool iterators, struct error *error);

#endif
