/* SPDX-License-Identifier: MIT */
#ifndef EBPF_OBJECT_H
#define EBPF_OBJECT_H

#include "helper/file.h"
#include "mapping.h"
#include "util/message.h"

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct attachments;
struct periodics;

/* A BPF object file, from opening to detaching. */
struct object {
	struct bpf_object *bpf;
	struct bpf_link **links;
	size_t link_count;
	/* Set by room attach, or NULL. Whoever sets one also sets its function, which object_done()
	 * calls. */
	struct attachments *attachments;
	void (*attachments_done)(struct object *object);
	struct periodics *periodics;
	void (*periodics_done)(struct object *object);
	struct reading_walk {
		struct bpf_link
			*link; /* of SEC("iter/..."); NULL: SEC("syscall"), which has none */
		const struct bpf_program *program;
		const uint32_t *when; /* it is run only where this is not 0; NULL: always */
	} * walks;                    /* of programs that each reading runs, in this order */
	size_t walk_count;
	struct sample {
		struct bpf_link *link;
		const struct bpf_program *program;
		const uint32_t *when; /* likewise */
		unsigned hz;
	} * samples; /* of iterators with a SAMPLE tag, run at that frequency */
	size_t sample_count;
	struct variable_section {
		struct bpf_map *map; /* .data or .bss of the loaded object */
		struct mapping mapping;
	} * sections;
	size_t section_count;
	bool loaded;
	unsigned hook_set; /* the hook set in use; 1 if the object has none; 0: not attached */
};

/* Opens the object file at `path`, read by the helper `files`, which stays the caller's. The error
 * says step, reason and remedy, but not the object. Errors of file_read(); -ENODATA: the file is
 * empty; errors of object_open_memory(). */
int object_open(struct object *object, const char *path, struct file_helper *files,
		struct error *error);

/* Opens an object from the bytes of a file, which may be freed afterwards. `path` is for messages;
 * its last component gives the object its name in libbpf. -ENOENT: it has no BTF; else an error of
 * libbpf. */
int object_open_memory(struct object *object, const void *bytes, size_t size, const char *path,
		       struct error *error);

/* Returns the map of this name, or NULL. */
struct bpf_map *object_map(const struct object *object, const char *name);

/* Writes the object's variable of this name, of 1, 4 or 8 bytes, if there is one. No effect on a
 * `const volatile` one after load. */
void object_set(struct object *object, const char *name, uint64_t value);

/* Returns the address of a variable of `size` bytes; NULL: there is none, or it is `const volatile`
 * and the object is loaded. */
void *object_variable(const struct object *object, const char *name, size_t size);

/* Loads maps and programs and maps the variables into this process. Returns an error of the kernel
 * or of libbpf, or -ENOMEM; object_done() undoes what was done. Next: attach.h. */
int object_load(struct object *object, struct error *error);

/* Adds a link, which is then the object's. -ENOMEM: the link is destroyed. */
int object_add_link(struct object *object, struct bpf_link *link, struct error *error);

/* Runs the iterators and the SEC("syscall") programs; last those that are not always run. Calls `each`, which may be NULL, for every
 * record of `size` bytes that an iterator writes. */
int object_walk(const struct object *object, size_t size,
		void (*each)(void *to, const void *record), void *to, struct error *error);

/* Runs an iterator by its link and ignores what it writes. */
int object_run(const struct bpf_link *walk, struct error *error);

/* Runs an iterator with a SAMPLE tag. Threads may call it while others call object_walk(). */
int object_sample(const struct sample *sample, struct error *error);

/* Detaches and closes. */
void object_done(struct object *object);

#endif
