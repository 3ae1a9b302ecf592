/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ATTACHMENT_MESSAGE_H
#define EBPF_ATTACHMENT_MESSAGE_H

#include "attachment_item.h"

/* What becomes of an attachment, for attachments_tell() to tell, and why. The last thing that was told of
 * one is not told again. */
void attachment_note(struct attachment *attachment, enum attachment_state state, const char *why);

/* What was deferred is attached; told if that was. */
void attachment_note_attached(struct attachment *attachment);

/* Tells what is wrong with the symbols of the file of one, unless that was told last. */
void attachment_log_file(struct attachment *attachment, const char *probe, const char *why);

/* Tells what was noted, and which are single-stepped or have return addresses replaced: once of all of which
 * the same is to be told. */
void attachments_tell(struct attachment *const *items, size_t count, const char *probe);

#endif
