/* SPDX-License-Identifier: MIT */
/*
 * Processes that found no free row, for their name or of their own. While any wait, the kernel gives
 * none to newcomers, of which there may be many and short-lived ones: each row that has come free goes
 * to who has waited longest. A name's row is for all processes of the name.
 */
#include "waiting.h"

#include "scan.h"
#include "subject/lifecycle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct waiting_list {
	struct waiting_process *item;
	size_t count;
};

bool waiting_any(const struct service_counters *counters, const struct free_rows *free_rows)
{
	long long all = __atomic_load_n(&counters->waiting, __ATOMIC_RELAXED);
	long long names = __atomic_load_n(&counters->waiting_names, __ATOMIC_RELAXED);

	return (names > 0 && __atomic_load_n(&free_rows->services, __ATOMIC_RELAXED)) ||
	       (all > names && __atomic_load_n(&free_rows->processes, __ATOMIC_RELAXED));
}

static void take(void *to, const void *record)
{
	struct waiting_list *list = to;
	struct waiting_process *grown = reallocarray(list->item, list->count + 1, sizeof(*grown));

	/* Those that are not seen now are at the next reading. */
	if (!grown)
		return;
	list->item = grown;
	memcpy(&grown[list->count++], record, sizeof(*grown));
}

static int by_since(const void *left, const void *right)
{
	const struct waiting_process *a = left, *b = right;

	if (a->since_ns != b->since_ns)
		return a->since_ns < b->since_ns ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

/* Is it, or does it become, one of the names that get a row? names[] are the first of each. */
static bool is_chosen(const struct waiting_process *process, const struct waiting_process **names,
		      uint32_t *name_count, uint32_t most)
{
	for (uint32_t i = 0; i < *name_count; i++)
		if (!memcmp(names[i]->name, process->name, sizeof(process->name)))
			return true;
	if (*name_count == most)
		return false;
	names[(*name_count)++] = process;
	return true;
}

/* Orders for those who are next; returns how many that are. */
static size_t choose(const struct waiting_list *list, const struct free_rows *free_rows,
		     const struct waiting_process **names, struct scan_order *orders)
{
	uint32_t services = __atomic_load_n(&free_rows->services, __ATOMIC_RELAXED);
	uint32_t processes = __atomic_load_n(&free_rows->processes, __ATOMIC_RELAXED);
	uint32_t name_count = 0;
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct waiting_process *process = &list->item[i];

		if (process->row == SERVICE_OTHER
			    ? !is_chosen(process, names, &name_count, services)
			    : processes == 0)
			continue;
		processes -= process->row != SERVICE_OTHER;
		orders[count++] = (struct scan_order){
			.pid = process->pid,
			.assignment = { process->start_ns, ASSIGNMENT_MATCH, 0 },
		};
	}
	return count;
}

static int serve(struct object *object, struct waiting_list *list,
		 const struct free_rows *free_rows, struct error *error)
{
	const struct waiting_process **names = calloc(list->count + 1, sizeof(*names));
	struct scan_order *orders = calloc(list->count + 1, sizeof(*orders));
	int status = -ENOMEM;

	if (list->count)
		qsort(list->item, list->count, sizeof(*list->item), by_since);
	if (names && orders)
		status = scan_assign(object, orders, choose(list, free_rows, names, orders), error);
	else
		error_set(error, status, "no memory");
	free(names);
	free(orders);
	return status;
}

int waiting_serve(struct object *object, const struct free_rows *free_rows, struct error *error)
{
	struct waiting_list list = { 0 };
	int status =
		scan_run(object, SCAN_WAITING, sizeof(struct waiting_process), take, &list, error);

	status = status ?: serve(object, &list, free_rows, error);
	free(list.item);
	return status;
}
