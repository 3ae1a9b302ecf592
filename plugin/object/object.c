/* SPDX-License-Identifier: MIT */
/*
 * A BPF object file and libbpf.
 */
#include "object.h"

#include "annotation.h"
#include "diagnosis.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define KERNEL_TYPES "/sys/kernel/btf/vmlinux"
#define OBJECT_SIZE_MAX (64U << 20)
#define OBJECT_WAIT_MS 5000
#define WALK_PAUSES_MAX 64 /* the kernel pauses after each million objects */

/* Has libbpf opened an object with BTF? bpf is NULL if not, and errno says why. */
static int check_opened(struct object *object, const char *path, struct error *error)
{
	/* The bytes are in memory, so -ENOENT is about their BTF. */
	int status = object->bpf ? 0 : -errno;

	if (status == -ENOENT || (object->bpf && !bpf_object__btf(object->bpf)))
		status = error_set(error, -ENOENT, "%s has no BTF; compile it with clang -g", path);
	else if (status)
		status = diagnosis_error(FAILED_OPEN, path, status, error);
	return status;
}

/* libbpf searches all modules for a type that the kernel does not have, and gives up where that
 * needs CAP_SYS_ADMIN; unless it is given the path of the kernel's types. */
static const char *types_path(void)
{
	uint32_t id = 0;
	bool forbidden = bpf_btf_get_next_id(id, &id) < 0 && errno == EPERM;

	return forbidden && access(KERNEL_TYPES, R_OK) == 0 ? KERNEL_TYPES : NULL;
}

/* The name that libbpf gives to the object of a file. */
static void name_as_file(char *name, size_t size, const char *path)
{
	const char *slash = strrchr(path, '/');

	snprintf(name, size, "%s", slash ? slash + 1 : path);
	name[strcspn(name, ".")] = '\0';
}

int object_open_memory(struct object *object, const void *bytes, size_t size, const char *path,
		       struct error *error)
{
	char file[64];
	struct bpf_object_open_opts options;
	int status;

	/* libbpf requires zero padding, which an initialiser of clang does not guarantee. */
	memset(&options, 0, sizeof(options));
	options.sz = sizeof(options);
	options.object_name = file;
	options.btf_custom_path = types_path();
	*object = (struct object){ 0 };
	name_as_file(file, sizeof(file), path);
	diagnosis_begin();
	object->bpf = bpf_object__open_mem(bytes, size, &options);
	status = check_opened(object, path, error);
	diagnosis_end();
	if (status)
		object_done(object);
	return status;
}

int object_open(struct object *object, const char *path, struct file_helper *files,
		struct error *error)
{
	struct file_request request = {
		.path = path,
		.size_max = OBJECT_SIZE_MAX,
		.follow = true,
		.wait_ms = OBJECT_WAIT_MS,
		.budget = FILE_OF_ROOT,
	};
	struct file file;
	int status = file_read(files, &request, &file);

	*object = (struct object){ 0 };
	if (status)
		return error_set(error, status,
				 "cannot read %s: %s; set ObjectDirectory or "
				 "Object to where the BPF objects are installed",
				 path, file_strerror(status));
	if (file.size)
		status = object_open_memory(object, file.bytes, file.size, path, error);
	else
		status = error_set(error, -ENODATA, "cannot open %s: it is empty; compile it again",
				   path);
	free(file.bytes);
	return status;
}

/* Before load the initial values; after load the mapping, NULL if that is read-only. */
static char *section_start(const struct object *object, struct bpf_map *map, size_t *ret_size)
{
	for (size_t i = 0; i < object->section_count; i++)
		if (object->sections[i].map == map) {
			*ret_size = object->sections[i].mapping.size;
			return object->sections[i].mapping.start;
		}
	return object->loaded ? NULL : (char *)bpf_map__initial_value(map, ret_size);
}

