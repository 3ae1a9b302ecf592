/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FUNCTION_PROGRAM_H
#define EBPF_FUNCTION_PROGRAM_H

#include "attachment.h"
#include "config/hook.h"
#include "object/object.h"
#include "util/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FUNCTION_COPIES_MAX 16 /* programs SEC("fentry"), and as many SEC("fexit") */

/* A function that is counted, by programs that fit any function. */
struct traced_function {
	const struct hook *hook; /* HOOK_UPROBE, HOOK_USDT, HOOK_KPROBE or HOOK_FENTRY */
	const char *name;        /* for messages */
	uint32_t cookie;         /* bpf_get_attach_cookie() of its programs */
	bool at_entry, at_return;
	bool replaces; /* see struct attachment */
	unsigned part; /* of the object's attachments, see struct attachment */
	/* NULL, or a function that returns the cookie for each location in a file. */
	uint64_t (*location_cookie)(void *with, const struct traced_function *traced,
				    const struct symbol_location *location);
	void *with;
};

/* Chooses and prepares programs for these functions and adds them to the object's attachments;
 * before load. Programs are found by section: SEC("uprobe") and SEC("uretprobe") for functions and
 * markers of files, SEC("kprobe") and SEC("kretprobe") for single functions of the kernel,
 * SEC("kprobe.multi") and SEC("kretprobe.multi") for many, SEC("fentry") and SEC("fexit"), paired
 * by their order, for one each. Programs that no function needs are not loaded. attach_hooks()
 * attaches the others. Logs each function that cannot be attached. The array stays the caller's and
 * outlives the object. Returns 0 or -ENOMEM. */
int function_programs_prepare(struct object *object, const char *probe,
			      const struct traced_function *traced, size_t count,
			      struct error *error);

#endif
