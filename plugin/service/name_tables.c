/* SPDX-License-Identifier: MIT */
/*
 * The names of users, cgroups, block devices, the kernel's functions and containers, which services,
 * labels and stacks have in common.
 */
#include "name_tables.h"

#include <sys/sysmacros.h>

static bool is_device_table(enum label_table table)
{
	return table == LABEL_TABLE_DEVICES || table == LABEL_TABLE_STAT_DEVICES;
}

static void want_label_table(void *of, enum label_table table)
{
	struct name_tables *tables = of;

	if (table == LABEL_TABLE_USERS)
		users_want(&tables->users);
	else if (table == LABEL_TABLE_KSYMS)
		ksyms_want(&tables->ksyms);
	else if (is_device_table(table))
		device_names_want(&tables->devices);
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
	case LABEL_TABLE_DEVICES:
		return device_name(&tables->devices, value, to, size);
	case LABEL_TABLE_STAT_DEVICES:
		value = (uint64_t)major(value) << DEVICE_MINOR_BITS | minor(value);
		return device_name(&tables->devices, value, to, size);
	default:
		return NAME_NONE;
	}
}

static enum name_state find_text_in_label_table(void *of, enum label_table table, const char *text,
						char *to, size_t size)
{
	struct name_tables *tables = of;

	return is_device_table(table) ? device_name_of_kernel(&tables->devices, text, to, size)
				      : NAME_NONE;
}

static uint64_t label_table_generation(void *of, enum label_table table)
{
	struct name_tables *tables = of;

	return is_device_table(table) ? device_names_generation(&tables->devices) : 0;
}

void name_tables_init(struct name_tables *tables)
{
	users_init(&tables->users);
	cgroup_names_init(&tables->cgroups);
	ksyms_init(&tables->ksyms);
	device_names_init(&tables->devices);
	container_names_init(&tables->containers, &tables->users);
	tables->labels = (struct label_names){
		.tables = tables,
		.want = want_label_table,
		.find = find_in_label_table,
		.find_text = find_text_in_label_table,
		.generation = label_table_generation,
	};
}

void name_tables_refresh(struct name_tables *tables, struct file_helper *files, uint64_t now_ns)
{
	cgroup_names_refresh(&tables->cgroups);
	device_names_refresh(&tables->devices, now_ns);
	users_refresh(&tables->users, files, now_ns);
	ksyms_refresh(&tables->ksyms, files, now_ns);
	container_names_refresh(&tables->containers, files);
}

void name_tables_done(struct name_tables *tables)
{
	users_done(&tables->users);
	cgroup_names_done(&tables->cgroups);
	ksyms_done(&tables->ksyms);
	device_names_done(&tables->devices);
	container_names_done(&tables->containers);
}
