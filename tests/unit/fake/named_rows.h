/* SPDX-License-Identifier: MIT */
/*
 * Rows of the kernel with keys, and the names that the engine has found for them.
 */
#ifndef TESTS_NAMED_ROWS_H
#define TESTS_NAMED_ROWS_H

#include "tests/unit/fake/services.h"

#define ID_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ID_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define ID_C "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"

#define ROUND 1

/* The name that the engine has found for the key. */
static inline void give_name(struct fixture *f, uint32_t row, const char *name,
			     const char *other_name)
{
	struct row_name named = { .key = key_of_row(f, row), .round = ROUND, .is_settled = true };

	strcpy(named.name, name);
	strcpy(named.other_name, other_name);
	row_name_set(&f->services.lifecycle, row, &named);
}

/* A container of a workload, in docker. */
static inline void claim_replica(struct fixture *f, uint32_t row, const char *id, const char *name,
				 enum workload workload)
{
	struct row_name named;

	claim_key(f, row, GROUP_DOCKER, id, 1);
	named = (struct row_name){
		.key = key_of_row(f, row), .round = ROUND, .is_settled = true, .workload = workload
	};
	strcpy(named.name, name);
	snprintf(named.other_name, sizeof(named.other_name), "%.64s-%.12s", name, id);
	row_name_set(&f->services.lifecycle, row, &named);
}

static inline void claim_unit(struct fixture *f, uint32_t row, const char *name)
{
	claim_key(f, row, GROUP_UNIT, name, 1);
	give_name(f, row, name, "other-unit");
}

static inline void claim_container(struct fixture *f, uint32_t row, const char *id,
				   const char *name)
{
	char other_name[SUBJECT_TEXT_MAX];

	claim_key(f, row, GROUP_DOCKER, id, 1);
	snprintf(other_name, sizeof(other_name), "%s-%.12s", name, id);
	give_name(f, row, name, other_name);
}

static inline void end(struct fixture *f, uint32_t row)
{
	set_processes(f, row, 0);
}

#endif
