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
	/* Of room attach, or NULL. Who sets one sets its function, too, which object_done() calls. */
	struct attachments *attachments;
	void (*attachments_done)(struct object *object);
	struct periodics *periodics;
	void (*periodics_done)(struct object *object);
	struct reading_walk {
		struct bpf_link
			*link; /* of SEC("iter/..."); NULL: SEC("syscall"), which has none */
		const struct bpf_program *program;
	} * walks; /* of programs that are run at each reading, in their order */
	size_t walk_count;
	struct sample {
		struct bpf_link *link;
		const struct bpf_program *program;
		unsigned hz;
	} * samples; /* of iterators with a SAMPLE tag: run as often as that says */
	size_t sample_count;
	struct variable_section {
		struct bpf_map *map; /* .data or .bss of the loaded object */
		struct mapping mapping;
	} * sections;
	size_t section_count;
	bool loaded;
	unsigned tier; /* the hook set in use, 1 if the object has none; 0: not attached */
};

/* Opens the file at path, read by `files`, which stays the caller's. The error names step, reason
 * and remedy; whose object it is says the caller. Errors of file_read(), -ENODATA: the file is
 * empty, and those of object_open_memory(). */
int object_open(struct object *object, const char *path, struct file_reader *files,
		struct error *error);

/* Opens the bytes of such a file, which are not needed afterwards. The path is for messages, and
 * its last part gives libbpf the object's name. -ENOENT: it has no BTF; else what libbpf says. */
int object_open_memory(struct object *object, const void *bytes, size_t size, const char *path,
		       struct error *error);

/* The map of this name, or NULL. */
struct bpf_map *object_map(const struct object *object, const char *name);

/* Writes a variable of at most 8 bytes of the object, if there is one of that name. After load a
 * `const volatile` one stays as it is. */
void object_set(struct object *object, const char *name, uint64_t value);

/* Where a variable of the object lies, or NULL, as for a `const volatile` one after load; size in
 * bytes. */
void *object_variable(const struct object *object, const char *name, size_t size);

/* Loads maps and programs and maps the variables into this process. Returns what the kernel or
 * libbpf says, or -ENOMEM; what was done is undone by object_done(). See attach.h for what follows. */
int object_load(struct object *object, struct error *error);

/* Adds a link, which is the object's from then on; -ENOMEM: it is destroyed. */
int object_add_link(struct object *object, struct bpf_link *link, struct error *error);

/* Runs the iterators, and the programs SEC("syscall"); to each record that the former write, `take` is
 * called with its bytes. size is that of a record, take may be NULL. */
int object_walk(const struct object *object, size_t size,
		void (*each)(void *to, const void *record), void *to, struct error *error);

/* Runs an iterator by its link; what it writes is not looked at. */
int object_run(const struct bpf_link *walk, struct error *error);

/* Runs an iterator with a SAMPLE tag. Any thread may do so while others walk. */
int object_sample(const struct sample *sample, struct error *error);

/* Detaches and closes. */
void object_done(struct object *object);

#endif
