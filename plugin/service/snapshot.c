/* SPDX-License-Identifier: MIT */
/*
 * The owners of rows, as of one moment.
 */
#include "snapshot.h"

#include "bpf/lib/services/service.h"

#include <stdlib.h>
#include <string.h>

struct snapshot *snapshot_new(uint32_t row_count, uint32_t process_row_count, size_t subject_count)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));

	if (!snapshot)
		return NULL;
	snapshot->row_count = row_count;
	snapshot->process_row_count = process_row_count;
	snapshot->states = calloc((size_t)row_count + 1, sizeof(*snapshot->states));
	snapshot->process_rows =
		calloc((size_t)process_row_count + 1, sizeof(*snapshot->process_rows));
	snapshot->subjects.subject = calloc(subject_count + 1, sizeof(struct subject));
	if (snapshot->states && snapshot->process_rows && snapshot->subjects.subject)
		return snapshot;
	snapshot_free(snapshot);
	return NULL;
}

void snapshot_free(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	free(snapshot->states);
	free(snapshot->process_rows);
	subjects_done(&snapshot->subjects);
	free(snapshot);
}

int snapshot_subject(const struct snapshot *snapshot, uint32_t row)
{
	if (row >= snapshot->row_count)
		return -1;
	if (snapshot->states[row].state != ROW_SHOWN)
		return snapshot->states[SERVICE_OTHER].subject;
	return snapshot->states[row].subject;
}

int snapshot_service(const struct snapshot *snapshot, uint32_t row, bool asks_for_other)
{
	int subject = snapshot_subject(snapshot, row);
	bool has_other = !asks_for_other || !snapshot->other_unwatched;

	return has_other || subject != snapshot->states[SERVICE_OTHER].subject ? subject : -1;
}

uint32_t snapshot_first_row(const struct snapshot *snapshot, uint32_t row)
{
	return snapshot_is_shown(snapshot, row)
		       ? snapshot->subjects.subject[snapshot->states[row].subject].first_row
		       : row;
}

const char *snapshot_name(const struct snapshot *snapshot, uint32_t row)
{
	int subject = snapshot_subject(snapshot, row < snapshot->row_count ? row : 0);

	return subject < 0 ? "other" : snapshot->subjects.subject[subject].name;
}

bool snapshot_has_service(const struct snapshot *snapshot, const char *name)
{
	for (uint32_t row = 0; row < snapshot->row_count; row++)
		if (snapshot_is_shown(snapshot, row) && !strcmp(snapshot_name(snapshot, row), name))
			return true;
	return false;
}

bool snapshot_is_shown(const struct snapshot *snapshot, uint32_t row)
{
	return row < snapshot->row_count && snapshot->states[row].state == ROW_SHOWN;
}

int snapshot_process_subject(const struct snapshot *snapshot, uint32_t process)
{
	return process < snapshot->process_row_count ? snapshot->process_rows[process].subject : -1;
}

bool snapshot_configured(const struct snapshot *snapshot, uint32_t row)
{
	int subject = snapshot_subject(snapshot, row);

	return subject >= 0 && snapshot->subjects.subject[subject].kind == SUBJECT_SERVICE;
}

bool snapshot_is_undecided(const struct snapshot *snapshot, uint32_t row)
{
	return row < snapshot->row_count && snapshot->states[row].undecided;
}

bool snapshot_is_exited(const struct snapshot *snapshot, uint32_t row)
{
	return snapshot->states[row].state == ROW_RETIRED ||
	       snapshot->states[row].state == ROW_FREE;
}

bool snapshot_process_is_exited(const struct snapshot *snapshot, uint32_t process)
{
	return snapshot->process_rows[process].ended_ns != 0;
}

void snapshot_set_active(const struct snapshot *snapshot, uint32_t row)
{
	if (row < snapshot->row_count)
		__atomic_store_n(&snapshot->active[row], true, __ATOMIC_RELAXED);
}
