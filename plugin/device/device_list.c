/* SPDX-License-Identifier: MIT */
/*
 * The block devices of the machine and the names that they have: the kernel's, that of a
 * device-mapper volume in /sys, and links that udev or mdadm make in /dev.
 *
 * Of the links of a device in /dev/disk/by-id, the one counts that stays longest: a number that the
 * device itself has (wwn, nvme-eui, nvme-uuid) is the same behind any controller and driver; then
 * come those with model and serial number. Of two links of a kind the first in the order of bytes
 * counts.
 */
#include "device_list.h"

#include "util/kernel_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEVICES_MAX 65536 /* a limit that no machine reaches */

/* Prefixes of links in /dev/disk/by-id, best first. */
static const char *const id_kinds[] = { "wwn-",     "nvme-eui.", "nvme-uuid.", "dm-uuid-",
					"md-uuid-", "nvme-",     "scsi-",      "ata-" };

static bool has_prefix(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static unsigned device_major(const struct device *device)
{
	return (unsigned)(device->number >> DEVICE_MINOR_BITS);
}

static unsigned device_minor(const struct device *device)
{
	return (unsigned)device->number & ((1U << DEVICE_MINOR_BITS) - 1);
}

static DIR *open_device_directory(const char *root, const char *path)
{
	char all[PATH_MAX];

	snprintf(all, sizeof(all), "%s/%s", root, path);
	return opendir(all);
}

/* --- the list --- */

struct device *device_list_add(struct device_list *list)
{
	size_t room = list->room ? 2 * list->room : 64;
	struct device *grown;

	if (list->count == list->room) {
		grown = reallocarray(list->device, room, sizeof(*grown));
		if (!grown)
			return NULL;
		list->device = grown;
		list->room = room;
	}
	list->device[list->count] = (struct device){ .number = DEVICE_NONE };
	return &list->device[list->count++];
}

static void free_device_names(struct device *device)
{
	for (size_t i = 0; i < DISK_NAME_WORDS; i++) {
		free(device->names[i]);
		device->names[i] = NULL;
	}
}

void device_list_done(struct device_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free_device_names(&list->device[i]);
	free(list->device);
	*list = (struct device_list){ 0 };
}

static int compare_kernel_names(const void *left, const void *right)
{
	const struct device *a = left, *b = right;

	return strcmp(a->kernel, b->kernel);
}

/* The kernel has '!' in /sys where the path below /dev has a slash. */
static void set_kernel_name(struct device *device, const char *path)
{
	snprintf(device->kernel, sizeof(device->kernel), "%.*s", DEVICE_KERNEL_MAX - 1, path);
	for (char *at = device->kernel; *at; at++)
		if (*at == '/')
			*at = '!';
}

/* Reads where a link leads; false: it is none, or too long. */
static bool read_link(int directory, const char *name, char path[PATH_MAX])
{
	ssize_t length = readlinkat(directory, name, path, PATH_MAX);

	if (length <= 0 || length == PATH_MAX)
		return false;
	path[length] = '\0';
	return true;
}

/* An entry of /sys/dev/block, such as "8:0", which links to the device's directory. */
static int add_device(struct device_list *list, int directory, const char *entry)
{
	char path[PATH_MAX], excess;
	unsigned major, minor;
	struct device *device;

	if (sscanf(entry, "%u:%u%c", &major, &minor, &excess) != 2 ||
	    !read_link(directory, entry, path))
		return 0;
	device = device_list_add(list);
	if (!device)
		return -ENOMEM;
	device->number = (uint64_t)major << DEVICE_MINOR_BITS | minor;
	set_kernel_name(device, strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	return 0;
}

static int list_devices(struct device_list *list, const char *root)
{
	DIR *directory = open_device_directory(root, "sys/dev/block");
	struct dirent *entry;
	int status = 0;

	if (!directory)
		return -errno;
	while (status == 0 && list->count < DEVICES_MAX && (entry = readdir(directory)))
		status = add_device(list, dirfd(directory), entry->d_name);
	closedir(directory);
	if (list->count)
		qsort(list->device, list->count, sizeof(*list->device), compare_kernel_names);
	return status;
}

/* --- names --- */

static bool is_mapped_device(const struct device *device)
{
	return has_prefix(device->kernel, "dm-");
}

static int read_mapper_name(struct device *device, const char *root)
{
	char path[PATH_MAX], text[256];
	ssize_t length;

	snprintf(path, sizeof(path), "%s/sys/dev/block/%u:%u/dm/name", root, device_major(device),
		 device_minor(device));
	length = kernel_file_read(path, text, sizeof(text));
	if (length <= 0)
		return 0;
	text[length - (text[length - 1] == '\n')] = '\0';
	device->names[DISK_NAME_DM] = strdup(text);
	return device->names[DISK_NAME_DM] ? 0 : -ENOMEM;
}

static int read_mapper_names(struct device_list *list, const char *root)
{
	int status = 0;

	for (size_t i = 0; i < list->count && status == 0; i++)
		if (is_mapped_device(&list->device[i]))
			status = read_mapper_name(&list->device[i], root);
	return status;
}

static size_t id_kind(const char *link)
{
	size_t i = 0;

	while (i < sizeof(id_kinds) / sizeof(*id_kinds) && !has_prefix(link, id_kinds[i]))
		i++;
	return i;
}

static bool is_better_link(const char *link, const char *than)
{
	size_t a, b;

	if (!than)
		return true;
	a = id_kind(link);
	b = id_kind(than);
	return a != b ? a < b : strcmp(link, than) < 0;
}

/* NULL: it is not listed. */
static struct device *find_linked_device(const struct device_list *list, const char *path)
{
	struct device wanted;

	while (has_prefix(path, "../"))
		path += strlen("../");
	set_kernel_name(&wanted, has_prefix(path, "/dev/") ? path + strlen("/dev/") : path);
	return list->count ? bsearch(&wanted, list->device, list->count, sizeof(wanted),
				     compare_kernel_names)
			   : NULL;
}

static int add_link(const struct device_list *list, int directory, const char *link,
		    enum disk_name_word word)
{
	struct device *device;
	char path[PATH_MAX], *name;

	if (!read_link(directory, link, path))
		return 0;
	device = find_linked_device(list, path);
	if (!device || !is_better_link(link, device->names[word]))
		return 0;
	name = strdup(link);
	if (!name)
		return -ENOMEM;
	free(device->names[word]);
	device->names[word] = name;
	return 0;
}

/* A directory that does not exist has no links. */
static int read_links(struct device_list *list, const char *root, const char *path,
		      enum disk_name_word word)
{
	DIR *directory = open_device_directory(root, path);
	struct dirent *entry;
	int status = 0;

	while (directory && status == 0 && (entry = readdir(directory)))
		status = add_link(list, dirfd(directory), entry->d_name, word);
	if (directory)
		closedir(directory);
	return status;
}

static int read_names(struct device_list *list, const char *root, const struct disk_names *names)
{
	int status = 0;

	for (size_t i = 0; i < names->count && status == 0; i++)
		if (names->word[i] == DISK_NAME_DM)
			status = read_mapper_names(list, root);
		else if (names->word[i] == DISK_NAME_MD)
			status = read_links(list, root, "dev/md", DISK_NAME_MD);
		else if (names->word[i] == DISK_NAME_BY_ID)
			status = read_links(list, root, "dev/disk/by-id", DISK_NAME_BY_ID);
	return status;
}

/* --- choosing --- */

/* Can a link of this word lead to the device? */
static bool may_be_linked(const struct device *device, enum disk_name_word word)
{
	return word == DISK_NAME_BY_ID ||
	       (word == DISK_NAME_MD && has_prefix(device->kernel, "md"));
}

/* Notes which devices udev has not processed yet, before links are read: afterwards it could have made
 * one meanwhile. Without udev there is nothing to wait for. */
static void note_udev(struct device_list *list, const char *root, const struct disk_names *names)
{
	DIR *directory = open_device_directory(root, "run/udev/data");

	for (size_t i = 0; directory && i < list->count; i++) {
		struct device *device = &list->device[i];
		char entry[32];

		snprintf(entry, sizeof(entry), "b%u:%u", device_major(device),
			 device_minor(device));
		for (size_t k = 0; k < names->count && !device->awaits_udev; k++)
			device->awaits_udev = may_be_linked(device, names->word[k]) &&
					      faccessat(dirfd(directory), entry, F_OK, 0) != 0;
	}
	if (directory)
		closedir(directory);
}

static enum disk_name_word word_of_device(const struct device *device,
					  const struct disk_names *names)
{
	return device->word < names->count ? names->word[device->word] : DISK_NAME_KERNEL;
}

/* Chooses the first name that it has, from a word on. */
static void choose_name(struct device *device, const struct disk_names *names, size_t from)
{
	enum disk_name_word word;

	for (device->word = from;; device->word++) {
		word = word_of_device(device, names);
		if (word == DISK_NAME_KERNEL || device->names[word])
			break;
		device->awaits_name |= word == DISK_NAME_DM
					       ? is_mapped_device(device)
					       : device->awaits_udev && may_be_linked(device, word);
	}
	name_clean(device->name, sizeof(device->name),
		   word == DISK_NAME_KERNEL ? device->kernel : device->names[word]);
}

static int compare_device_names(const void *left, const void *right)
{
	const char *a = (*(struct device *const *)left)->name;
	const char *b = (*(struct device *const *)right)->name;

	for (; *a && name_fold(*a) == name_fold(*b); a++)
		b++;
	return name_fold(*a) - name_fold(*b);
}

/* Of devices with the same name each gets its next one. The kernel's name, the last one, stays. */
static bool separate_same(struct device **same, size_t count, const struct disk_names *names)
{
	bool any = false;

	for (size_t i = 0; i < count && count > 1; i++) {
		if (word_of_device(same[i], names) == DISK_NAME_KERNEL)
			continue;
		choose_name(same[i], names, same[i]->word + 1);
		any = true;
	}
	return any;
}

/* `order` has all devices. False: all names differ. */
static bool separate_names(struct device **order, size_t count, const struct disk_names *names)
{
	bool any = false;

	qsort(order, count, sizeof(*order), compare_device_names);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count; end++)
			if (compare_device_names(&order[i], &order[end]))
				break;
		any |= separate_same(order + i, end - i, names);
	}
	return any;
}

static int choose_names(struct device_list *list, const struct disk_names *names)
{
	struct device **order = calloc(list->count + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < list->count; i++) {
		order[i] = &list->device[i];
		choose_name(order[i], names, 0);
	}
	while (separate_names(order, list->count, names))
		;
	free(order);
	return 0;
}

int device_list_read(struct device_list *list, const char *root, const struct disk_names *names)
{
	int status = list_devices(list, root);

	if (status)
		return status;
	note_udev(list, root, names);
	return read_names(list, root, names) ?: choose_names(list, names);
}
