/* SPDX-License-Identifier: MIT */
/*
 * Files that are no BPF objects, or damaged ones: one clear error each, and no crash. Nothing is
 * loaded.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/helper.h"
#include "tests/unit/fake/string_list.h"

#include "plugin/daemon/dispatch.h"
#include "plugin/object/hook_set_parts.h"
#include "plugin/object/object.h"
#include "plugin/table/table.h"

#include <bpf/btf.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/test_object.XXXXXX";
static unsigned libbpf_lines;

struct bytes {
	unsigned char *data;
	size_t size;
};

static struct bytes read_object(const char *name)
{
	const char *path = testing_built(name);
	struct bytes bytes = { NULL, 0 };
	FILE *file, *memory;
	int c;

	file = fopen(path, "rb");
	memory = open_memstream((char **)&bytes.data, &bytes.size);
	if (!file || !memory) {
		perror(path);
		exit(1);
	}
	while ((c = getc(file)) != EOF)
		putc(c, memory);
	fclose(file);
	fclose(memory);
	return bytes;
}

/* Writes a file into the directory; the path is valid until the next call. */
static const char *write_file(const char *name, const void *data, size_t size)
{
	static char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "wb");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file)) {
		perror(path);
		exit(1);
	}
	return path;
}

static void remove_directory(void)
{
	static const char *const names[] = { "empty", "text",   "head",   "machine",
					     "cut",   "sample", "service" };

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		char path[256];

		snprintf(path, sizeof(path), "%s/%s.bpf.o", directory, names[i]);
		unlink(path);
	}
	rmdir(directory);
}

static int count_lines(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	libbpf_lines++;
	return 0;
}

static struct file_helper files;

/* Opening fails with this status and one line that has the name, the path and the reason. */
static void check_refused(const char *path, int status, const char *want)
{
	struct error error = { "" };
	struct object object;

	libbpf_lines = 0;
	CHECK_INT(object_open(&object, path, &files, &error), status);
	CHECK_INT(strncmp(error.text, "cannot ", 7) == 0 || strstr(error.text, "has no BTF"), 1);
	CHECK_HAS(error.text, path);
	CHECK_HAS(error.text, want);
	CHECK_INT(strchr(error.text, '\n') == NULL, 1);
	CHECK_INT(object.bpf == NULL, 1);
	CHECK_UINT(libbpf_lines, 0);
	object_done(&object);
}

static void test_no_objects(const struct bytes *sample)
{
	static const char text[] = "int main(void)\n{\n\treturn 0;\n}\n";
	char missing[256];

	CASE("missing");
	snprintf(missing, sizeof(missing), "%s/none.bpf.o", directory);
	check_refused(missing, -ENOENT, "No such file or directory; set ObjectDirectory or Object");
	CASE("a directory");
	check_refused(directory, -EISDIR, "Is a directory");
	CASE("a path through a file");
	check_refused("/dev/null/x.bpf.o", -ENOTDIR, "Not a directory; set");
	CASE("a device");
	check_refused("/dev/zero", -EINVAL, "it is not a regular file; set");
	CASE("a FIFO");
	snprintf(missing, sizeof(missing), "%s/fifo.bpf.o", directory);
	CHECK_INT(mkfifo(missing, 0600), 0);
	check_refused(missing, -EINVAL, "it is not a regular file; set");
	unlink(missing);
	CASE("empty");
	check_refused(write_file("empty.bpf.o", "", 0), -ENODATA, "it is empty; compile");
	CASE("text");
	check_refused(write_file("text.bpf.o", text, strlen(text)), -LIBBPF_ERRNO__FORMAT,
		      "compile it by");
	CASE("this program");
	check_refused("/proc/self/exe", -LIBBPF_ERRNO__FORMAT, "compile it by");
	CASE("the first 64 bytes");
	check_refused(write_file("head.bpf.o", sample->data, sizeof(Elf64_Ehdr)),
		      -LIBBPF_ERRNO__FORMAT, "compile it by");
}

/* Compiled without -g, or stripped of all sections. */
static void test_no_btf(const struct bytes *sample)
{
	unsigned char *name = memmem(sample->data, sample->size, ".BTF\0", 5);
	unsigned char *more = memmem(sample->data, sample->size, ".BTF.ext", 8);

	CASE("no BTF");
	CHECK_INT(name && more, 1);
	if (!name || !more)
		return;
	name[1] = more[1] = 'X';
	check_refused(write_file("machine.bpf.o", sample->data, sample->size), -ENOENT, "clang -g");
	name[1] = more[1] = 'B';
}

