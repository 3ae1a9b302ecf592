/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ATTACHMENT_MESSAGE_H
#define EBPF_ATTACHMENT_MESSAGE_H

#include "attachment.h"

/* Records the state of an attachment and the reason, for attachments_log(); ignored if the same
 * reason was logged last. */
void attachment_note(struct attachment *attachment, enum attachment_state state, const char *why);

/* Records that a deferred attachment is attached now, if it was logged that it is deferred. */
void attachment_note_attached(struct attachment *attachment);

/* Logs what is wrong with the symbols of the attachment's file, unless that was logged last. */
void attachment_log_file(struct attachment *attachment, const char *probe, const char *why);

/* Logs what was recorded, and where the kernel single-steps an instruction or replaces a return
 * address. One message covers all attachments for which it is the same. */
void attachments_log(struct attachment *const *items, size_t count, const char *probe);

#endif
