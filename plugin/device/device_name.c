/* SPDX-License-Identifier: MIT */
/*
 * Names of block devices by their numbers and by their kernel names. All devices are listed again at
 * each refresh, because a device can be renamed, and its number can become that of another one.
 *
 * The look-up opens nothing. A device that it does not find is entered, so that the next refresh
 * tells whether it exists. A device that was removed keeps its name: its rows may still be read.
 */
#include "device_name.h"

#include "util/clock.h"
#include "util/lock.h"
#include "util/message.h"

#include <stdio.h>
#include <string.h>

#define DEVICE_WAIT_NS (30 * NS_PER_S) /* at most, for a name that udev or the mapper will give */
#define DEVICES_ABSENT_MAX 4096        /* that were removed, or never existed */

void device_names_init(struct device_names *names)
{
	*names = (struct device_names){ .lock = PTHREAD_MUTEX_INITIALIZER, .root = "" };
}

void device_names_choose(struct device_names *names, const struct disk_names *words)
{
	names->words = *words;
}

void device_names_want(struct device_names *names)
{
	lock_acquire(&names->lock);
	names->is_wanted = true;
	lock_release(&names->lock);
}

/* --- the table --- */

/* A device by its number, or, if it has none, by its kernel name. */
struct device_key {
	uint64_t number;
	const char *kernel;
};

static bool has_number(const void *of, uint32_t i, const void *wanted)
{
	const struct device_key *key = wanted;

	return ((const struct device *)of)[i].number == key->number;
}

static bool has_kernel_name(const void *of, uint32_t i, const void *wanted)
{
	const struct device_key *key = wanted;

	return !strcmp(((const struct device *)of)[i].kernel, key->kernel);
}

static uint64_t hash_number(const struct device_table *table, uint64_t number)
{
	return index_hash(&table->by_number, 0, &number, sizeof(number));
}

static uint64_t hash_kernel_name(const struct device_table *table, const char *kernel)
{
	return index_hash(&table->by_kernel, 0, kernel, strlen(kernel));
}

static void index_device(struct device_table *table, uint32_t i)
{
	const struct device *device = &table->list.device[i];

	if (device->number != DEVICE_NONE)
		index_add(&table->by_number, hash_number(table, device->number), i);
	if (device->kernel[0])
		index_add(&table->by_kernel, hash_kernel_name(table, device->kernel), i);
}

static int index_devices(struct device_table *table)
{
	size_t most = table->list.count + DEVICES_ABSENT_MAX;
	int status = index_init(&table->by_number, most) ?: index_init(&table->by_kernel, most);

	for (uint32_t i = 0; i < table->list.count && status == 0; i++)
		index_device(table, i);
	return status;
}

/* Not before the first refresh. */
static bool is_indexed(const struct device_table *table)
{
	return table->by_kernel.slot;
}

/* NULL: it is not in the table. */
static struct device *find_device(const struct device_table *table, const struct device_key *key)
{
	uint32_t i;

	if (!is_indexed(table))
		return NULL;
	if (key->number == DEVICE_NONE)
		i = index_find(&table->by_kernel, hash_kernel_name(table, key->kernel),
			       has_kernel_name, table->list.device, key);
	else
		i = index_find(&table->by_number, hash_number(table, key->number), has_number,
			       table->list.device, key);
	return i == INDEX_NONE ? NULL : &table->list.device[i];
}

/* NULL: there are too many, or no memory. */
static struct device *add_absent_device(struct device_table *table, const struct device_key *key)
{
	struct device *device = NULL;

	if (table->absent_count < DEVICES_ABSENT_MAX)
		device = device_list_add(&table->list);
	if (!device)
		return NULL;
	table->absent_count++;
	device->number = key->number;
	snprintf(device->kernel, sizeof(device->kernel), "%s", key->kernel);
	index_device(table, (uint32_t)(table->list.count - 1));
	return device;
}

static void device_table_done(struct device_table *table)
{
	device_list_done(&table->list);
	index_done(&table->by_number);
	index_done(&table->by_kernel);
}

/* --- looking up --- */

static struct device *request_device_name(struct device_names *names, const struct device_key *key)
{
	struct device *device = add_absent_device(&names->table, key);

	if (device) {
		device->is_pending = true;
		device->requested = names->refreshes;
	}
	return device;
}

static enum name_state find_indexed_name(struct device_names *names, const struct device_key *key,
					 char *to, size_t size)
{
	struct device *device = find_device(&names->table, key) ?: request_device_name(names, key);

	if (!device)
		return NAME_NONE;
	device->is_used = true;
	if (device->is_pending)
		return NAME_PENDING;
	if (!device->name[0])
		return NAME_NONE;
	snprintf(to, size, "%s", device->name);
	return NAME_FOUND;
}

