/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ATTACH_H
#define EBPF_ATTACH_H

#include "attach_line.h"
#include "attachment_list.h"
#include "config/config.h"
#include "object/object.h"
#include "program_kind.h"
#include "section.h"
#include "util/message.h"

/* Before load: if the kernel has uprobe.multi, programs for functions of files are loaded for
 * it. */
void attach_prepare(const struct object *object, const struct probe_config *block);

/* Attaches the loaded programs to the hooks that their sections and the Attach lines name. A line
 * that cannot be used is logged and ignored; -ENOENT if nothing of the object is attached then. A
 * hook that a section names and that is unavailable is an error, as in attach_sections(). The block
 * outlives the object. */
int attach_hooks(struct object *object, const char *probe, const struct probe_config *block,
		 const struct file_finder *finder, struct error *error);

/* Attaches programs that each CPU runs, those on perf events, again if `online` has changed since
 * the last time, see periodic_list_online(). Errors of periodic_attach(). */
int attach_follow_cpus(struct object *object, const char *probe, const char *online,
		       struct error *error);

/* Detaches all programs except iterators; maps and programs stay loaded. */
void attach_undo(struct object *object);

/* Attaches again what attach_undo() has detached. After an error nothing is attached. */
int attach_again(struct object *object, const char *probe, const struct file_finder *finder,
		 struct error *error);

#endif
