/* SPDX-License-Identifier: MIT */
#ifndef EBPF_LINK_H
#define EBPF_LINK_H

#include "attachment.h"
#include "object/object.h"
#include "util/message.h"

/* Takes a link, which is the object's then; -ENOMEM: it is destroyed. */
int link_add(struct object *object, struct bpf_link *link, struct error *error);

/* Attaches a loaded program of the object to a point that is of no file: to all of it or to
 * nothing. The links are the object's. Returns 0 or a negative errno, and the error says what of the
 * point it is about. */
int link_point(struct object *object, const struct attachment *attachment, struct error *error);

#endif
