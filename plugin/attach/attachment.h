/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ATTACHMENT_LIST_H
#define EBPF_ATTACHMENT_LIST_H

#include "attachment_item.h"
#include "object/object.h"
#include "util/message.h"

#include <stdbool.h>
#include <sys/types.h>

struct attachments;

/* Adds one to those of the object, for attachments_attach(); `what` is copied, the point and `with`
 * stay where they are. -ENOMEM, or -EOPNOTSUPP: it is a marker, whose arguments the object wants by
 * usdt.bpf.h; then own_point stays the caller's. */
int attachments_add(struct object *object, const struct attachment *attachment,
		    struct error *error);

/* Are there any? */
bool attachments_any(const struct object *object);

/* None of them is attached, which was told of each. -ENOENT. */
int attachments_none(struct error *error);

/* Attaches all. One that cannot be is told once and costs itself alone, unless it is needed. Returns
 * how many links there are, one more where a file or process is waited for, or a negative errno. */
ssize_t attachments_attach(struct object *object, const char *probe,
			   const struct file_finder *finder, struct error *error);

/* Looks, at most every 10 s, whether other files are now where the points of files say, and
 * attaches to these. A file that is replaced stays attached until the next one, and one of a service
 * as long as one of its processes has it. */
void attachments_check(struct object *object, const char *probe, const struct file_finder *finder);

/* Detaches those of a part, until attachments_resume(). */
void attachments_pause(struct object *object, unsigned part);

/* Attaches those of a part that is paused; what cannot be is told. An error of
 * attachments_attach(): then it is paused still. */
int attachments_resume(struct object *object, unsigned part, const char *probe,
		       const struct file_finder *finder, struct error *error);

/* Calls `each` with those of a part. */
void attachments_each(const struct object *object, unsigned part,
		      void (*each)(void *with, const struct attachment *attachment), void *with);

/* Which share of those of a program, in files, is stepped. */
double attachments_stepped(const struct object *object, const struct bpf_program *program);

/* Detaches all, which stay known. */
void attachments_undo(struct object *object);

#endif
