/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FUNCTION_LINK_H
#define EBPF_FUNCTION_LINK_H

#include "attachment_item.h"
#include "config/point.h"
#include "object/object.h"
#include "util/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FUNCTION_COPIES_MAX 16 /* programs SEC("fentry"), and as many SEC("fexit") */

/* A function to which the programs of an object are attached that are for any function. */
struct function_target {
	const struct point *point; /* POINT_UPROBE, POINT_USDT, POINT_KPROBE or POINT_FENTRY */
	const char *name;          /* for messages */
	uint32_t cookie;           /* what the programs get by bpf_get_attach_cookie() */
	bool at_entry, at_return;
	bool replaces; /* see struct attachment */
	unsigned part; /* of the object's attachments, see attachment.h; 0: of none */
	/* Asked before each place in a file: the cookie of that place. */
	uint64_t (*location_cookie)(void *with, const struct function_target *traced,
				    const struct symbol_place *location);
	void *with;
};

/* Of an opened object, before load. Its programs are found by section, those of no target are not
 * loaded: SEC("uprobe") and SEC("uretprobe") for functions and markers of files,
 * SEC("kprobe") and SEC("kretprobe") for the kernel's one by one, SEC("kprobe.multi") and
 * SEC("kretprobe.multi") for many of them, SEC("fentry") and SEC("fexit") for one each, which go
 * in pairs, by their order. attach_points() then attaches them. Tells each target that cannot be.
 * The targets stay the caller's and where they are. 0 or -ENOMEM. */
int function_links_prepare(struct object *object, const char *probe,
			   const struct function_target *traced, size_t count, struct error *error);

#endif
