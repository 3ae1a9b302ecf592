/* SPDX-License-Identifier: MIT */
/*
 * The mappings of processes whose stacks were seen. A record tells the process by its start time
 * and program, so a later process with its pid is another one. /proc/PID/maps waits for a lock of
 * the process, so a helper reads it. It takes as long as the process is large, so reads per second
 * are bounded.
 */
#include "code_process.h"

#include "util/clock.h"
#include "util/kernel_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAPS_SIZE_MAX (4U << 20)
#define MAPPINGS_MAX 16384 /* of a process */
#define MEMORY_MAX ((size_t)32 << 20)
#define WAIT_MS 500
#define READS_MAX 25 /* per second, of all processes */
#define STAT_START 22

int code_processes_init(struct code_processes *processes, struct file_helper *files)
{
	processes->files = files;
	return index_init(&processes->index, CODE_PROCESSES_MAX);
}

/* --- which process --- */

static uint64_t hash_process(const struct code_processes *processes, const struct stack_head *head)
{
	uint64_t hash = index_hash(&processes->index, 0, &head->began_ns, sizeof(head->began_ns));

	hash = index_hash(&processes->index, hash, &head->image, sizeof(head->image));
	return index_hash(&processes->index, hash, &head->pid, sizeof(head->pid));
}

static bool is_process(const void *of, uint32_t number, const void *wanted)
{
	const struct code_process *process = &((const struct code_processes *)of)->item[number];
	const struct stack_head *head = wanted;

	return process->began_ns == head->began_ns && process->image == head->image &&
	       process->pid == head->pid;
}

uint32_t code_process_of(struct code_processes *processes, const struct stack_head *head)
{
	uint64_t hash = hash_process(processes, head);
	uint32_t number = index_find(&processes->index, hash, is_process, processes, head);

	if (number != INDEX_NONE || processes->count == CODE_PROCESSES_MAX)
		return number;
	number = processes->count++;
	processes->item[number] = (struct code_process){
		.began_ns = head->began_ns,
		.image = head->image,
		.pid = head->pid,
		.made = SYMBOL_FILE_NONE,
	};
	index_add(&processes->index, hash, number);
	return number;
}

/* The start time in clock ticks since boot; 0: it has exited. */
static uint64_t read_start_time(uint32_t pid)
{
	char path[32], text[1024];
	const char *at;
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
	length = kernel_file_read(path, text, sizeof(text) - 1);
	if (length <= 0)
		return 0;
	text[length] = '\0';
	at = strrchr(text, ')'); /* the command name may have any characters */
	for (int field = 2; at && field < STAT_START; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

static bool is_alive(const struct code_process *process)
{
	uint64_t tick_ns = NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);

	return process->pid && read_start_time(process->pid) == process->began_ns / tick_ns;
}

/* --- its mappings --- */

static bool may_read_map(struct code_processes *processes, uint64_t now_ns)
{
	if (now_ns - processes->second_ns >= NS_PER_S) {
		processes->second_ns = now_ns;
		processes->reads = 0;
	}
	return processes->reads++ < READS_MAX;
}

static int read_map(struct code_processes *processes, const struct code_process *process,
		    struct process_map *ret_map)
{
	char path[32];
	struct file_request request = {
		.path = path,
		.size_max = MAPS_SIZE_MAX,
		.cut = true,
		.wait_ms = WAIT_MS,
		.budget = FILE_OF_USERS,
	};
	struct file file;
	int status;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", process->pid);
	status = file_read(processes->files, &request, &file);
	if (status)
		return status;
	status = process_map_parse(file.bytes, MAPPINGS_MAX, ret_map);
	free(file.bytes);
	return status;
}

static void forget_map(struct code_processes *processes, struct code_process *process)
{
	processes->memory -= process_map_memory(&process->map);
	process_map_done(&process->map);
}

/* The old mappings stay if there are no new ones. */
static bool read_again(struct code_processes *processes, struct code_process *process)
{
	uint64_t now_ns = clock_ns();
	struct process_map map;

	if (process->read_ns && now_ns - process->read_ns < NS_PER_S)
		return false;
	if (!may_read_map(processes, now_ns))
		return false;
	process->read_ns = now_ns;
	if (!is_alive(process) || read_map(processes, process, &map))
		return false;
	if (!is_alive(process) || processes->memory + process_map_memory(&map) > MEMORY_MAX) {
		process_map_done(&map);
		return false;
	}
	forget_map(processes, process);
	process->map = map;
	processes->memory += process_map_memory(&map);
	return true;
}

bool code_process_read(struct code_processes *processes, struct code_process *process)
{
	if (!process->read_ns)
		read_again(processes, process);
	return process->map.count > 0;
}

const struct code_mapping *code_process_find(struct code_processes *processes,
					     struct code_process *process, uint64_t address)
{
	const struct code_mapping *found = process_map_find(&process->map, address);

	if (!found && read_again(processes, process))
		found = process_map_find(&process->map, address);
	return found;
}

/* --- code that it generates --- */

/* Its pid in its own namespace, and its user. */
static bool read_status(const struct code_process *process, uint32_t *ret_pid, uid_t *ret_user)
{
	char path[32], text[8192];
	const char *user, *pid;
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", process->pid);
	length = kernel_file_read(path, text, sizeof(text) - 1);
	if (length <= 0)
		return false;
	text[length] = '\0';
	user = strstr(text, "\nUid:\t");
	pid = strstr(text, "\nNSpid:");
	if (!user || !pid || sscanf(user, "\nUid:\t%*u\t%u", ret_user) != 1)
		return false;
	pid += strlen("\nNSpid:");
	while (*pid == '\t') /* the innermost namespace is the last */
		*ret_pid = (uint32_t)strtoul(pid, (char **)&pid, 10);
	return true;
}

static bool belongs_to(const struct symbol_file *file, uid_t user)
{
	struct stat is;

	return fstat(file->fd, &is) == 0 && (is.st_uid == user || is.st_uid == 0);
}

static void open_made(struct code_processes *processes, struct code_process *process)
{
	char path[64];
	uint32_t pid = 0;
	uid_t user;
	struct error ignored;

	if (!is_alive(process) || !read_status(process, &pid, &user))
		return;
	snprintf(path, sizeof(path), "/tmp/perf-%" PRIu32 ".map", pid);
	if (symbol_open(processes->files, path, (pid_t)process->pid, &process->made, &ignored)) {
		process->made = (struct symbol_file)SYMBOL_FILE_NONE;
		return;
	}
	if (!belongs_to(&process->made, user) || !is_alive(process))
		symbol_close(&process->made);
}

const struct symbol_file *code_process_made(struct code_processes *processes,
					    struct code_process *process)
{
	if (!process->is_searched)
		open_made(processes, process);
	process->is_searched = true;
	return process->made.fd >= 0 ? &process->made : NULL;
}

void code_processes_clear(struct code_processes *processes)
{
	for (uint32_t i = 0; i < processes->count; i++) {
		symbol_close(&processes->item[i].made);
		forget_map(processes, &processes->item[i]);
	}
	processes->count = 0;
	index_clear(&processes->index);
}

void code_processes_done(struct code_processes *processes)
{
	if (processes->index.slot)
		code_processes_clear(processes);
	index_done(&processes->index);
}
