/* SPDX-License-Identifier: MIT */
/*
 * Processes with series of their own. The kernel gives a process a row when it enters a service with
 * PerProcess, and labels the row. The row of an exited process is reused when all tables have its last
 * growth.
 */
#include "process_row.h"

#include "bpf/lib/services/service.h"
#include "util/clock.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PROCESS_ROWS_PER_SERVICE 1024
#define LAST_EVENTS_NS (NS_PER_S / 50) /* a task leaves its last CPU a moment after its exit */
#define PROCESS_ROWS_MAX 8192 /* limit of the verifier, which follows the walk over all rows */

int process_rows_prepare(struct lifecycle *lifecycle, struct error *error)
{
	const struct config *config = lifecycle->config;
	uint32_t count = 1;
	int status;

	for (size_t i = 0; i < config->service_count; i++)
		if (config->services[i].per_process && count < PROCESS_ROWS_MAX)
			count += PROCESS_ROWS_PER_SERVICE;
	lifecycle->process_rows = calloc(count, sizeof(*lifecycle->process_rows));
	if (!lifecycle->process_rows)
		return error_set(error, -ENOMEM, "no memory");
	lifecycle->process_row_count = count;
	status = bpf_map__set_max_entries(object_map(lifecycle->object, "process_labels"), count);
	status = status
			 ?: bpf_map__set_max_entries(object_map(lifecycle->object, "process_free"),
						     count);
	return status ? error_set(error, status, "cannot size the maps: %s", strerror(-status)) : 0;
}

/* Reserves the names of processes of services with PerProcess: no other subject may have one. */
static int reserve_process_names(struct lifecycle *lifecycle)
{
	const struct config *config = lifecycle->config;
	int status = 0;

	for (size_t i = 0; i < config->service_count && status == 0; i++) {
		uint32_t row = SERVICE_FIRST + (uint32_t)i;

		if (!config->services[i].per_process)
			continue;
		lifecycle->kernel_rows[row].flags |= SERVICE_PER_PROCESS;
		/* Two numbers, see enter_process(). */
		status = subjects_reserve(&lifecycle->subjects, SUBJECT_PROCESS,
					  lifecycle_name(lifecycle, row), 2);
	}
	return status;
}

int process_rows_start(struct lifecycle *lifecycle, struct error *error)
{
	int queue = bpf_map__fd(object_map(lifecycle->object, "process_free"));
	int status = mapping_open(&lifecycle->labels_mapping,
				  object_map(lifecycle->object, "process_labels"),
				  PROT_READ | PROT_WRITE);

	if (status)
		return error_set(error, status, "cannot map the rows: %s", strerror(-status));
	lifecycle->kernel_labels = lifecycle->labels_mapping.start;
	status = reserve_process_names(lifecycle);
	for (uint32_t i = 0; i < lifecycle->process_row_count && status == 0; i++) {
		lifecycle->process_rows[i].subject = -1;
		if (i && bpf_map_update_elem(queue, NULL, &i, 0) != 0)
			status = -errno;
	}
	return status ? error_set(error, status, "cannot fill the maps: %s", strerror(-status)) : 0;
}

/* The subject of a process, -1: it gets none. */
static int enter_process(struct lifecycle *lifecycle, const struct process_label *label)
{
	const struct config *config = lifecycle->config;
	static long ticks_per_s;
	char name[SUBJECT_NAME_MAX + 32];
	size_t configured = label->row - SERVICE_FIRST;
	struct subject *made;
	int subject;

	if (label->row < SERVICE_FIRST || configured >= config->service_count)
		return -1;
	if (!ticks_per_s)
		ticks_per_s = sysconf(_SC_CLK_TCK);
	snprintf(name, sizeof(name), "%s-%u-%llu", lifecycle_name(lifecycle, label->row),
		 label->pid,
		 (unsigned long long)(label->start_ns / (NS_PER_S / (uint64_t)ticks_per_s)));
	subject = subjects_enter(&lifecycle->subjects, SUBJECT_PROCESS, name);
	if (subject < 0)
		return -1;
	made = &lifecycle->subjects.subject[subject];
	made->rank_group = label->row;
	made->top_n = config->services[configured].top_n;
	return subject;
}

/* From the next snapshot on the row belongs to no process. */
static void release_process_subject(struct lifecycle *lifecycle, struct process_row *row,
				    uint64_t now_ns)
{
	lifecycle_depart(lifecycle, row->subject, row->ended_ns, 0);
	row->subject = -1;
	row->left_ns = now_ns;
}

static void give_back_process_row(struct lifecycle *lifecycle, uint32_t i)
{
	lifecycle->process_rows[i] = (struct process_row){ .subject = -1 };
	__atomic_store_n(&lifecycle->kernel_labels[i].state, PROCESS_FREE, __ATOMIC_RELEASE);
	lifecycle_give_back(lifecycle, "process_free", i);
}

/* Frees a row in two steps: its growth is read completely, then the readings that use a snapshot with the old
 * owner end. Otherwise such a reading would count the next process for the old one. */
static void end_process_row(struct lifecycle *lifecycle, uint32_t i, uint64_t now_ns)
{
	struct process_row *row = &lifecycle->process_rows[i];

	if (row->ended_ns == 0)
		row->ended_ns = now_ns;
	else if (row->left_ns == 0 && subscribers_have_seen(&lifecycle->subscribers, row->ended_ns,
							    now_ns, lifecycle->interval_ns))
		release_process_subject(lifecycle, row, now_ns);
	if (row->left_ns && subscribers_have_left(&lifecycle->subscribers, row->left_ns))
		give_back_process_row(lifecycle, i);
}

static void refresh_process_row(struct lifecycle *lifecycle, uint32_t i, uint64_t now_ns)
{
	struct process_label *label = &lifecycle->kernel_labels[i];
	uint32_t state = __atomic_load_n(&label->state, __ATOMIC_ACQUIRE);
	struct process_row *row = &lifecycle->process_rows[i];

	if (state == PROCESS_FREE)
		return;
	if (row->start_ns == 0) {
		row->start_ns = label->start_ns;
		row->subject = enter_process(lifecycle, label);
	}
	if (state == PROCESS_ENDED && now_ns > label->end_ns + LAST_EVENTS_NS)
		end_process_row(lifecycle, i, now_ns);
}

void process_rows_refresh(struct lifecycle *lifecycle, uint64_t now_ns)
{
	uint32_t free_rows = 0;

	for (uint32_t i = 1; i < lifecycle->process_row_count; i++) {
		refresh_process_row(lifecycle, i, now_ns);
		free_rows += lifecycle->process_rows[i].start_ns == 0;
	}
	__atomic_store_n(&lifecycle->free_rows.processes, free_rows, __ATOMIC_RELAXED);
}
