/* SPDX-License-Identifier: MIT */
/*
 * Names of rows that the kernel gives to keys. A unit precedes a container, a container a user, a user a command;
 * the other one gets another name, see subject.c. A container that was created again has another key; it gets its
 * old name and its series. Replicas at the same time have one subject. A container that was renamed leaves its
 * series, and gets those of its new name.
 */
#include "row_name.h"

#include "lifecycle_state.h"

#include "bpf/lib/services/service.h"

#include <string.h>

static enum subject_kind key_subject_kind(const struct group_key *key)
{
	switch (key->kind) {
	case GROUP_COMMAND:
		return SUBJECT_COMMAND;
	case GROUP_UNIT:
		return SUBJECT_UNIT;
	case GROUP_USER:
	case GROUP_USER_CONTAINER:
		return SUBJECT_USER;
	default:
		return SUBJECT_CONTAINER;
	}
}

static const struct group_key *row_key(const struct lifecycle *lifecycle, uint32_t row)
{
	return &lifecycle->kernel_rows[row].key;
}

static bool has_name_of_key(const struct lifecycle *lifecycle, uint32_t row)
{
	return !memcmp(&lifecycle->names[row].key, row_key(lifecycle, row),
		       sizeof(struct group_key));
}

static bool is_row_named(const struct lifecycle *lifecycle, uint32_t row)
{
	return lifecycle->names[row].is_settled && has_name_of_key(lifecycle, row);
}

bool row_name_wanted(const struct lifecycle *lifecycle, uint32_t round, uint32_t *row,
		     struct group_key *ret_key)
{
	for (uint32_t i = *row; i < lifecycle->row_count; i++) {
		const struct service *kernel_row = &lifecycle->kernel_rows[i];

		if (!(__atomic_load_n(&kernel_row->flags, __ATOMIC_ACQUIRE) & SERVICE_USED) ||
		    kernel_row->key.kind == GROUP_COMMAND ||
		    (lifecycle->names[i].round == round && has_name_of_key(lifecycle, i)))
			continue;
		*ret_key = kernel_row->key;
		*row = i;
		return true;
	}
	return false;
}

static bool is_name_unchanged(const struct row_name *a, const struct row_name *b)
{
	return a->service == b->service && a->is_nameless == b->is_nameless &&
	       !strcmp(a->name, b->name) && !strcmp(a->other_name, b->other_name);
}

void row_name_set(struct lifecycle *lifecycle, uint32_t row, const struct row_name *name)
{
	struct row_name *named = &lifecycle->names[row];
	bool same_key = !memcmp(&named->key, &name->key, sizeof(named->key));
	bool is_renamed = same_key && (named->is_renamed || !is_name_unchanged(named, name));

	*named = *name;
	named->is_renamed = is_renamed;
}

void row_names_complete(struct lifecycle *lifecycle)
{
	for (uint32_t i = 0; i < lifecycle->row_count; i++)
		lifecycle->any_renamed |= lifecycle->names[i].is_renamed;
}

bool row_name_is_settled(const struct lifecycle *lifecycle, uint32_t row)
{
	return row_key(lifecycle, row)->kind == GROUP_COMMAND || is_row_named(lifecycle, row);
}

uint32_t row_name_service(const struct lifecycle *lifecycle, uint32_t row)
{
	return is_row_named(lifecycle, row) ? lifecycle->names[row].service : 0;
}

bool row_name_is_id(const struct lifecycle *lifecycle, uint32_t row)
{
	return is_row_named(lifecycle, row) && lifecycle->names[row].is_id &&
	       !lifecycle->names[row].is_nameless;
}

bool row_name_is_known(const struct lifecycle *lifecycle, uint32_t row)
{
	return row_name_is_settled(lifecycle, row) &&
	       (row_key(lifecycle, row)->kind == GROUP_COMMAND ||
		!lifecycle->names[row].is_nameless);
}

static bool has_processes(const struct lifecycle *lifecycle, uint32_t row)
{
	return __atomic_load_n(&lifecycle->kernel_rows[row].processes, __ATOMIC_RELAXED) > 0;
}

unsigned row_names_count_ids(const struct lifecycle *lifecycle)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < lifecycle->row_count; i++)
		count += row_name_is_id(lifecycle, i) && has_processes(lifecycle, i);
	return count;
}

/* Has another row with processes this subject? */
static bool is_subject_in_use(const struct lifecycle *lifecycle, uint32_t row, int subject)
{
	for (uint32_t i = 0; i < lifecycle->row_count; i++)
		if (i != row && lifecycle->states[i].state == ROW_SHOWN &&
		    lifecycle->states[i].subject == subject && has_processes(lifecycle, i))
			return true;
	return false;
}

