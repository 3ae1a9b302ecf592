/* SPDX-License-Identifier: MIT */
/*
 * Frames as numbers, and their names.
 *
 * A frame that the kernel tells by the build ID of its file and the offset there is the same code in every process, and
 * needs nothing of the process once a file of that build ID is known. All files of the process that the offset may be in
 * are opened, as which one has the build ID only the program says that reads them. Other frames are looked up in the
 * mappings of the process.
 *
 * Numbers of files' and of the kernel's code are kept, with their names: then nothing is asked twice of what runs all day.
 * An hour later at the latest all begins anew, since files and modules come and go.
 */
#include "code.h"

#include "code_file.h"
#include "code_process.h"
#include "helper/ksym.h"
#include "helper/symbol_name.h"
#include "util/clock.h"
#include "util/index.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODES_MAX (1U << 17)
#define BUILDS_MAX 4096
#define BYTES_MAX ((size_t)32 << 20) /* of names */
#define AGE_MAX_NS (3600 * NS_PER_S)
#define PASSES_MAX 8 /* of looking: what comes meanwhile is looked for, too */
#define TOLD_MAX 16  /* messages, until all begins anew */
#define UNKNOWN "[unknown]"
#define MADE "[made]" /* code that its process has made and not named */

enum kind {
	OF_KERNEL,
	OF_FILE,
	OF_BUILD,
	OF_PROCESS, /* made by it */
	OF_MAPPING, /* [vdso] and its like */
};

struct key {
	uint32_t kind;
	uint32_t of; /* the number of the file, build ID or process */
	uint64_t place;
};

struct code {
	struct key key;
	char *name;
	bool asked;
};

struct build {
	uint8_t id[STACK_BUILD_ID_SIZE];
	uint32_t file; /* that has it, INDEX_NONE: unknown */
};

struct codes {
	struct code_files files;
	struct ksyms *ksyms;
	struct code_processes processes;
	struct build build[BUILDS_MAX];
	uint32_t build_count;
	struct index builds;
	struct code *code;
	uint32_t count, room;
	struct index index;
	size_t bytes;      /* of names */
	uint64_t since_ns; /* when all began */
	unsigned told;
	struct error told_last;
};

struct codes *codes_new(struct file_reader *files, struct ksyms *ksyms)
{
	struct codes *codes = calloc(1, sizeof(*codes));

	if (!codes)
		return NULL;
	if (code_files_init(&codes->files, files) ||
	    code_processes_init(&codes->processes, files) ||
	    index_init(&codes->builds, BUILDS_MAX) || index_init(&codes->index, CODES_MAX)) {
		codes_free(codes);
		return NULL;
	}
	codes->since_ns = clock_ns();
	codes->ksyms = ksyms;
	ksyms_want(ksyms);
	return codes;
}

/* --- numbers --- */

static uint64_t hash_of(const struct codes *codes, const struct key *key)
{
	return index_hash(&codes->index, 0, key, sizeof(*key));
}

static bool is_code(const void *of, uint32_t number, const void *wanted)
{
	return !memcmp(&((const struct codes *)of)->code[number].key, wanted, sizeof(struct key));
}

static bool grow(struct codes *codes)
{
	uint32_t room = codes->room ? 2 * codes->room : 1024;
	struct code *grown;

	if (codes->count < codes->room)
		return true;
	if (codes->count == CODES_MAX)
		return false;
	grown = reallocarray(codes->code, room, sizeof(*grown));
	if (!grown)
		return false;
	codes->code = grown;
	codes->room = room;
	return true;
}

/* NULL: there is no room. */
static struct code *enter(struct codes *codes, const struct key *key)
{
	uint64_t hash = hash_of(codes, key);
	uint32_t number = index_find(&codes->index, hash, is_code, codes, key);

	if (number != INDEX_NONE)
		return &codes->code[number];
	if (!grow(codes))
		return NULL;
	number = codes->count++;
	codes->code[number] = (struct code){ .key = *key };
	index_add(&codes->index, hash, number);
	return &codes->code[number];
}

static uint32_t number_of(const struct codes *codes, const struct code *code)
{
	return code ? (uint32_t)(code - codes->code) + 1 : CODE_UNKNOWN;
}

