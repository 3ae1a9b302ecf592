/* SPDX-License-Identifier: MIT */
/*
 * Services by ProcessMatch and PidFile, for which user space has to read files. The kernel lists the processes that
 * have called exec or renamed themselves since the last inspection, and those that these have forked meanwhile.
 * They are matched here, and moved by assignments that the kernel carries out in another walk. If several
 * services match_list, the first one of the configuration wins.
 */
#include "resolve.h"

#include "name_tables.h"
#include "scan.h"
#include "unassigned.h"
#include "util/clock.h"

#include "bpf/lib/services/service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND_LINE_MAX 4096
#define COMMAND_LINE_WAIT_MS 100 /* each that hangs delays the others once; it is read later */
#define INSPECT_NS_MAX (250 * 1000000ULL) /* for command lines, in one run */
#define INSPECT_START_NS_MAX (3 * NS_PER_S)
#define ANCESTORS_MAX 64
#define LOG_AGAIN_NS (3600 * NS_PER_S)

struct process_list {
	struct listed_process *item; /* by pid */
	uint32_t *rows;              /* assigned to each, or 0 */
	unsigned char *quotas;       /* enum quota_pass, of each */
	size_t count;
	bool incomplete;
};

static void add_listed_process(void *to, const void *record)
{
	struct process_list *list = to;
	struct listed_process *grown;

	grown = reallocarray(list->item, list->count + 1, sizeof(*grown));
	if (!grown) {
		list->incomplete = true;
		return;
	}
	list->item = grown;
	memcpy(&grown[list->count++], record, sizeof(*grown));
}