/* Alignment of an integer of this size, or of a struct of integers. */
static uint32_t aligned(uint32_t size)
{
	return size >= 8 ? 8 : size ? size : 1;
}

/* The map of the section: its name has the section's as suffix. */
static void *variable_in(const struct object *object, const char *section,
			 const struct btf_var_secinfo *info)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object->bpf)
	{
		const char *dot = strchr(bpf_map__name(map), '.');
		size_t size = 0;
		char *start;

		if (!bpf_map__is_internal(map) || !dot || strcmp(dot, section) != 0)
			continue;
		start = section_start(object, map, &size);
		if (start && (uint64_t)info->offset + info->size <= size &&
		    info->offset % aligned(info->size) == 0)
			return start + info->offset;
	}
	return NULL;
}

static void *find_variable(const struct object *object, const char *name, size_t *ret_size)
{
	const struct btf *btf = bpf_object__btf(object->bpf);
	uint32_t count = btf__type_cnt(btf);

	for (uint32_t id = 1; id < count; id++) {
		const struct btf_type *section = btf__type_by_id(btf, id);
		const struct btf_var_secinfo *info;

		if (!btf_is_datasec(section))
			continue;
		info = btf_var_secinfos(section);
		for (int i = 0; i < btf_vlen(section); i++, info++) {
			const struct btf_type *var = btf__type_by_id(btf, info->type);

			if (!var || !btf_is_var(var) ||
			    strcmp(annotation_name(btf, var->name_off), name))
				continue;
			*ret_size = info->size;
			return variable_in(object, annotation_name(btf, section->name_off), info);
		}
	}
	return NULL;
}

struct bpf_map *object_map(const struct object *object, const char *name)
{
	return bpf_object__find_map_by_name(object->bpf, name);
}

void object_set(struct object *object, const char *name, uint64_t value)
{
	size_t size = 0;
	void *at = find_variable(object, name, &size);

	/* libbpf refuses objects of the other byte order. */
	if (at && size == sizeof(uint64_t))
		*(uint64_t *)at = value;
	else if (at && size == sizeof(uint32_t))
		*(uint32_t *)at = (uint32_t)value;
	else if (at && size == sizeof(uint8_t))
		*(uint8_t *)at = (uint8_t)value;
}

void *object_variable(const struct object *object, const char *name, size_t size)
{
	size_t found = 0;
	void *at = find_variable(object, name, &found);

	return found == size ? at : NULL;
}

/* Maps the variables: libbpf 1.1 keeps a copy that the kernel does not see after load. */
static int map_sections(struct object *object, struct error *error)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object->bpf)
	{
		struct variable_section *grown, section = { .map = map };
		int status;

		if (!bpf_map__is_internal(map))
			continue;
		mapping_keep_from_children(map);
		if (!(bpf_map__map_flags(map) & BPF_F_MMAPABLE) ||
		    bpf_map__map_flags(map) & BPF_F_RDONLY_PROG)
			continue;
		status = mapping_open(&section.mapping, map, PROT_READ | PROT_WRITE);
		if (status)
			return error_set(error, status, "cannot map %s: %s", bpf_map__name(map),
					 strerror(-status));
		grown = reallocarray(object->sections, object->section_count + 1, sizeof(*grown));
		if (!grown) {
			mapping_done(&section.mapping);
			return error_set(error, -ENOMEM, "no memory");
		}
		object->sections = grown;
		object->sections[object->section_count++] = section;
	}
	return 0;
}

int object_load(struct object *object, struct error *error)
{
	int status;

	diagnosis_begin();
	status = bpf_object__load(object->bpf);
	if (status)
		status = diagnosis_error(FAILED_LOAD, "", status, error);
	diagnosis_end();
	object->loaded = status == 0;
	return status ?: map_sections(object, error);
}