uint32_t codes_of_kernel(struct codes *codes, uint64_t address)
{
	return number_of(codes, enter(codes, &(struct key){ OF_KERNEL, 0, address }));
}

/* --- build IDs --- */

static bool is_build(const void *of, uint32_t number, const void *wanted)
{
	return !memcmp(((const struct codes *)of)->build[number].id, wanted, STACK_BUILD_ID_SIZE);
}

/* INDEX_NONE: there are too many. */
static uint32_t build_of(struct codes *codes, const uint8_t id[STACK_BUILD_ID_SIZE])
{
	uint64_t hash = index_hash(&codes->builds, 0, id, STACK_BUILD_ID_SIZE);
	uint32_t number = index_find(&codes->builds, hash, is_build, codes, id);

	if (number != INDEX_NONE || codes->build_count == BUILDS_MAX)
		return number;
	number = codes->build_count++;
	memcpy(codes->build[number].id, id, STACK_BUILD_ID_SIZE);
	codes->build[number].file = INDEX_NONE;
	index_add(&codes->builds, hash, number);
	return number;
}

static bool is_any_build_open(const struct codes *codes)
{
	for (uint32_t i = 0; i < codes->build_count; i++)
		if (codes->build[i].file == INDEX_NONE)
			return true;
	return false;
}

static void note_build_id(struct codes *codes, uint32_t number, const uint8_t id[20])
{
	static const uint8_t none[STACK_BUILD_ID_SIZE];
	struct code_file *file = &codes->files.item[number];
	uint32_t build;

	file->has_build_id = true;
	memcpy(file->build_id, id, STACK_BUILD_ID_SIZE);
	if (!memcmp(id, none, STACK_BUILD_ID_SIZE))
		return;
	build = build_of(codes, id);
	if (build != INDEX_NONE)
		codes->build[build].file = number;
}

/* --- frames of users --- */

static bool has_offset(const struct code_mapping *mapping, uint64_t offset)
{
	return offset >= mapping->offset &&
	       offset - mapping->offset < mapping->end - mapping->begin;
}

/* Opens all files that may have this build ID, as far as the process still lives. */
static void open_candidates(struct codes *codes, const struct stack_head *head, uint64_t offset)
{
	uint32_t number = code_process_of(&codes->processes, head);
	struct code_process *process = &codes->processes.item[number];

	if (number == INDEX_NONE || !code_process_read(&codes->processes, process))
		return;
	for (size_t i = 0; i < process->map.count; i++) {
		const struct code_mapping *mapping = &process->map.mapping[i];
		uint32_t file;

		if (mapping->kind != CODE_OF_FILE || !has_offset(mapping, offset))
			continue;
		file = code_file_of(&codes->files, &process->map, mapping);
		if (file != INDEX_NONE && !codes->files.item[file].has_build_id)
			code_file_open(&codes->files, &codes->files.item[file], head->pid, mapping);
	}
}

/* The mapping by which a file that is known is opened, NULL: it is not found. */
static const struct code_mapping *mapping_of(struct codes *codes, const struct stack_head *head,
					     uint32_t file)
{
	uint32_t number = code_process_of(&codes->processes, head);
	struct code_process *process = &codes->processes.item[number];

	if (number == INDEX_NONE || !code_process_read(&codes->processes, process))
		return NULL;
	for (size_t i = 0; i < process->map.count; i++) {
		const struct code_mapping *mapping = &process->map.mapping[i];

		if (mapping->kind == CODE_OF_FILE &&
		    code_file_of(&codes->files, &process->map, mapping) == file)
			return mapping;
	}
	return NULL;
}

static void open_known(struct codes *codes, const struct stack_head *head, uint32_t number)
{
	struct code_file *file = &codes->files.item[number];

	if (file->file.fd < 0 && !file->failed)
		code_file_open(&codes->files, file, head->pid, mapping_of(codes, head, number));
}