/* A header with some bytes changed. */
static void test_other_machine(const struct bytes *sample)
{
	static const struct {
		const char *name;
		size_t at;
		unsigned char value;
		int status;
	} cases[] = {
		{ "magic", EI_MAG1, 'X', -LIBBPF_ERRNO__FORMAT },
		{ "32 bits", EI_CLASS, ELFCLASS32, -LIBBPF_ERRNO__FORMAT },
		{ "other byte order", EI_DATA, ELFDATA2MSB, -LIBBPF_ERRNO__FORMAT },
		{ "x86", offsetof(Elf64_Ehdr, e_machine), EM_X86_64, -LIBBPF_ERRNO__FORMAT },
		{ "a program", offsetof(Elf64_Ehdr, e_type), ET_EXEC, -LIBBPF_ERRNO__FORMAT },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		unsigned char before = sample->data[cases[i].at];

		CASE("another machine: %s", cases[i].name);
		sample->data[cases[i].at] = cases[i].value;
		check_refused(write_file("machine.bpf.o", sample->data, sample->size),
			      cases[i].status, "cannot open");
		sample->data[cases[i].at] = before;
	}
}

/* A truncated object that opens must be as usable as a whole one; no length may crash. */
static void test_truncated(const struct bytes *sample)
{
	for (size_t size = 0; size < sample->size; size += size < 256 ? 7 : 251) {
		const char *path = write_file("cut.bpf.o", sample->data, size);
		struct error error = { "" };
		struct object object;

		CASE("cut after %zu bytes", size);
		if (object_open(&object, path, &files, &error) != 0)
			CHECK_HAS(error.text, path);
		object_done(&object);
	}
}

/* Reads from BTF all that the engine reads before it loads an object. */
static void use(struct object *object)
{
	const struct strings options = STRINGS("optional");
	struct error error = { "" };
	const char *has[OBJECT_OPTIONS_MAX];
	struct bpf_map *map;
	char text[64];

	hook_sets_declared(object);
	hook_set_missing_options(object, 1, NULL, text, sizeof(text));
	object_options(object, has);
	hook_set_select(object, 1, &options, &error);
	object_set(object, "service_rows", 5);
	object_set(object, "page_size", 5);
	object_variable(object, "refused", 8);
	bpf_object__for_each_map(map, object->bpf)
	{
		struct table table;

		table_open(&table, map, bpf_object__btf(object->bpf), NULL, dispatch_type, NULL,
			   &error);
		table_done(&table);
	}
}

enum field { NAME, TYPE, MEMBER, VAR_OFFSET, VAR_SIZE, VAR_TYPE };

/* The location of a field of a type. */
static uint32_t *field_of(const struct btf_type *type, enum field field)
{
	switch (field) {
	case NAME:
		return (uint32_t *)&type->name_off;
	case TYPE:
		return (uint32_t *)&type->type;
	case MEMBER:
		return (uint32_t *)&btf_decl_tag(type)->component_idx;
	case VAR_OFFSET:
		return &btf_var_secinfos(type)->offset;
	case VAR_SIZE:
		return &btf_var_secinfos(type)->size;
	default:
		return &btf_var_secinfos(type)->type;
	}
}

/* Types of one kind with a field that refers to nothing. The object is opened before the change,
 * as libbpf itself checks some fields. */
