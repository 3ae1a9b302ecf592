/* SPDX-License-Identifier: MIT */
#ifndef EBPF_OBJECT_H
#define EBPF_OBJECT_H

#include "config/config.h"
#include "system/file.h"
#include "system/message.h"

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OBJECT_OPTIONS_MAX 32 /* more are not told */

/* A BPF object file, from opening to detaching. */
struct object {
	struct bpf_object *bpf;
	struct bpf_link **links;
	size_t link_count;
	struct bpf_link **walks; /* of programs SEC("iter/..."): run at each reading */
	size_t walk_count;
	struct section {
		struct bpf_map *map; /* .data or .bss of the loaded object */
		void *start;         /* mapped, so that both sides see the other's writes */
		size_t size;
	} * sections;
	size_t section_count;
	unsigned tier; /* the hook set in use, 1 if the object has none; 0: not attached */
};

/* Opens the file at path, read by `files`. Errors name step, reason and remedy; whose object it is
 * says the caller. */
int object_open(struct object *object, const char *path, struct file_reader *files,
		struct error *error);

/* Opens the bytes of such a file, which are not needed afterwards. The path is for messages, and
 * its last part gives libbpf the object's name. */
int object_open_memory(struct object *object, const void *bytes, size_t size, const char *path,
		       struct error *error);

/* Writes a variable of at most 8 bytes of the object (`const volatile` only
 * before load), if there is one of that name. */
void object_set(struct object *object, const char *name, uint64_t value);

/* Where a variable of the loaded object lies, or NULL; size in bytes. */
void *object_variable(const struct object *object, const char *name, size_t size);

/* Which tiers the object has, as bits; bit 0 alone for one without tiers. */
uint32_t object_tiers(const struct object *object);

/* The option, a string of the object, without which this tier has no program; NULL: none,
 * or it is in the list (which may be NULL). */
const char *object_tier_option(const struct object *object, unsigned tier,
			       const struct strings *options);

/* The names of the object's options, which are its own; returns how many. */
size_t object_options(const struct object *object, const char *ret_options[OBJECT_OPTIONS_MAX]);

/* Programs of another tier, or of an option that is not in the list, will not
 * be loaded, maps of such get one entry; variables option_NAME of those
 * that are in it are set. */
int object_select(struct object *object, unsigned tier, const struct strings *options,
		  struct error *error);

/* The text of such a tag on the variable of a map, behind the prefix, or NULL. */
const char *object_map_tag(const struct object *object, const struct bpf_map *map,
			   const char *prefix);

/* Is a map of no option, or of one in the list? */
bool object_variant_has(const struct object *object, const struct bpf_map *map,
			const struct strings *options);

int object_load(struct object *object, struct error *error);
int object_attach(struct object *object, struct error *error);

/* Runs the iterators; to each record that they write, `take` is called with
 * its bytes. size is that of a record, take may be NULL. */
int object_walk(const struct object *object, size_t size,
		void (*take)(void *to, const void *record), void *to, struct error *error);

/* Bytes of kernel memory of the object's maps, without those that it has from
 * `owner` (which may be NULL). */
uint64_t object_memory(const struct object *object, const struct object *owner);

/* Detaches and closes. */
void object_done(struct object *object);

#endif