int object_add_link(struct object *object, struct bpf_link *link, struct error *error)
{
	struct bpf_link **grown =
		reallocarray(object->links, object->link_count + 1, sizeof(*grown));

	if (!grown) {
		bpf_link__destroy(link);
		return error_set(error, -ENOMEM, "no memory");
	}
	object->links = grown;
	object->links[object->link_count++] = link;
	return 0;
}

static int walk_once(int link, size_t size, void (*each)(void *to, const void *record), void *to)
{
	char buffer[16 * 1024]; /* stacks of threads may be small */
	unsigned pauses = 0;
	struct timespec own;
	size_t pending = 0;
	ssize_t got = 0;
	int fd = bpf_iter_create(link);

	if (fd < 0)
		return -errno;
	/* Updates the clock of this CPU's run queue, which iterators use. */
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
	for (;;) {
		got = read(fd, buffer + pending, sizeof(buffer) - pending);
		if (got < 0 && errno == EINTR)
			continue;
		/* A program that asks to be shown the same object again returns this, too. */
		if (got < 0 && errno == EAGAIN && pauses++ < WALK_PAUSES_MAX)
			continue;
		if (got <= 0)
			break;
		pending += (size_t)got;
		if (!each || size == 0) {
			pending = 0;
			continue;
		}
		for (size_t at = 0; at + size <= pending; at += size)
			each(to, buffer + at);
		memmove(buffer, buffer + pending - pending % size, pending % size);
		pending %= size;
	}
	if (got < 0)
		got = -errno;
	close(fd);
	return (int)got;
}

/* Runs a SEC("syscall") program, which iterates over its maps by itself. */
static int call_once(const struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);

	return bpf_prog_test_run_opts(bpf_program__fd(program), &options);
}

static int call_error(int status, const struct bpf_program *program, struct error *error)
{
	return status < 0 ? error_set(error, status, "cannot run its program %s: %s",
				      bpf_program__name(program), strerror(-status))
			  : 0;
}

static int walk_error(int status, struct error *error)
{
	if (status >= 0)
		return 0;
	return error_set(error, status, "cannot run its iterator: %s",
			 status == -EAGAIN ? "it does not finish" : strerror(-status));
}

static bool is_walk_due(const struct reading_walk *walk)
{
	return !walk->when || __atomic_load_n(walk->when, __ATOMIC_ACQUIRE);
}

int object_walk(const struct object *object, size_t size,
		void (*each)(void *to, const void *record), void *to, struct error *error)
{
	int status = 0;

	for (size_t i = 0; i < 2 * object->walk_count && status == 0; i++) {
		const struct reading_walk *walk = &object->walks[i % object->walk_count];

		/* The others may set the variables. */
		if ((i >= object->walk_count) != (walk->when != NULL) || !is_walk_due(walk))
			continue;
		if (walk->link)
			status = walk_error(walk_once(bpf_link__fd(walk->link), size, each, to),
					    error);
		else
			status = call_error(call_once(walk->program), walk->program, error);
	}
	return status;
}

int object_run(const struct bpf_link *walk, struct error *error)
{
	return walk_error(walk_once(bpf_link__fd(walk), 0, NULL, NULL), error);
}

int object_sample(const struct sample *sample, struct error *error)
{
	return object_run(sample->link, error);
}

void object_done(struct object *object)
{
	if (object->attachments)
		object->attachments_done(object);
	if (object->periodics)
		object->periodics_done(object);
	for (size_t i = 0; i < object->link_count; i++)
		bpf_link__destroy(object->links[i]);
	for (size_t i = 0; i < object->walk_count; i++)
		bpf_link__destroy(object->walks[i].link);
	for (size_t i = 0; i < object->sample_count; i++)
		bpf_link__destroy(object->samples[i].link);
	free(object->links);
	free(object->walks);
	free(object->samples);
	for (size_t i = 0; i < object->section_count; i++)
		mapping_done(&object->sections[i].mapping);
	free(object->sections);
	bpf_object__close(object->bpf);
	*object = (struct object){ 0 };
}