static uint32_t of_build(struct codes *codes, const struct stack_head *head,
			 const struct stack_frame *frame)
{
	uint32_t build = build_of(codes, frame->build_id);
	const struct code *code;

	if (build == INDEX_NONE)
		return CODE_UNKNOWN;
	code = enter(codes, &(struct key){ OF_BUILD, build, frame->place });
	if (!code || code->asked)
		return number_of(codes, code);
	if (codes->build[build].file == INDEX_NONE)
		open_candidates(codes, head, frame->place);
	else
		open_known(codes, head, codes->build[build].file);
	return number_of(codes, code);
}

static uint32_t of_file(struct codes *codes, const struct stack_head *head,
			const struct code_process *process, const struct code_mapping *mapping,
			uint64_t address)
{
	uint32_t file = code_file_of(&codes->files, &process->map, mapping);
	struct key key = { OF_FILE, file, address - mapping->begin + mapping->offset };
	const struct code *code;

	if (file == INDEX_NONE)
		return CODE_UNKNOWN;
	code = enter(codes, &key);
	if (code && !code->asked)
		code_file_open(&codes->files, &codes->files.item[file], head->pid, mapping);
	return number_of(codes, code);
}

/* The name of the mapping is that of the code. */
static uint32_t of_mapping(struct codes *codes, const char *path)
{
	struct code *code =
		enter(codes, &(struct key){ OF_MAPPING, 0, (uint64_t)(unsigned char)path[2] });

	if (code && !code->asked)
		code->name = strdup(path);
	if (code)
		code->asked = true;
	return number_of(codes, code);
}

static uint32_t of_address(struct codes *codes, const struct stack_head *head, uint64_t address)
{
	uint32_t number = code_process_of(&codes->processes, head);
	struct code_process *process = &codes->processes.item[number];
	const struct code_mapping *mapping;

	if (number == INDEX_NONE)
		return CODE_UNKNOWN;
	mapping = code_process_find(&codes->processes, process, address);
	if (!mapping)
		return CODE_UNKNOWN;
	switch (mapping->kind) {
	case CODE_OF_FILE:
		return of_file(codes, head, process, mapping, address);
	case CODE_OF_KERNEL:
		return of_mapping(codes, process->map.paths + mapping->path);
	default:
		code_process_made(&codes->processes, process);
		return number_of(codes, enter(codes, &(struct key){ OF_PROCESS, number, address }));
	}
}

uint32_t codes_of(struct codes *codes, const struct stack_head *process,
		  const struct stack_frame *frame)
{
	switch (frame->status) {
	case STACK_OFFSET:
		return of_build(codes, process, frame);
	case STACK_ADDRESS:
		return of_address(codes, process, frame->place);
	default:
		return CODE_UNKNOWN;
	}
}

/* --- names --- */