static void test_broken_btf(const char *path)
{
	static const struct {
		const char *name;
		int kind;
		enum field field;
		uint32_t value;
	} cases[] = {
		{ "names of tags", BTF_KIND_DECL_TAG, NAME, 0x7ffffff0 },
		{ "types of tags", BTF_KIND_DECL_TAG, TYPE, 0x7ffffff0 },
		{ "types of tags, void", BTF_KIND_DECL_TAG, TYPE, 0 },
		{ "members of tags", BTF_KIND_DECL_TAG, MEMBER, 0x7ffffff0 },
		{ "members of tags, negative", BTF_KIND_DECL_TAG, MEMBER, 0x80000000 },
		{ "names of functions", BTF_KIND_FUNC, NAME, 0x7ffffff0 },
		{ "names of variables", BTF_KIND_VAR, NAME, 0x7ffffff0 },
		{ "names of sections", BTF_KIND_DATASEC, NAME, 0x7ffffff0 },
		{ "names of structs", BTF_KIND_STRUCT, NAME, 0x7ffffff0 },
		{ "names of integers", BTF_KIND_INT, NAME, 0x7ffffff0 },
		{ "types of typedefs", BTF_KIND_TYPEDEF, TYPE, 0x7ffffff0 },
		{ "types of variables of sections", BTF_KIND_DATASEC, VAR_TYPE, 0x7ffffff0 },
		{ "offsets of variables", BTF_KIND_DATASEC, VAR_OFFSET, 0xfffffffc },
		{ "offsets of variables, not aligned", BTF_KIND_DATASEC, VAR_OFFSET, 3 },
		{ "sizes of variables", BTF_KIND_DATASEC, VAR_SIZE, 0xfffffff8 },
		{ "integers of many bytes", BTF_KIND_INT, TYPE, 0x7ffffff0 },
		{ "structs of many bytes", BTF_KIND_STRUCT, TYPE, 0xfffffff8 },
		{ "structs of none", BTF_KIND_STRUCT, TYPE, 0 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct error error = { "" };
		struct object object;
		struct btf *btf;

		CASE("broken: %s", cases[i].name);
		CHECK_INT(object_open(&object, path, &files, &error), 0);
		btf = bpf_object__btf(object.bpf);
		for (uint32_t id = 1; id < btf__type_cnt(btf); id++) {
			const struct btf_type *type = btf__type_by_id(btf, id);

			if (btf_kind(type) == cases[i].kind)
				*field_of(type, cases[i].field) = cases[i].value;
		}
		use(&object);
		object_done(&object);
	}
}

/* libbpf's print function is restored. */
static void test_print_restored(const char *path)
{
	struct error error = { "" };
	struct object object;

	CASE("print function");
	object_open(&object, path, &files, &error);
	object_done(&object);
	CHECK_INT(libbpf_set_print(count_lines) == count_lines, 1);
}

/* Bytes in place of a file: at any alignment, and needed only during the call. */
static void test_bytes(const struct bytes *sample)
{
	char *copy = malloc(sample->size + 1);
	struct error error = { "" };
	struct object object;

	CASE("bytes");
	memcpy(copy + 1, sample->data, sample->size);
	CHECK_INT(object_open_memory(&object, copy + 1, sample->size, "a.b/some.bpf.o", &error), 0);
	free(copy);
	CHECK_TEXT(bpf_object__name(object.bpf), "some");
	CHECK_INT(bpf_object__find_map_by_name(object.bpf, "sample_services") != NULL, 1);
	object_done(&object);
	CASE("bytes that are no object");
	CHECK_INT(object_open_memory(&object, "text", 4, "a/b.bpf.o", &error),
		  -LIBBPF_ERRNO__FORMAT);
	CHECK_HAS(error.text, "cannot open a/b.bpf.o as a BPF object");
	CHECK_INT(object.bpf == NULL, 1);
}

/* A constant is not written once the kernel has it. */
static void test_constant(const char *path)
{
	struct error error = { "" };
	struct object object;
	uint64_t *page_size;

	CASE("a constant");
	CHECK_INT(object_open(&object, path, &files, &error), 0);
	page_size = object_variable(&object, "page_size", sizeof(*page_size));
	CHECK_INT(page_size != NULL, 1);
	object_set(&object, "page_size", 5);
	CHECK_UINT(page_size ? *page_size : 0, 5);
	CASE("a constant, loaded");
	object.loaded = true;
	object_set(&object, "page_size", 6);
	CHECK_UINT(page_size ? *page_size : 0, 5);
	CHECK_INT(object_variable(&object, "page_size", sizeof(*page_size)) == NULL, 1);
	object_done(&object);
}

/* A file that times out does so once, and delays no other file. */
static void test_no_reply(const char *path)
{
	struct object object;
	struct error error;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		abort();
	file_helper_done(&files);
	set_helper_socket(&files, ends[0]);
	CASE("a helper that times out");
	CHECK_INT(object_open(&object, "/no/answer.bpf.o", &files, &error), -ETIMEDOUT);
	CHECK_INT(object_open(&object, "/no/answer.bpf.o", &files, &error), -ETIMEDOUT);
	CASE("another, while that one is waited for");
	CHECK_INT(object_open(&object, path, &files, &error), 0);
	object_done(&object);
	close(ends[1]);
}

int main(void)
{
	struct bytes sample = read_object("tests/bpf/sample.bpf.o");
	const char *path;

	if (!mkdtemp(directory)) {
		perror(directory);
		return 1;
	}
	file_helper_init(&files);
	libbpf_set_print(count_lines);
	test_no_objects(&sample);
	test_no_btf(&sample);
	test_other_machine(&sample);
	test_truncated(&sample);
	path = write_file("sample.bpf.o", sample.data, sample.size);
	test_bytes(&sample);
	test_print_restored(path);
	test_constant(path);
	test_no_reply(path);
	test_broken_btf(path);
	free(sample.data);
	remove_directory();
	file_helper_done(&files);
	return testing_end();
}
