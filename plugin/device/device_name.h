/* SPDX-License-Identifier: MIT */
#ifndef EBPF_DEVICE_NAME_H
#define EBPF_DEVICE_NAME_H

#include "device_list.h"
#include "util/index.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Devices, to be found by their numbers and by their kernel names. */
struct device_table {
	struct device_list list; /* those of the machine first */
	size_t absent_count;     /* those that were removed, or never existed */
	struct index by_number, by_kernel;
};

/* The names of the block devices of this machine, and of others that labels have asked for. */
struct device_names {
	pthread_mutex_t lock; /* of the table, the number of refreshes and is_wanted */
	const char *root;     /* of the files that name devices; "" is that of the machine */
	struct disk_names words;
	bool is_wanted, is_failing;
	struct device_table table;
	uint64_t refreshes; /* that have begun */
	uint64_t
		generation; /* changes with the name of a device that a label has asked for; atomic */
};

/* Until device_names_choose() a device has its kernel name. */
void device_names_init(struct device_names *names);
void device_names_choose(struct device_names *names, const struct disk_names *words);

/* Names are needed: device_names_refresh() lists the devices from now on. */
void device_names_want(struct device_names *names);

/* Lists the devices again. After that each that was asked for has a name, or is known to have none, or
 * waits for udev, for 30 s at most. One thread at a time, which holds no lock. */
void device_names_refresh(struct device_names *names, uint64_t now_ns);

/* Writes the name of a device by its dev_t of the kernel, or by its kernel name. A device that was
 * removed keeps its name. NAME_NONE: there is no such device. NAME_PENDING: a look-up after a later
 * refresh finds its name. Any thread; opens no file. */
enum name_state device_name(struct device_names *names, uint64_t number, char *to, size_t size);
enum name_state device_name_of_kernel(struct device_names *names, const char *kernel, char *to,
				      size_t size);

/* Another number than before: devices may have other names than at an earlier look-up. */
uint64_t device_names_generation(const struct device_names *names);

void device_names_done(struct device_names *names);

#endif