static int compare_pids(const void *left, const void *right)
{
	const struct listed_process *a = left, *b = right;

	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static void process_list_done(struct process_list *list)
{
	free(list->item);
	free(list->rows);
	free(list->quotas);
}

/* --- matching --- */

void command_line_join(char *line, size_t size)
{
	while (size > 0 && line[size - 1] == '\0')
		size--;
	for (size_t i = 0; i < size; i++)
		if (line[i] == '\0')
			line[i] = ' ';
}

static bool any_match_rules(const struct config *config)
{
	for (size_t i = 0; i < config->service_count; i++)
		if (config->services[i].match_count)
			return true;
	return false;
}

/* The row for its command line, or 0; ASSIGNMENT_RETRY: it could not be read in time. A process whose
 * command line cannot be read delays no other one, unless its user has several of them. */
static uint32_t match_command_line(struct fits *fits, struct file_helper *files,
				   const struct listed_process *process)
{
	char path[64];
	struct file_request request = {
		.path = path,
		.size_max = COMMAND_LINE_MAX,
		.cut = true,
		.wait_ms = COMMAND_LINE_WAIT_MS,
		.budget = process->uid ? FILE_OF_USERS : FILE_OF_ROOT_PROCESSES,
		.user = process->uid,
	};
	struct file line;
	uint32_t row;
	int status;

	snprintf(path, sizeof(path), "/proc/%u/cmdline", process->pid);
	status = file_read(files, &request, &line);
	if (status)
		return helper_may_reply_later(status) ? ASSIGNMENT_RETRY : 0;
	command_line_join(line.bytes, line.size);
	row = line.size ? fits_line(fits, line.bytes) : 0;
	free(line.bytes);
	return row;
}

/* Is `row` a better match_list than `than`, which the kernel has found? The rows of Service blocks are the first
 * ones, in order; 0 is no row. */
static bool is_better_row(const struct config *config, uint32_t row, uint32_t than)
{
	bool configured = than >= SERVICE_FIRST && than < SERVICE_FIRST + config->service_count;

	if (row == ASSIGNMENT_RETRY)
		return true;
	return row && (!configured || row < than);
}

static const struct listed_process *find_listed_process(const struct process_list *list,
							uint32_t pid)
{
	struct listed_process wanted = { .pid = pid };

	return bsearch(&wanted, list->item, list->count, sizeof(wanted), compare_pids);
}

/* The row of the next ancestor that has one by a rule: the process would have inherited it, if that had been known
 * at the fork. */
static uint32_t find_inherited_row(const struct process_list *list, const uint32_t *own,
				   const struct listed_process *process)
{
	for (int i = 0; i < ANCESTORS_MAX && process->flags & LISTED_FORKED; i++) {
		const struct listed_process *parent = find_listed_process(list, process->parent);

		if (process->parent_row)
			return process->parent_row;
		if (!parent)
			return 0;
		if (own[parent - list->item])
			return own[parent - list->item];
		process = parent;
	}
	return 0;
}

/* The row for the command line, or 0; ASSIGNMENT_RETRY: not in this run. */
static uint32_t inspect_process(struct resolver *resolver, const struct listed_process *process)
{
	struct inspection_start inspection = inspection_begin();
	uint32_t row;

	if (quotas_are_used_up(&resolver->quotas, process->uid))
		return ASSIGNMENT_RETRY;
	row = match_command_line(&resolver->fits, resolver->files, process);
	quotas_spend(&resolver->quotas, process->uid, inspection_cost(&inspection));
	return row;
}

/* Inspects the processes of one pass, from where the last run had to stop. Stops when the time is up, but
 * inspects at least one process, so that none is always too late. */
static void inspect_pass(struct resolver *resolver, const struct process_list *list,
			 enum quota_pass quota_pass, uint64_t end_ns, uint32_t *own)
{
	uint32_t *next_pid = &resolver->quotas.next_pid[quota_pass];
	size_t first = 0;

	while (first < list->count && list->item[first].pid < *next_pid)
		first++;
	*next_pid = 0;
	for (size_t n = 0; n < list->count; n++) {
		size_t i = (first + n) % list->count;
		const struct listed_process *process = &list->item[i];
		uint32_t by_line;

		if (list->quotas[i] != quota_pass || !(process->flags & LISTED_UNCLASSIFIED))
			continue;
		if (*next_pid) {
			resolver->unfinished = true;
			break;
		}
		by_line = inspect_process(resolver, process);
		if (by_line && (!own[i] || by_line < own[i]))
			own[i] = by_line;
		if (clock_ns() > end_ns)
			*next_pid = process->pid + 1;
	}
}

/* Sets own[i] to the row that a rule gives to the process itself, or 0. */
static void match_own_rows(struct resolver *resolver, const struct process_list *list,
			   uint64_t inspect_ns_max, uint32_t *own)
{
	uint64_t now_ns = clock_ns();

	resolver->unfinished = false;
	quotas_start(&resolver->quotas, now_ns);
	for (size_t i = 0; i < list->count; i++) {
		const struct listed_process *process = &list->item[i];

		own[i] = pid_files_match(&resolver->pid_files, process->pid, process->uid);
		list->quotas[i] = (unsigned char)quotas_pass_of(&resolver->quotas, process->uid);
	}
	if (any_match_rules(resolver->config))
		for (enum quota_pass quota_pass = 0; quota_pass < QUOTA_PASSES; quota_pass++)
			inspect_pass(resolver, list, quota_pass, now_ns + inspect_ns_max, own);
}

static int match_list(struct resolver *resolver, struct process_list *list, uint64_t inspect_ns_max)
{
	uint32_t *own = calloc(list->count + 1, sizeof(*own));

	list->rows = calloc(list->count + 1, sizeof(*list->rows));
	list->quotas = calloc(list->count + 1, sizeof(*list->quotas));
	if (!own || !list->rows || !list->quotas) {
		free(own);
		return -ENOMEM;
	}
	if (list->count)
		qsort(list->item, list->count, sizeof(*list->item), compare_pids);
	match_own_rows(resolver, list, inspect_ns_max, own);
	for (size_t i = 0; i < list->count; i++) {
		uint32_t row = own[i];

		if (!row || row == ASSIGNMENT_RETRY)
			row = find_inherited_row(list, own, &list->item[i]) ?: row;
		if (is_better_row(resolver->config, row, list->item[i].row))
			list->rows[i] = row;
	}
	free(own);
	return 0;
}

/* --- assigning --- */

/* Sends an assignment for each process with a row. */
static int assign_list(struct resolver *resolver, const struct process_list *list,
		       struct error *error)
{
	struct scan_order *orders = calloc(list->count + 1, sizeof(*orders));
	size_t count = 0;
	int status;

	if (!orders)
		return error_set(error, -ENOMEM, "no memory");
	for (size_t i = 0; i < list->count; i++)
		if (list->rows[i])
			orders[count++] = (struct scan_order){
				.pid = list->item[i].pid,
				.assignment = { list->item[i].start_ns, list->rows[i], 0 },
			};
	status = scan_assign(resolver->object, orders, count, error);
	free(orders);
	return status;
}

/* Lists processes and moves those that match_list. */
static int resolve_processes(struct resolver *resolver, enum scan_mode mode,
			     uint64_t inspect_ns_max, struct error *error)
{
	struct process_list list = { 0 };
	int status;

	resolver->unclassified_seen =
		__atomic_load_n(&resolver->counters->unclassified, __ATOMIC_ACQUIRE);
	status = scan_run(resolver->object, mode, sizeof(struct listed_process), add_listed_process,
			  &list, error);
	if (status == 0 && match_list(resolver, &list, inspect_ns_max) != 0)
		status = error_set(error, -ENOMEM, "no memory");
	status = status ?: assign_list(resolver, &list, error);
	resolver->unfinished |= status || list.incomplete;
	process_list_done(&list);
	return status;
}

/* --- when --- */

/* The kernel may refuse a task's storage while another program on the same CPU has it locked; a scan classifies
 * such a process later. */
static bool any_refused(struct resolver *resolver)
{
	uint64_t refused = __atomic_load_n(&resolver->counters->refused, __ATOMIC_ACQUIRE);
	bool more = refused != resolver->refused_seen;

	resolver->refused_seen = refused;
	return more;
}

/* Has the kernel classify the processes that it has not seen, without listing any. */
static int classify_new(struct resolver *resolver, struct error *error)
{
	return scan_run(resolver->object, SCAN_NONE, 0, NULL, NULL, error);
}

static void log_no_room(struct resolver *resolver, uint64_t now_ns)
{
	uint64_t no_room = __atomic_load_n(&resolver->counters->no_room, __ATOMIC_RELAXED);
	long long unassigned = __atomic_load_n(&resolver->counters->unassigned, __ATOMIC_RELAXED);
	bool again =
		resolver->no_room_logged_ns && now_ns - resolver->no_room_logged_ns < LOG_AGAIN_NS;
	/* Processes that have exited since are only in the series. */
	bool lacks_room = no_room != resolver->no_room_seen && unassigned > 0;
	bool lacked_room = resolver->lacked_room;

	/* A process that has just started may have its row at the next run. */
	resolver->lacked_room = lacks_room;
	if (!lacks_room || !lacked_room || again)
		return;
	resolver->no_room_seen = no_room;
	resolver->no_room_logged_ns = now_ns;
	message(LOG_WARNING,
		"all rows for services or processes are in use: until one is free, %lld processes "
		"are counted under \"other\" or have no series of their own; raise MaxServices, "
		"or name the services that matter in Service blocks",
		unassigned);
}

static int resolve_new(struct resolver *resolver, struct error *error)
{
	bool needs_proc = config_needs_proc(resolver->config);
	bool named = needs_proc && pid_files_read(&resolver->pid_files, resolver->files);
	bool refused = any_refused(resolver), unfinished = resolver->unfinished;
	uint64_t unclassified =
		__atomic_load_n(&resolver->counters->unclassified, __ATOMIC_ACQUIRE);

	if (needs_proc && (named || refused))
		return resolve_processes(resolver, SCAN_ALL, INSPECT_NS_MAX, error);
	if (needs_proc && (unfinished || unclassified != resolver->unclassified_seen))
		return resolve_processes(resolver, unfinished ? SCAN_AGAIN : SCAN_UNCLASSIFIED,
					 INSPECT_NS_MAX, error);
	return refused ? classify_new(resolver, error) : 0;
}

static int apply_group_rules(struct resolver *resolver, struct error *error)
{
	return cgroup_rules_run(&resolver->cgroup_rules, resolver->config, resolver->object,
				resolver->counters, resolver->files, error);
}

static int run_resolver(struct resolver *resolver, struct error *error)
{
	int status = resolve_new(resolver, error);

	status = status ?: apply_group_rules(resolver, error);
	if (status == 0 && unassigned_any(resolver->counters, resolver->free_rows))
		status = unassigned_give_rows(resolver->object, resolver->free_rows, error);
	return status;
}

void resolver_run(struct resolver *resolver, uint64_t now_ns)
{
	struct error error;
	bool failed;

	name_tables_refresh(resolver->names, resolver->files, now_ns);
	failed = run_resolver(resolver, &error) != 0;
	if (failed && !resolver->failing)
		message(LOG_ERR,
			"services by Unit, Container, ProcessMatch and PidFile miss new processes: "
			"%s; trying again",
			error.text);
	else if (!failed && resolver->failing)
		message(LOG_NOTICE,
			"services by Unit, Container, ProcessMatch and PidFile are complete again");
	resolver->failing = failed;
	resolver->has_run = true;
	log_no_room(resolver, now_ns);
}

bool resolver_is_unfinished(const struct resolver *resolver)
{
	return resolver->unfinished || resolver->cgroup_rules.unfinished;
}

/* Processes that were not inspected may fit any line, so nothing is logged then. */
void resolver_log_fits(struct resolver *resolver)
{
	if (!resolver->has_run || resolver->failing || resolver_is_unfinished(resolver) ||
	    resolver->cgroup_rules.unnamed)
		return;
	resolver->has_run = false;
	fits_log(&resolver->fits, resolver->object, &resolver->pid_files);
}

int resolver_start(struct resolver *resolver, struct error *error)
{
	bool needs_proc = config_needs_proc(resolver->config);
	int status;

	if (pid_files_init(&resolver->pid_files, resolver->config) != 0 ||
	    fits_init(&resolver->fits, resolver->config) != 0)
		return error_set(error, -ENOMEM, "no memory");
	cgroup_rules_init(&resolver->cgroup_rules, resolver->config, &resolver->names->users,
			  &resolver->names->containers, &resolver->fits, resolver->rows,
			  resolver->row_count);
	status = resolver->cgroup_rules.sources || !needs_proc ? classify_new(resolver, error) : 0;
	status = status ?: apply_group_rules(resolver, error);
	if (status || !needs_proc)
		return status;
	pid_files_read(&resolver->pid_files, resolver->files);
	return resolve_processes(resolver, SCAN_ALL, INSPECT_START_NS_MAX, error);
}

void resolver_done(struct resolver *resolver)
{
	pid_files_done(&resolver->pid_files);
	fits_done(&resolver->fits);
}
