/* SPDX-License-Identifier: MIT */
/*
 * The rules of Service blocks. Command names and cgroups go down into maps,
 * where exec looks them up; command lines and pid files need /proc: the kernel
 * lists the processes that are new, we match them and send orders back.
 * Where several services match, the first in the configuration wins.
 */
#include "rule.h"

#include "../bpf/service.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND_LINE_MAX 4096
#define PASSES_MAX 8 /* of children over their parents */

static struct bpf_map *map_named(const struct object *object, const char *name)
{
	return bpf_object__find_map_by_name(object->bpf, name);
}

int rules_prepare(const struct config *config, struct object *object, struct error *error)
{
	uint32_t names = config->max_services + 1, steps = 1;
	int status;

	for (size_t i = 0; i < config->service_count; i++) {
		names += (uint32_t)config->services[i].commands.count;
		for (size_t j = 0; j < config->services[i].cgroups.count; j++) {
			const char *path = config->services[i].cgroups.item[j];

			for (steps++; *path; path++)
				steps += *path == '/';
		}
	}
	if (steps > 1)
		object_set(object, "cgroup_rules", true);
	else
		bpf_program__set_autoload(
			bpf_object__find_program_by_name(object->bpf, "service_cgroup"), false);
	status = bpf_map__set_max_entries(map_named(object, "service_names"), names);
	if (status == 0)
		status = bpf_map__set_max_entries(map_named(object, "service_cgroups"), steps);
	return status ? error_set(error, status, "services: cannot size the rules: %s",
				  strerror(-status))
		      : 0;
}

static int add_command(struct bpf_map *names, const char *command, uint32_t row)
{
	struct service_name name = { 0 };
	int status;

	snprintf(name.text, sizeof(name.text), "%s", command);
	status = bpf_map_update_elem(bpf_map__fd(names), &name, &row, BPF_NOEXIST);
	return status == 0 || errno == EEXIST ? 0 : -errno;
}

/* Adds the directories of a path, one step below the other. */
static int add_cgroup(struct bpf_map *steps, const char *path, uint32_t row, uint32_t *last_node)
{
	struct cgroup_step step = { 0 };
	int fd = bpf_map__fd(steps);

	while (*path) {
		struct cgroup_node node = { 0 };
		size_t length = strcspn(path, "/");

		memset(step.name, 0, sizeof(step.name));
		if (length >= sizeof(step.name))
			return -ENAMETOOLONG;
		memcpy(step.name, path, length);
		path += length + strspn(path + length, "/");
		if (bpf_map_lookup_elem(fd, &step, &node) != 0)
			node.node = ++*last_node;
		if (*path == '\0' && node.row == 0)
			node.row = row;
		if (bpf_map_update_elem(fd, &step, &node, BPF_ANY) != 0)
			return -errno;
		step.parent = node.node;
	}
	return 0;
}

int rules_fill(const struct config *config, struct object *object, struct error *error)
{
	struct bpf_map *names = map_named(object, "service_names");
	struct bpf_map *steps = map_named(object, "service_cgroups");
	uint32_t last_node = 0;
	int status = 0;

	for (size_t i = 0; i < config->service_count && status == 0; i++) {
		const struct service_config *s = &config->services[i];
		uint32_t row = SERVICE_FIRST + (uint32_t)i;

		for (size_t j = 0; j < s->commands.count && status == 0; j++)
			status = add_command(names, s->commands.item[j], row);
		for (size_t j = 0; j < s->cgroups.count && status == 0; j++)
			status = add_cgroup(steps, s->cgroups.item[j], row, &last_node);
	}
	return status ? error_set(error, status,
				  "services: cannot hand the rules to the kernel: %s",
				  strerror(-status))
		      : 0;
}

bool rules_need_proc(const struct config *config)
{
	for (size_t i = 0; i < config->service_count; i++)
		if (config->services[i].match_count || config->services[i].pid_files.count)
			return true;
	return false;
}

