/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ATTACH_H
#define EBPF_ATTACH_H

#include "attach_line.h"
#include "attachment.h"
#include "config/config.h"
#include "object/object.h"
#include "program_kind.h"
#include "section.h"
#include "util/message.h"

/* Before load: programs for functions of files are loaded for many of them at once, where the kernel
 * has that. */
void attach_prepare(const struct object *object, const struct probe_config *block);

/* Attaches the loaded programs to them. A line that does not work is logged and ignored;
 * -ENOENT: then nothing of the object is attached. A section that names what is unavailable is
 * an error, as with other sections. The block stays where it is. */
int attach_points(struct object *object, const char *probe, const struct probe_config *block,
		  const struct file_finder *finder, struct error *error);

/* Detaches all programs but iterators; maps and programs stay in the kernel. */
void attach_undo(struct object *object);

/* Attaches these programs as attach_sections() and attach_points() did; of an error of either,
 * none. */
int attach_again(struct object *object, const char *probe, const struct file_finder *finder,
		 struct error *error);

#endif
