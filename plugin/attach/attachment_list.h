/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ATTACHMENT_LIST_H
#define EBPF_ATTACHMENT_LIST_H

#include "attachment.h"
#include "object/object.h"
#include "util/message.h"

#include <stdbool.h>
#include <sys/types.h>

struct attachments;

/* Adds a copy to the object's attachments, for attachments_attach(). `what` is copied; the hook and
 * `with` must outlive the object. -ENOMEM. -EOPNOTSUPP: it is on a marker and the object reads the
 * arguments by usdt.bpf.h. After an error own_hook stays the caller's. */
int attachments_add(struct object *object, const struct attachment *attachment,
		    struct error *error);

/* Has the object attachments? */
bool attachments_any(const struct object *object);

/* Sets the error for an object of which nothing is attached, after each reason has been logged.
 * Returns -ENOENT. */
int attachments_none(struct error *error);

/* Attaches all. One that fails is logged once and does not affect the others, unless is_needed is
 * set. Returns the number of links, plus one if a file or process is awaited, or a negative
 * errno. */
ssize_t attachments_attach(struct object *object, const char *probe,
			   const struct file_finder *finder, struct error *error);

/* Every 10 s at most: checks whether the hooks' paths lead to other files now, and attaches to these;
 * tries again in between what was deferred. A file that was replaced stays attached until it is
 * replaced again; a file of a service as long as one of its processes has it. */
void attachments_check(struct object *object, const char *probe, const struct file_finder *finder);

/* Attaches to perf events again if `online`, see periodic_list_online(), has changed since the last
 * time: their events are those of the CPUs that were online then. Those that fail are logged.
 * -ENOMEM. */
int attachments_follow_cpus(struct object *object, const char *probe, const char *online,
			    struct error *error);

/* Detaches the attachments of a part, until attachments_resume(). */
void attachments_pause(struct object *object, unsigned part);

/* Attaches the attachments of a paused part; those that fail are logged. Returns 0 or an error of
 * attachments_attach(), after which the part is still paused. */
int attachments_resume(struct object *object, unsigned part, const char *probe,
		       const struct file_finder *finder, struct error *error);

/* Calls `each` for every attachment of a part. */
void attachments_each(const struct object *object, unsigned part,
		      void (*each)(void *with, const struct attachment *attachment), void *with);

/* Returns the ratio (0 to 1) of the program's attachments whose instruction the kernel
 * single-steps. */
double attachments_single_step_ratio(const struct object *object,
				     const struct bpf_program *program);

/* Detaches all; they can be attached again. */
void attachments_undo(struct object *object);

#endif
