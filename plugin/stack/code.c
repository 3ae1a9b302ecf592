/* SPDX-License-Identifier: MIT */
/*
 * Frames as numbers.
 *
 * A frame that the kernel gives as build ID and offset is the same code in every process, and needs
 * nothing of its process once a file with that build ID is known. Until then, all files of the
 * process that the offset may lie in are opened, since only ebpf-symbols, which reads them, says
 * which one has the build ID. Frames that are addresses are searched in the mappings of the
 * process.
 */
#include "code.h"

#include "code_table.h"
#include "helper/ksym.h"

#include <stdlib.h>
#include <string.h>

struct codes *codes_new(struct file_helper *files, struct ksyms *ksyms)
{
	struct codes *codes = calloc(1, sizeof(*codes));

	if (!codes)
		return NULL;
	if (code_files_init(&codes->files, files) ||
	    code_processes_init(&codes->processes, files) || code_table_init(codes)) {
		codes_free(codes);
		return NULL;
	}
	codes->ksyms = ksyms;
	ksyms_want(ksyms);
	return codes;
}

uint32_t codes_of_kernel(struct codes *codes, uint64_t address)
{
	return code_table_number(
		codes, code_table_add(codes, &(struct code_key){ CODE_IN_KERNEL, 0, address }));
}

/* --- user frames --- */

static bool has_offset(const struct code_mapping *mapping, uint64_t offset)
{
	return offset >= mapping->offset &&
	       offset - mapping->offset < mapping->end - mapping->begin;
}

/* Opens all files that may have this build ID, if the process still lives. */
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

/* A mapping by which to open a known file; NULL: the process has none. */
static const struct code_mapping *mapping_of_file(struct codes *codes,
						  const struct stack_head *head, uint32_t file)
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

static void open_code_file(struct codes *codes, const struct stack_head *head, uint32_t number)
{
	struct code_file *file = &codes->files.item[number];

	if (file->file.fd < 0 && !file->failed)
		code_file_open(&codes->files, file, head->pid,
			       mapping_of_file(codes, head, number));
}

static uint32_t number_in_build(struct codes *codes, const struct stack_head *head,
				const struct stack_frame *frame)
{
	uint32_t build = code_table_build(codes, frame->build_id);
	const struct code *code;

	if (build == INDEX_NONE)
		return CODE_UNKNOWN;
	code = code_table_add(codes, &(struct code_key){ CODE_IN_BUILD, build, frame->location });
	if (!code || code->is_resolved)
		return code_table_number(codes, code);
	if (codes->build[build].file == INDEX_NONE)
		open_candidates(codes, head, frame->location);
	else
		open_code_file(codes, head, codes->build[build].file);
	return code_table_number(codes, code);
}

static uint32_t number_in_file(struct codes *codes, const struct stack_head *head,
			       const struct code_process *process,
			       const struct code_mapping *mapping, uint64_t address)
{
	uint32_t file = code_file_of(&codes->files, &process->map, mapping);
	struct code_key key = { CODE_IN_FILE, file, address - mapping->begin + mapping->offset };
	const struct code *code;

	if (file == INDEX_NONE)
		return CODE_UNKNOWN;
	code = code_table_add(codes, &key);
	if (code && !code->is_resolved)
		code_file_open(&codes->files, &codes->files.item[file], head->pid, mapping);
	return code_table_number(codes, code);
}

/* The code has the name of its mapping. */
static uint32_t number_in_mapping(struct codes *codes, const char *path)
{
	struct code *code = code_table_add(
		codes, &(struct code_key){ CODE_IN_MAPPING, 0, (uint64_t)(unsigned char)path[2] });

	if (code && !code->is_resolved)
		code->name = strdup(path);
	if (code)
		code->is_resolved = true;
	return code_table_number(codes, code);
}

static uint32_t number_at_address(struct codes *codes, const struct stack_head *head,
				  uint64_t address)
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
		return number_in_file(codes, head, process, mapping, address);
	case CODE_OF_KERNEL:
		return number_in_mapping(codes, process->map.paths + mapping->path);
	default:
		code_process_made(&codes->processes, process);
		return code_table_number(
			codes, code_table_add(codes, &(struct code_key){ CODE_IN_PROCESS, number,
									 address }));
	}
}

uint32_t codes_of(struct codes *codes, const struct stack_head *process,
		  const struct stack_frame *frame)
{
	switch (frame->status) {
	case STACK_OFFSET:
		return number_in_build(codes, process, frame);
	case STACK_ADDRESS:
		return number_at_address(codes, process, frame->location);
	default:
		return CODE_UNKNOWN;
	}
}

/* --- forgetting --- */

void codes_forget(struct codes *codes)
{
	code_processes_clear(&codes->processes);
	if (code_table_is_due(codes))
		code_table_clear(codes);
	else
		code_table_drop_processes(codes);
}

void codes_free(struct codes *codes)
{
	if (!codes)
		return;
	code_table_done(codes);
	code_files_done(&codes->files);
	code_processes_done(&codes->processes);
	free(codes);
}
