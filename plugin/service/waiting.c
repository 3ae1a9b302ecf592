/* SPDX-License-Identifier: MIT */
/*
 * Processes that found no free row, for their key or of their own. While any wait, the kernel gives
 * none to newcomers, of which there may be many and short-lived ones: each row that has come free goes
 * to who has waited longest. A key's row is for all processes of the key. Units and containers come
 * before those whose names are anyone's, and take their rows, too.
 */
#include "waiting.h"

#include "lifecycle.h"
#include "scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct waiting_list {
	struct waiting_process *item;
	size_t count;
};

static uint32_t rows_of(const uint32_t *rows)
{
	return __atomic_load_n(rows, __ATOMIC_RELAXED);
}

bool waiting_any(const struct service_counters *counters, const struct free_rows *free_rows)
{
	long long all = __atomic_load_n(&counters->waiting, __ATOMIC_RELAXED);
	long long names = __atomic_load_n(&counters->waiting_names, __ATOMIC_RELAXED);
	long long groups = __atomic_load_n(&counters->waiting_groups, __ATOMIC_RELAXED);

	return (names > 0 && rows_of(&free_rows->services)) ||
	       (groups > 0 && rows_of(&free_rows->reserve)) ||
	       (all > names && rows_of(&free_rows->processes));
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

static bool is_anyones(const struct waiting_process *process)
{
	return service_is_anyones(process->key.kind);
}

static int by_since(const void *left, const void *right)
{
	const struct waiting_process *a = left, *b = right;

	if (is_anyones(a) != is_anyones(b))
		return is_anyones(a) ? 1 : -1;
	if (a->since_ns != b->since_ns)
		return a->since_ns < b->since_ns ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

/* Those that get a row: the first process of each key. */
struct chosen {
	const struct waiting_process **item;
	size_t count;
	struct free_rows left;
};

static bool take_row(struct free_rows *left, const struct waiting_process *process)
{
	uint32_t *rows = left->reserve && !is_anyones(process) ? &left->reserve : &left->services;

	if (*rows == 0)
		return false;
	--*rows;
	return true;
}

/* Is its key, or does it become, one of them? */
static bool is_chosen(struct chosen *chosen, const struct waiting_process *process)
{
	for (size_t i = 0; i < chosen->count; i++)
		if (!memcmp(&chosen->item[i]->key, &process->key, sizeof(process->key)))
			return true;
	if (!take_row(&chosen->left, process))
		return false;
	chosen->item[chosen->count++] = process;
	return true;
}

/* One of its own. */
static bool take_process_row(struct free_rows *left)
{
	if (left->processes == 0)
		return false;
	left->processes--;
	return true;
}

/* Orders for those who are next; returns how many that are. */
static size_t choose(const struct waiting_list *list, struct chosen *chosen,
		     struct scan_order *orders)
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct waiting_process *process = &list->item[i];

		if (process->row == SERVICE_OTHER ? !is_chosen(chosen, process)
						  : !take_process_row(&chosen->left))
			continue;
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
	struct chosen chosen = {
		.item = calloc(list->count + 1, sizeof(*chosen.item)),
		.left = {
			.services = rows_of(&free_rows->services),
			.reserve = rows_of(&free_rows->reserve),
			.processes = rows_of(&free_rows->processes),
		},
	};
	struct scan_order *orders = calloc(list->count + 1, sizeof(*orders));
	int status = -ENOMEM;

	if (list->count)
		qsort(list->item, list->count, sizeof(*list->item), by_since);
	if (chosen.item && orders)
		status = scan_assign(object, orders, choose(list, &chosen, orders), error);
	else
		error_set(error, status, "no memory");
	free(chosen.item);
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