/* A copy that can be a part of a line; NULL: it is empty. */
static char *clean(const char *name, const char *behind)
{
	char text[CODE_NAME_MAX];
	size_t length;

	name += strspn(name, " ");
	snprintf(text, sizeof(text) - strlen(behind), "%s", name);
	for (length = strlen(text); length && text[length - 1] == ' ';)
		text[--length] = '\0';
	if (!length)
		return NULL;
	for (char *at = text; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	memcpy(text + length, behind, strlen(behind) + 1);
	return strdup(text);
}

static void set_name(struct codes *codes, struct code *code, const char *name, const char *behind)
{
	code->asked = true;
	code->name = name ? clean(name, behind) : NULL;
	if (code->name)
		codes->bytes += strlen(code->name) + 1;
}

static void tell(struct codes *codes, const char *path, const struct error *why)
{
	if (codes->told >= TOLD_MAX || !strcmp(codes->told_last.text, why->text))
		return;
	codes->told++;
	codes->told_last = *why;
	message(LOG_NOTICE, "profiles: functions of %.300s remain without names: %.600s", path,
		why->text);
}

/* What is to be asked of one file, or of the map of one process. */
struct wanted_name {
	uint32_t of; /* the file or process */
	uint32_t code;
	uint64_t place;
};

static int by_file_and_place(const void *left, const void *right)
{
	const struct wanted_name *a = left, *b = right;

	if (a->of != b->of)
		return a->of < b->of ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

/* Whose file it is and that is open, INDEX_NONE: none. */
static uint32_t asks_file(const struct codes *codes, const struct code *code)
{
	uint32_t file = INDEX_NONE;

	if (code->asked)
		return INDEX_NONE;
	if (code->key.kind == OF_FILE)
		file = code->key.of;
	else if (code->key.kind == OF_BUILD)
		file = codes->build[code->key.of].file;
	return file != INDEX_NONE && codes->files.item[file].file.fd >= 0 ? file : INDEX_NONE;
}

static uint32_t asks_process(const struct codes *codes, const struct code *code)
{
	if (code->asked || code->key.kind != OF_PROCESS ||
	    codes->processes.item[code->key.of].made.fd < 0)
		return INDEX_NONE;
	return code->key.of;
}

/* All that there are now, by file; NULL: none, or no memory. */
static struct wanted_name *collect(const struct codes *codes,
				   uint32_t (*asks)(const struct codes *, const struct code *),
				   size_t *ret_count)
{
	struct wanted_name *question = calloc(codes->count + 1, sizeof(*question));
	size_t count = 0;

	for (uint32_t i = 0; question && i < codes->count; i++) {
		uint32_t of = asks(codes, &codes->code[i]);

		if (of != INDEX_NONE)
			question[count++] = (struct wanted_name){ of, i, codes->code[i].key.place };
	}
	if (question && count)
		qsort(question, count, sizeof(*question), by_file_and_place);
	*ret_count = count;
	return question;
}

static int ask_file(struct codes *codes, uint32_t of, const uint64_t *places, size_t count,
		    struct symbol_names *ret_names, struct error *error)
{
	struct code_file *file = &codes->files.item[of];
	uint8_t build_id[20] = { 0 };
	int status = symbol_name(codes->files.files, &file->file, places, count, ret_names,
				 build_id, error);

	if (status == 0 && !file->has_build_id)
		note_build_id(codes, of, build_id);
	if (status)
		tell(codes, file->path, error);
	return status;
}

/* Most programs that make code write no map of it, or one that has ended meanwhile: that is no trouble. */
static int ask_process(struct codes *codes, uint32_t of, const uint64_t *places, size_t count,
		       struct symbol_names *ret_names, struct error *error)
{
	return symbol_name_made(codes->files.files, &codes->processes.item[of].made, places, count,
				ret_names, error);
}

typedef int ask_fn(struct codes *codes, uint32_t of, const uint64_t *places, size_t count,
		   struct symbol_names *ret_names, struct error *error);

static void ask_some(struct codes *codes, ask_fn *ask, const struct wanted_name *question,
		     size_t count)
{
	uint64_t places[SYMBOL_OFFSETS_MAX] = { 0 };
	struct symbol_names names = { 0 };
	struct error error = { "" };
	int status;

	for (size_t i = 0; i < count; i++)
		places[i] = question[i].place;
	status = ask(codes, question[0].of, places, count, &names, &error);
	for (size_t i = 0; i < count; i++) {
		bool has = status == 0 && i < names.count && names.name[i];

		set_name(codes, &codes->code[question[i].code], has ? names.name[i] : NULL, "");
	}
	if (status == 0)
		symbol_names_done(&names);
}

/* How many of the first are of the same file, and can be asked at once. */
static size_t chunk(const struct wanted_name *question, size_t count)
{
	size_t n = 1;

	while (n < count && n < SYMBOL_OFFSETS_MAX && question[n].of == question[0].of)
		n++;
	return n;
}

struct between {
	bool (*call)(void *with);
	void *with;
	bool over; /* no more are asked */
};

static bool go_on(struct between *between)
{
	if (!between->over && between->call)
		between->over = !between->call(between->with);
	return !between->over;
}

/* True: there were any. */
static bool ask_all(struct codes *codes,
		    uint32_t (*asks)(const struct codes *, const struct code *), ask_fn *ask,
		    struct between *between)
{
	size_t count, n;
	struct wanted_name *question = collect(codes, asks, &count);

	for (size_t i = 0; question && i < count; i += n) {
		n = chunk(question + i, count - i);
		if (!go_on(between))
			break;
		ask_some(codes, ask, question + i, n);
	}
	free(question);
	return count > 0;
}

/* Of files that are open because they may have one that is wanted. */
static void ask_build_ids(struct codes *codes, struct between *between)
{
	for (uint32_t i = 0; i < codes->files.count && is_any_build_open(codes); i++) {
		struct code_file *file = &codes->files.item[i];
		struct symbol_names names;
		struct error error;
		uint64_t begin = 0;

		if (file->file.fd < 0 || file->has_build_id || file->failed)
			continue;
		if (!go_on(between))
			return;
		if (ask_file(codes, i, &begin, 1, &names, &error) == 0)
			symbol_names_done(&names);
		else
			file->failed = true;
	}
}

static void name_kernel(struct codes *codes)
{
	ksyms_refresh(codes->ksyms, codes->files.files, clock_ns());
	for (uint32_t i = 0; i < codes->count; i++) {
		struct code *code = &codes->code[i];
		char name[CODE_NAME_MAX];

		if (code->asked || code->key.kind != OF_KERNEL)
			continue;
		if (ksym_name(codes->ksyms, code->key.place, name, sizeof(name)))
			set_name(codes, code, name, "_[k]");
		else
			set_name(codes, code, UNKNOWN, "_[k]");
	}
}

void codes_look(struct codes *codes, bool (*between)(void *with), void *with)
{
	struct between each = { .call = between, .with = with };
	bool any = true;

	for (int pass = 0; pass < PASSES_MAX && any && !each.over; pass++) {
		ask_build_ids(codes, &each);
		any = ask_all(codes, asks_file, ask_file, &each);
		any |= ask_all(codes, asks_process, ask_process, &each);
	}
	name_kernel(codes);
	code_files_close(&codes->files);
}

static const char *text_of(const struct codes *codes, const struct code *code)
{
	uint32_t file = INDEX_NONE;

	if (code->key.kind == OF_PROCESS)
		return MADE;
	if (code->key.kind == OF_FILE)
		file = code->key.of;
	else if (code->key.kind == OF_BUILD)
		file = codes->build[code->key.of].file;
	return file == INDEX_NONE ? UNKNOWN : codes->files.item[file].text;
}

const char *codes_name(const struct codes *codes, uint32_t number)
{
	const struct code *code;

	if (number == CODE_UNKNOWN || number > codes->count)
		return UNKNOWN;
	code = &codes->code[number - 1];
	return code->name ?: text_of(codes, code);
}

/* --- forgetting --- */

/* Code of processes goes with them. Others stay, and are counted anew. */
static void forget_made(struct codes *codes)
{
	uint32_t kept = 0;

	index_clear(&codes->index);
	for (uint32_t i = 0; i < codes->count; i++) {
		struct code code = codes->code[i];

		if (code.key.kind == OF_PROCESS) {
			codes->bytes -= code.name ? strlen(code.name) + 1 : 0;
			free(code.name);
			continue;
		}
		index_add(&codes->index, hash_of(codes, &code.key), kept);
		codes->code[kept++] = code;
	}
	codes->count = kept;
}

static void forget_all(struct codes *codes)
{
	for (uint32_t i = 0; i < codes->count; i++)
		free(codes->code[i].name);
	free(codes->code);
	codes->code = NULL;
	codes->count = codes->room = 0;
	codes->bytes = 0;
	index_clear(&codes->index);
	codes->build_count = 0;
	index_clear(&codes->builds);
	code_files_clear(&codes->files);
	codes->told = 0;
	codes->since_ns = clock_ns();
}

static bool is_due(const struct codes *codes)
{
	return codes->count > CODES_MAX / 2 || codes->bytes > BYTES_MAX ||
	       codes->build_count > BUILDS_MAX / 2 || codes->files.count > CODE_FILES_MAX / 2 ||
	       clock_ns() - codes->since_ns > AGE_MAX_NS;
}

void codes_forget(struct codes *codes)
{
	code_processes_clear(&codes->processes);
	if (is_due(codes))
		forget_all(codes);
	else
		forget_made(codes);
}

void codes_free(struct codes *codes)
{
	if (!codes)
		return;
	if (codes->index.slot && codes->builds.slot)
		forget_all(codes);
	code_files_done(&codes->files);
	code_processes_done(&codes->processes);
	index_done(&codes->builds);
	index_done(&codes->index);
	free(codes);
}