/* Names that only look alike to receivers, or that an earlier kind has, are the work of subjects_enter(). */
static bool is_name_in_use(const struct lifecycle *lifecycle, uint32_t row, enum subject_kind kind,
			   const char *name)
{
	int same = subjects_find(&lifecycle->subjects, kind, name);

	return same >= 0 && is_subject_in_use(lifecycle, row, same);
}

/* Are they containers of one workload in one runtime? */
static bool are_replicas(const struct lifecycle *lifecycle, uint32_t row, uint32_t other)
{
	const struct row_name *a = &lifecycle->names[row], *b = &lifecycle->names[other];

	return a->workload == b->workload && is_row_named(lifecycle, other) &&
	       row_key(lifecycle, row)->kind == row_key(lifecycle, other)->kind &&
	       !strcmp(a->name, b->name);
}

/* The subject of living replicas of this row; -1: there is none. */
static int find_replicas(const struct lifecycle *lifecycle, uint32_t row)
{
	enum subject_kind kind = key_subject_kind(row_key(lifecycle, row));

	for (uint32_t i = 0; i < lifecycle->row_count && lifecycle->names[row].workload; i++) {
		const struct service_state *state = &lifecycle->states[i];

		if (i == row || state->state != ROW_SHOWN || !are_replicas(lifecycle, row, i) ||
		    !has_processes(lifecycle, i))
			continue;
		if (lifecycle->subjects.subject[state->subject].kind == kind &&
		    subjects_keeps_name(&lifecycle->subjects, (size_t)state->subject))
			return state->subject;
	}
	return -1;
}

/* The name that a row gets; that of a command is written to `command`. */
static const char *choose_row_name(const struct lifecycle *lifecycle, uint32_t row,
				   char command[SERVICE_NAME_LEN + 1])
{
	const struct row_name *named = &lifecycle->names[row];
	const struct group_key *key = row_key(lifecycle, row);

	if (key->kind != GROUP_COMMAND)
		return is_name_in_use(lifecycle, row, key_subject_kind(key), named->name)
			       ? named->other_name
			       : named->name;
	memcpy(command, key->text, SERVICE_NAME_LEN);
	command[SERVICE_NAME_LEN] = '\0';
	return command;
}

int row_name_enter(struct lifecycle *lifecycle, uint32_t row)
{
	int replicas = find_replicas(lifecycle, row);
	char command[SERVICE_NAME_LEN + 1];

	if (replicas >= 0) {
		subjects_add_row(&lifecycle->subjects, (size_t)replicas);
		return replicas;
	}
	return subjects_enter(&lifecycle->subjects, key_subject_kind(row_key(lifecycle, row)),
			      choose_row_name(lifecycle, row, command));
}

int row_name_find(const struct lifecycle *lifecycle, uint32_t row)
{
	int replicas = find_replicas(lifecycle, row);
	char command[SERVICE_NAME_LEN + 1];

	if (replicas >= 0)
		return replicas;
	return subjects_find(&lifecycle->subjects, key_subject_kind(row_key(lifecycle, row)),
			     choose_row_name(lifecycle, row, command));
}

void row_names_make_way(struct lifecycle *lifecycle, size_t subject)
{
	const struct subjects *subjects = &lifecycle->subjects;

	for (uint32_t i = 0; i < lifecycle->row_count; i++) {
		struct service_state *row = &lifecycle->states[i];
		int other;

		if (row->fixed || row->state != ROW_SHOWN || (size_t)row->subject == subject ||
		    !name_is_same(subjects->subject[row->subject].name,
				  subjects->subject[subject].name))
			continue;
		other = row_name_enter(lifecycle, i);
		if (other < 0)
			continue;
		subjects_release(&lifecycle->subjects, (size_t)row->subject);
		row->subject = other;
		if (subjects->subject[other].rows == 1)
			row_names_make_way(lifecycle, (size_t)other);
	}
}

/* Has the row had to take its other name? */
static bool has_other_name(const struct lifecycle *lifecycle, uint32_t row)
{
	const struct subject *subject =
		&lifecycle->subjects.subject[lifecycle->states[row].subject];

	return subject->kind == SUBJECT_CONTAINER &&
	       !subject_is_of(subject, lifecycle->names[row].name);
}

bool row_name_is_old(const struct lifecycle *lifecycle, uint32_t row)
{
	const struct service_state *state = &lifecycle->states[row];

	return state->state == ROW_SHOWN && !state->fixed &&
	       (lifecycle->names[row].is_renamed || has_other_name(lifecycle, row));
}
