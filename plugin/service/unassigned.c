/* SPDX-License-Identifier: MIT */
/*
 * Processes that found no free row, neither for their key nor of their own. While there are any, the kernel
 * gives no row to newcomers, of which there may be many short-lived ones: each row that becomes free goes to
 * the process that has waited longest. The row of a key serves all processes of the key. Units and
 * containers precede commands and users, whose names any user may make, and may use their rows, too.
 */
#include "unassigned.h"

#include "lifecycle.h"
#include "scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct unassigned_list {
	struct unassigned_process *item;
	size_t count;
};

static uint32_t load_row_count(const uint32_t *rows)
{
	return __atomic_load_n(rows, __ATOMIC_RELAXED);
}

bool unassigned_any(const struct service_counters *counters, const struct free_rows *free_rows)
{
	long long all = __atomic_load_n(&counters->unassigned, __ATOMIC_RELAXED);
	long long names = __atomic_load_n(&counters->unassigned_names, __ATOMIC_RELAXED);
	long long groups = __atomic_load_n(&counters->unassigned_groups, __ATOMIC_RELAXED);

	return (names > 0 && load_row_count(&free_rows->services)) ||
	       (groups > 0 && load_row_count(&free_rows->reserve)) ||
	       (all > names && load_row_count(&free_rows->processes));
}

static void add_unassigned(void *to, const void *record)
{
	struct unassigned_list *list = to;
	struct unassigned_process *grown =
		reallocarray(list->item, list->count + 1, sizeof(*grown));

	/* Missing processes are listed again at the next reading. */
	if (!grown)
		return;
	list->item = grown;
	memcpy(&grown[list->count++], record, sizeof(*grown));
}

static bool has_user_controlled_key(const struct unassigned_process *process)
{
	return service_is_user_controlled(process->key.kind);
}

static int compare_unassigned(const void *left, const void *right)
{
	const struct unassigned_process *a = left, *b = right;

	if (has_user_controlled_key(a) != has_user_controlled_key(b))
		return has_user_controlled_key(a) ? 1 : -1;
	if (a->since_ns != b->since_ns)
		return a->since_ns < b->since_ns ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

/* The processes that get a row: the first one of each key. */
struct chosen {
	const struct unassigned_process **item;
	size_t count;
	struct free_rows left;
};

static bool claim_key_row(struct free_rows *left, const struct unassigned_process *process)
{
	uint32_t *rows = left->reserve && !has_user_controlled_key(process) ? &left->reserve
									    : &left->services;

	if (*rows == 0)
		return false;
	--*rows;
	return true;
}

/* Does its key have a row by now, or does it get one? */
static bool choose_key(struct chosen *chosen, const struct unassigned_process *process)
{
	for (size_t i = 0; i < chosen->count; i++)
		if (!memcmp(&chosen->item[i]->key, &process->key, sizeof(process->key)))
			return true;
	if (!claim_key_row(&chosen->left, process))
		return false;
	chosen->item[chosen->count++] = process;
	return true;
}

/* A row of its own. */
static bool claim_process_row(struct free_rows *left)
{
	if (left->processes == 0)
		return false;
	left->processes--;
	return true;
}

/* Writes orders for the processes that are next; returns their number. */
static size_t choose_unassigned(const struct unassigned_list *list, struct chosen *chosen,
				struct scan_order *orders)
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct unassigned_process *process = &list->item[i];

		if (process->row == SERVICE_OTHER ? !choose_key(chosen, process)
						  : !claim_process_row(&chosen->left))
			continue;
		orders[count++] = (struct scan_order){
			.pid = process->pid,
			.assignment = { process->start_ns, ASSIGNMENT_MATCH, 0 },
		};
	}
	return count;
}

static int assign_unassigned(struct object *object, struct unassigned_list *list,
			     const struct free_rows *free_rows, struct error *error)
{
	struct chosen chosen = {
		.item = calloc(list->count + 1, sizeof(*chosen.item)),
		.left = {
			.services = load_row_count(&free_rows->services),
			.reserve = load_row_count(&free_rows->reserve),
			.processes = load_row_count(&free_rows->processes),
		},
	};
	struct scan_order *orders = calloc(list->count + 1, sizeof(*orders));
	int status = -ENOMEM;

	if (list->count)
		qsort(list->item, list->count, sizeof(*list->item), compare_unassigned);
	if (chosen.item && orders)
		status = scan_assign(object, orders, choose_unassigned(list, &chosen, orders),
				     error);
	else
		error_set(error, status, "no memory");
	free(chosen.item);
	free(orders);
	return status;
}

int unassigned_give_rows(struct object *object, const struct free_rows *free_rows,
			 struct error *error)
{
	struct unassigned_list list = { 0 };
	int status = scan_run(object, SCAN_UNASSIGNED, sizeof(struct unassigned_process),
			      add_unassigned, &list, error);

	status = status ?: assign_unassigned(object, &list, free_rows, error);
	free(list.item);
	return status;
}
