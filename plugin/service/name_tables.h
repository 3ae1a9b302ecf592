/* SPDX-License-Identifier: MIT */
#ifndef EBPF_NAME_TABLES_H
#define EBPF_NAME_TABLES_H

#include "cgroup/cgroup_name.h"
#include "cgroup/container_names.h"
#include "cgroup/user.h"
#include "device/device_name.h"
#include "helper/file.h"
#include "helper/ksym.h"
#include "schema/label_names.h"

#include <stdint.h>

struct name_tables {
	struct users users;
	struct cgroup_names cgroups;
	struct ksyms ksyms;
	struct device_names devices;
	struct container_names containers; /* of the thread that refreshes them only */
	struct label_names labels;         /* the others, as labels ask for them */
};

void name_tables_init(struct name_tables *tables);

/* Reads what is wanted and due; now_ns of CLOCK_BOOTTIME. One thread at a time. */
void name_tables_refresh(struct name_tables *tables, struct file_helper *files, uint64_t now_ns);

void name_tables_done(struct name_tables *tables);

#endif
