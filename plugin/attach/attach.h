/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ATTACH_H
#define EBPF_ATTACH_H

#include "attachment.h"
#include "config/config.h"
#include "object/object.h"
#include "util/message.h"

/* Attaches the loaded programs as their sections say, but for those of attach_points() and those
 * that libbpf is told not to attach (bpf_program__set_autoattach). The error names the section;
 * what was done is undone by object_done(). */
int attach_sections(struct object *object, struct error *error);

/* Attach points beyond those that libbpf finds by the section of a program: those of the Attach
 * lines of a Probe block, and functions of files, of which libbpf would read the file itself. */

/* Tells each Attach line of the block (NULL: there is none) that fits no program of the opened
 * object, once. */
void attach_check(const struct object *object, const char *probe, const struct probe_config *block);

/* Is the program none that attach_sections() can attach? */
bool attach_is_own(const struct bpf_program *program);

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