struct fresh_list {
	struct fresh_process *item;
	size_t count;
};

static void take_fresh(void *to, const void *record)
{
	struct fresh_list *list = to;
	struct fresh_process *grown;

	grown = reallocarray(list->item, list->count + 1, sizeof(*grown));
	if (!grown)
		return;
	list->item = grown;
	memcpy(&grown[list->count++], record, sizeof(*grown));
}

/* The command line with spaces between its words; 0 bytes if it is gone. */
static size_t read_command_line(uint32_t pid, char *text, size_t size)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	got = read(fd, text, size - 1);
	close(fd);
	if (got <= 0)
		return 0;
	while (got > 0 && text[got - 1] == '\0')
		got--;
	for (ssize_t i = 0; i < got; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	text[got] = '\0';
	return (size_t)got;
}

/* The first service whose ProcessMatch fits, or 0. */
static uint32_t match_line(const struct config *config, const char *line)
{
	for (size_t i = 0; i < config->service_count; i++)
		for (size_t j = 0; j < config->services[i].match_count; j++)
			if (regexec(&config->services[i].matches[j], line, 0, NULL, 0) == 0)
				return SERVICE_FIRST + (uint32_t)i;
	return 0;
}

static uint32_t read_pid(const char *path)
{
	unsigned pid = 0;
	FILE *file = fopen(path, "re");

	if (!file)
		return 0;
	if (fscanf(file, "%u", &pid) != 1)
		pid = 0;
	fclose(file);
	return pid;
}

static size_t pid_file_count(const struct config *config)
{
	size_t count = 0;

	for (size_t i = 0; i < config->service_count; i++)
		count += config->services[i].pid_files.count;
	return count;
}

/* Reads all pid files; true if one names another process than before. */
static bool read_pid_files(const struct config *config, uint32_t *pids)
{
	bool changed = false;

	for (size_t i = 0; i < config->service_count; i++)
		for (size_t j = 0; j < config->services[i].pid_files.count; j++, pids++) {
			uint32_t pid = read_pid(config->services[i].pid_files.item[j]);

			changed |= pid != 0 && pid != *pids;
			*pids = pid;
		}
	return changed;
}

/* The first service with a pid file that names this process, or 0. */
static uint32_t match_pid(const struct config *config, const uint32_t *pids, uint32_t pid)
{
	for (size_t i = 0; i < config->service_count; i++)
		for (size_t j = 0; j < config->services[i].pid_files.count; j++)
			if (*pids++ == pid)
				return SERVICE_FIRST + (uint32_t)i;
	return 0;
}

/* Is `row` a better match than `than`, which the kernel has found? Configured
 * rows are low and in order, 0 is none. */
static bool better(const struct config *config, uint32_t row, uint32_t than)
{
	bool configured = than >= SERVICE_FIRST && than < SERVICE_FIRST + config->service_count;

	return row && (!configured || row < than);
}

/* What was forked before the pid file was read: children of a process that it
 * names are of its service, as they would be had we known at the fork. */
static void adopt_children(const struct config *config, const struct fresh_list *list,
			   uint32_t *rows)
{
	bool changed = true;

	for (int pass = 0; pass < PASSES_MAX && changed; pass++) {
		changed = false;
		for (size_t i = 0; i < list->count; i++) {
			if (!rows[i])
				continue;
			for (size_t j = 0; j < list->count; j++)
				if (list->item[j].parent == list->item[i].pid && !rows[j] &&
				    better(config, rows[i], list->item[j].row)) {
					rows[j] = rows[i];
					changed = true;
				}
		}
	}
}