static enum name_state find_device_name(struct device_names *names, const struct device_key *key,
					char *to, size_t size)
{
	enum name_state state = NAME_PENDING;

	lock_acquire(&names->lock);
	if (is_indexed(&names->table))
		state = find_indexed_name(names, key, to, size);
	lock_release(&names->lock);
	return state;
}

enum name_state device_name(struct device_names *names, uint64_t number, char *to, size_t size)
{
	return find_device_name(names, &(struct device_key){ number, "" }, to, size);
}

enum name_state device_name_of_kernel(struct device_names *names, const char *kernel, char *to,
				      size_t size)
{
	return find_device_name(names, &(struct device_key){ DEVICE_NONE, kernel }, to, size);
}

uint64_t device_names_generation(const struct device_names *names)
{
	return __atomic_load_n(&names->generation, __ATOMIC_ACQUIRE);
}

/* --- refreshing --- */

/* Returns the number of the refresh; 0: no label wants names. */
static uint64_t begin_refresh(struct device_names *names)
{
	uint64_t refresh;

	lock_acquire(&names->lock);
	names->refreshes += names->is_wanted;
	refresh = names->refreshes;
	lock_release(&names->lock);
	return refresh;
}

static void log_device_list(struct device_names *names, int status)
{
	if (status && !names->is_failing)
		message(LOG_WARNING,
			"cannot list block devices in /sys/dev/block: %s; devices that are new have "
			"numbers for names until that works",
			strerror(-status));
	names->is_failing = status != 0;
}

/* Of devices that were listed before, it is known since when, and whether labels have asked for
 * them. */
static void continue_listed(struct device_table *now, const struct device_table *before,
			    uint64_t now_ns)
{
	for (size_t i = 0; i < now->list.count; i++) {
		struct device *device = &now->list.device[i];
		const struct device_key key = { device->number, device->kernel };
		const struct device *old = find_device(before, &key);

		device->since_ns = old && old->since_ns ? old->since_ns : now_ns;
		device->is_used = old && old->is_used;
		device->is_pending =
			device->awaits_name && now_ns - device->since_ns < DEVICE_WAIT_NS;
	}
}

static void continue_absent(struct device_table *now, const struct device *old, uint64_t refresh)
{
	const struct device_key key = { old->number, old->kernel };
	struct device *device = add_absent_device(now, &key);

	if (!device)
		return;
	memcpy(device->name, old->name, sizeof(device->name));
	device->is_used = true;
	device->requested = old->requested;
	/* If it was asked for when listing had begun, the list does not tell. */
	device->is_pending = old->is_pending && old->requested == refresh;
}

/* Has a device that a label has asked for another name than before? */
static bool continue_used(struct device_table *now, const struct device_table *before,
			  uint64_t refresh)
{
	bool any = false;

	for (size_t i = 0; i < before->list.count; i++) {
		const struct device *old = &before->list.device[i], *device;
		const struct device_key key = { old->number, old->kernel };

		if (!old->is_used)
			continue;
		device = find_device(now, &key);
		if (device)
			any |= !old->is_pending && strcmp(old->name, device->name) != 0;
		else
			continue_absent(now, old, refresh);
	}
	return any;
}

static void replace_table(struct device_names *names, struct device_table *now, uint64_t refresh,
			  uint64_t now_ns)
{
	struct device_table before;
	bool is_renamed;

	lock_acquire(&names->lock);
	before = names->table;
	continue_listed(now, &before, now_ns);
	is_renamed = continue_used(now, &before, refresh);
	names->table = *now;
	__atomic_fetch_add(&names->generation, is_renamed, __ATOMIC_RELEASE);
	lock_release(&names->lock);
	device_table_done(&before);
}

void device_names_refresh(struct device_names *names, uint64_t now_ns)
{
	uint64_t refresh = begin_refresh(names);
	struct device_table now = { .absent_count = 0 };
	int status;

	if (!refresh)
		return;
	lock_assert_none("names of block devices");
	status = device_list_read(&now.list, names->root, &names->words);
	log_device_list(names, status);
	if (status)
		device_list_done(&now.list);
	if (index_devices(&now))
		device_table_done(&now);
	else
		replace_table(names, &now, refresh, now_ns);
}

void device_names_done(struct device_names *names)
{
	device_table_done(&names->table);
	device_names_init(names);
}
