/* SPDX-License-Identifier: MIT */
/*
 * The names of users, cgroups, the kernel's functions and containers, which services, labels and stacks
 * have in common.
 */
#include "name_tables.h"

static void want_label_table(void *of, enum label_table table)
{
	struct name_tables *tables = of;

	if (table == LABEL_TABLE_USERS)
		users_want(&tables->users);
	else if (table == LABEL_TABLE_KSYMS)
		ksyms_want(&tables->ksyms);
}

static enum name_state find_in_label_table(void *of, enum label_table table, uint64_t value,
					   char *to, size_t size)
{
	struct name_tables *tables = of;

	switch (table) {
	case LABEL_TABLE_USERS:
		return user_name(&tables->users, value, to, size) ? NAME_FOUND : NAME_NONE;
	case LABEL_TABLE_CGROUPS:
		return cgroup_name(&tables->cgroups, value, to, size);
	case LABEL_TABLE_KSYMS:
		return ksym_name(&tables->ksyms, value, to, size) ? NAME_FOUND : NAME_NONE;
	default:
		return NAME_NONE;
	}
}

void name_tables_init(struct name_tables *tables)
{
	users_init(&tables->users);
	cgroup_names_init(&tables->cgroups);
	ksyms_init(&tables->ksyms);
	container_names_init(&tables->containers, &tables->users);
	tables->labels = (struct label_names){
		.tables = tables,
		.want = want_label_table,
		.find = find_in_label_table,
	};
}

void name_tables_refresh(struct name_tables *tables, struct file_helper *files, uint64_t now_ns)
{
	cgroup_names_refresh(&tables->cgroups);
	users_refresh(&tables->users, files, now_ns);
	ksyms_refresh(&tables->ksyms, files, now_ns);
	container_names_refresh(&tables->containers, files);
}

void name_tables_done(struct name_tables *tables)
{
	users_done(&tables->users);
	cgroup_names_done(&tables->cgroups);
	ksyms_done(&tables->ksyms);
	container_names_done(&tables->containers);
}