/* rows[i] becomes the row that the process list->item[i] shall have, or 0. */
static void match_list(const struct services *services, const struct fresh_list *list,
		       uint32_t *rows)
{
	const struct config *config = services->config;
	char line[COMMAND_LINE_MAX];

	for (size_t i = 0; i < list->count; i++) {
		uint32_t row = match_pid(config, services->pids, list->item[i].pid);

		rows[i] = better(config, row, list->item[i].row) ? row : 0;
	}
	adopt_children(config, list, rows);
	for (size_t i = 0; i < list->count; i++) {
		uint32_t row = 0;

		if (read_command_line(list->item[i].pid, line, sizeof(line)))
			row = match_line(config, line);
		if (better(config, row, list->item[i].row) && (!rows[i] || row < rows[i]))
			rows[i] = row;
	}
}

static int scan(const struct services *services, struct fresh_list *list, struct error *error)
{
	return object_walk(&services->object, sizeof(struct fresh_process),
			   list ? take_fresh : NULL, list, error);
}

static void forget_orders(int fd, const struct fresh_list *list, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		bpf_map_delete_elem(fd, &list->item[i].pid);
}

/* Sends an order for each process with a row and lets the kernel carry them
 * out, as many at a time as its map holds; a process that has ended meanwhile
 * is not found, nor is its successor. */
static int send_orders(const struct services *services, const struct fresh_list *list,
		       const uint32_t *rows, struct error *error)
{
	int fd = bpf_map__fd(map_named(&services->object, "orders")), status = 0;
	size_t done = 0;

	while (done < list->count && status == 0) {
		size_t i = done, sent = 0;

		for (; i < list->count; i++) {
			struct order order = { .start_ns = list->item[i].start_ns, .row = rows[i] };

			if (!rows[i])
				continue;
			if (bpf_map_update_elem(fd, &list->item[i].pid, &order, BPF_ANY) != 0)
				break;
			sent++;
		}
		if (i < list->count && sent == 0)
			return error_set(error, -errno, "services: cannot send an order: %s",
					 strerror(errno));
		if (sent)
			status = scan(services, NULL, error);
		forget_orders(fd, list, done, i);
		done = i;
	}
	return status;
}

/* Lists the processes that are new, or all, and has those moved that match. */
static int resolve(struct services *services, bool all, struct error *error)
{
	struct fresh_list list = { 0 };
	uint32_t *rows = NULL;
	int status;

	services->fresh_seen = __atomic_load_n(&services->news->fresh, __ATOMIC_ACQUIRE);
	object_set(&services->object, "scan_all", all);
	status = scan(services, &list, error);
	object_set(&services->object, "scan_all", false);
	if (status == 0)
		rows = calloc(list.count + 1, sizeof(*rows));
	if (rows) {
		match_list(services, &list, rows);
		status = send_orders(services, &list, rows, error);
	}
	free(rows);
	free(list.item);
	return status;
}

/* A storage may be refused for a moment, while another program on that CPU is at
 * it: a scan meets the process after all. */
static bool some_refused(struct services *services)
{
	uint64_t refused = __atomic_load_n(&services->news->refused, __ATOMIC_ACQUIRE);
	bool more = refused != services->refused_seen;

	services->refused_seen = refused;
	return more;
}

int rules_resolve(struct services *services, struct error *error)
{
	bool need_proc = rules_need_proc(services->config);
	bool named = need_proc && read_pid_files(services->config, services->pids);
	bool refused = some_refused(services);
	uint64_t fresh = __atomic_load_n(&services->news->fresh, __ATOMIC_ACQUIRE);

	if (need_proc && (named || refused || fresh != services->fresh_seen))
		return resolve(services, named || refused, error);
	return refused ? scan(services, NULL, error) : 0;
}

int rules_start(struct services *services, struct error *error)
{
	services->pids = calloc(pid_file_count(services->config) + 1, sizeof(*services->pids));
	if (!services->pids)
		return error_set(error, -ENOMEM, "services: no memory");
	if (!rules_need_proc(services->config))
		return scan(services, NULL, error);
	read_pid_files(services->config, services->pids);
	return resolve(services, true, error);
}
