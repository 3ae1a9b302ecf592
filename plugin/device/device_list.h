/* SPDX-License-Identifier: MIT */
#ifndef EBPF_DEVICE_LIST_H
#define EBPF_DEVICE_LIST_H

#include "config/config.h"
#include "config/name.h"
#include "schema/label_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEVICE_NONE UINT64_MAX
#define DEVICE_KERNEL_MAX 64 /* twice DISK_NAME_LEN of the kernel */

/* A block device or a partition. */
struct device {
	uint64_t number;                /* the kernel's dev_t; DEVICE_NONE: it has none */
	char kernel[DEVICE_KERNEL_MAX]; /* its name in /sys; empty: unknown */
	char *names[DISK_NAME_WORDS];   /* by word of DiskName, NULL: it has none; on the heap */
	size_t word;                    /* index in disk_names.word of the name that counts */
	bool awaits_udev;               /* udev has not processed it yet */
	bool awaits_name;               /* a name that counts before that one may still appear */
	char name[SUBJECT_NAME_MAX];    /* of its series, clean; empty: none */
	uint64_t since_ns;              /* when it was listed first */
	bool is_used;                   /* a label has asked for it */
	bool is_pending;                /* a later refresh finds its name, or that it has none */
	uint64_t requested;             /* after which refresh it was asked for, if not listed */
};

struct device_list {
	struct device *device;
	size_t count, room;
};

/* Appends an empty device; NULL: no memory. */
struct device *device_list_add(struct device_list *list);

/* Lists the devices of this machine, whose files are below `root` ("" is all of it), with their
 * names. No two devices have the same name. -ENOMEM, or an errno of /sys/dev/block. */
int device_list_read(struct device_list *list, const char *root, const struct disk_names *names);

void device_list_done(struct device_list *list);

#endif
