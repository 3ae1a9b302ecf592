/* SPDX-License-Identifier: MIT */
/*
 * Names of block devices, from the files that name them: those of tests/unit/state/devices, and what
 * becomes of names when devices come, go and are renamed.
 */
#include "tests/unit/scratch_directory.h"
#include "tests/unit/testing.h"

#include "plugin/device/device_name.h"
#include "plugin/util/clock.h"

#include <unistd.h>

#define NUMBER(major, minor) ((uint64_t)(major) << DEVICE_MINOR_BITS | (minor))

static const struct disk_names standard = { { DISK_NAME_DM, DISK_NAME_MD }, 2 };
static const struct disk_names kernel = { { DISK_NAME_KERNEL }, 1 };
static const struct disk_names by_id = { { DISK_NAME_BY_ID, DISK_NAME_DM, DISK_NAME_KERNEL }, 3 };
static const struct disk_names dm_by_id = { { DISK_NAME_DM, DISK_NAME_BY_ID }, 2 };

static struct device_names names;
static uint64_t now_s;

/* --- the files --- */

static void make_directories(const char *path)
{
	char command[1024];

	snprintf(command, sizeof(command), "mkdir -p '%.*s'", (int)(strrchr(path, '/') - path),
		 path);
	if (system(command))
		abort();
}

static void give_link(const char *name, const char *path_there)
{
	const char *path = scratch_path(name);

	make_directories(path);
	unlink(path);
	if (symlink(path_there, path))
		abort();
}

static void give_file(const char *name, const char *text)
{
	char line[256];

	snprintf(line, sizeof(line), "%s\n", text);
	make_directories(scratch_path(name));
	scratch_write(name, line);
}

static void remove_link(const char *name)
{
	if (unlink(scratch_path(name)))
		abort();
}

/* The device directory of a mapped device is below its link in /sys/dev/block. */
static void give_device(unsigned major, unsigned minor, const char *name, const char *mapped)
{
	char path[256], path_there[256];

	snprintf(path, sizeof(path), "sys/devices/virtual/block/%s/dm/name", name);
	if (mapped)
		give_file(path, mapped);
	snprintf(path, sizeof(path), "sys/dev/block/%u:%u", major, minor);
	snprintf(path_there, sizeof(path_there), "../../devices/virtual/block/%s", name);
	give_link(path, path_there);
}

static void give_recorded(void)
{
	const char *source = getenv("abs_top_srcdir") ?: ".";
	char path[512], line[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/tests/unit/state/devices", source);
	file = fopen(path, "r");
	if (!file)
		abort();
	while (fgets(line, sizeof(line), file)) {
		char name[256], value[256];

		if (sscanf(line, "%255s -> %255s", name, value) == 2)
			give_link(name, value);
		else if (line[0] != '#' && sscanf(line, "%255s = %255s", name, value) == 2)
			give_file(name, value);
	}
	fclose(file);
}

static void begin(const struct disk_names *words)
{
	scratch_begin();
	device_names_init(&names);
	names.root = scratch;
	device_names_choose(&names, words);
	device_names_want(&names);
}

static void end(void)
{
	device_names_done(&names);
	scratch_end();
}

static void refresh(void)
{
	device_names_refresh(&names, ++now_s * NS_PER_S);
}

/* Its name; "pending" or "none". */
static const char *text_of(enum name_state state, const char *name)
{
	return state == NAME_FOUND ? name : state == NAME_PENDING ? "pending" : "none";
}

static const char *name_of(unsigned major, unsigned minor)
{
	static char name[SUBJECT_NAME_MAX];

	return text_of(device_name(&names, NUMBER(major, minor), name, sizeof(name)), name);
}

static const char *name_of_kernel(const char *kernel_name)
{
	static char name[SUBJECT_NAME_MAX];

	return text_of(device_name_of_kernel(&names, kernel_name, name, sizeof(name)), name);
}

/* --- tests --- */

static void test_recorded(void)
{
	static const struct {
		const char *kernel, *standard, *by_id, *dm_by_id;
	} cases[] = {
		{ "vda", "vda", "virtio-root", "virtio-root" },
		{ "nvme0n1", "nvme0n1", "nvme-uuid.9f2d4a6c-1f33-4b1c-8f0f-6b2f7c0f4d11", NULL },
		{ "loop0", "loop0", "loop0", "loop0" },
		{ "sda", "sda", "wwn-0x5000c500a1b2c3d4", "wwn-0x5000c500a1b2c3d4" },
		{ "sda1", "sda1", "wwn-0x5000c500a1b2c3d4-part1", NULL },
		{ "sdb", "sdb", "ata-QEMU_HARDDISK_QM00002", NULL },
		{ "dm-0", "vg0-root", "dm-uuid-LVM-Hk2vSdGf", "vg0-root" },
		{ "dm-1", "luks-home", "dm-name-luks-home", "luks-home" },
		{ "md127", "data", "md-uuid-6f1c3f5e:9a8b7c6d:5e4f3a2b:1c0d9e8f", NULL },
		{ "md127p1", "data1", "md127p1", NULL },
		{ "cciss!c0d0", "cciss_c0d0", "cciss-3600508b1001030364", NULL },
		{ "nvme0c0n1", "none", "none", "none" },
	};
	const struct disk_names *const words[] = { &kernel, &standard, &by_id, &dm_by_id };

	for (size_t w = 0; w < COUNT_OF(words); w++) {
		begin(words[w]);
		give_recorded();
		refresh();
		for (size_t i = 0; i < COUNT_OF(cases); i++)
			name_of_kernel(cases[i].kernel);
		refresh();
		for (size_t i = 0; i < COUNT_OF(cases); i++) {
			/* No series has an exclamation mark in its name. */
			bool has_other = strchr(cases[i].kernel, '!') != NULL;
			const char *const wants[] = { has_other ? cases[i].standard
								: cases[i].kernel,
						      cases[i].standard, cases[i].by_id,
						      cases[i].dm_by_id };

			CASE("%s, words %zu", cases[i].kernel, w);
			if (wants[w] && (w || i + 1 < COUNT_OF(cases)))
				CHECK_TEXT(name_of_kernel(cases[i].kernel), wants[w]);
		}
		end();
	}
}

/* A name is known after the first refresh; a device that is unknown then has none. */
static void test_pending(void)
{
	begin(&standard);
	give_device(8, 0, "sda", NULL);
	CASE("before the first refresh");
	CHECK_TEXT(name_of(8, 0), "pending");
	CHECK_TEXT(name_of_kernel("sda"), "pending");
	refresh();
	CHECK_TEXT(name_of(8, 0), "sda");
	CHECK_TEXT(name_of_kernel("sda"), "sda");
	CASE("a new device");
	give_device(253, 0, "dm-0", "vg0-root");
	CHECK_TEXT(name_of(253, 0), "pending");
	CHECK_TEXT(name_of_kernel("dm-0"), "pending");
	CHECK_TEXT(name_of(0, 31), "pending");
	refresh();
	CHECK_TEXT(name_of(253, 0), "vg0-root");
	CHECK_TEXT(name_of_kernel("dm-0"), "vg0-root");
	CHECK_TEXT(name_of(0, 31), "none");
	CHECK_UINT(device_names_generation(&names), 0);
	CASE("a number that becomes a device's");
	give_device(0, 31, "sdx", NULL);
	refresh();
	CHECK_TEXT(name_of(0, 31), "sdx");
	CHECK_UINT(device_names_generation(&names), 1);
	end();
}

/* A device keeps its name after its end, until another one has its number. */
static void test_changes(void)
{
	begin(&standard);
	give_device(253, 0, "dm-0", "vg0-root");
	give_device(253, 1, "dm-1", "vg0-home");
	refresh();
	CHECK_TEXT(name_of(253, 0), "vg0-root");
	CASE("of a device that no label asks for");
	give_device(253, 1, "dm-1", "vg0-srv");
	refresh();
	CHECK_UINT(device_names_generation(&names), 0);
	CASE("renamed");
	give_device(253, 0, "dm-0", "vg0-boot");
	refresh();
	CHECK_TEXT(name_of(253, 0), "vg0-boot");
	CHECK_UINT(device_names_generation(&names), 1);
	CASE("removed");
	remove_link("sys/dev/block/253:0");
	for (int i = 0; i < 3; i++)
		refresh();
	CHECK_TEXT(name_of(253, 0), "vg0-boot");
	CHECK_UINT(device_names_generation(&names), 1);
	CASE("its name is that of another one");
	give_device(253, 2, "dm-2", "vg0-boot");
	refresh();
	CHECK_TEXT(name_of(253, 2), "vg0-boot");
	CASE("its number is that of another one");
	give_device(253, 0, "dm-0", "vg0-tmp");
	refresh();
	CHECK_TEXT(name_of(253, 0), "vg0-tmp");
	CHECK_UINT(device_names_generation(&names), 2);
	end();
}

/* A device without its name is named after udev has processed it, or some time later. */
static void test_udev(void)
{
	begin(&standard);
	CASE("without udev");
	give_device(9, 127, "md127", NULL);
	refresh();
	CHECK_TEXT(name_of(9, 127), "md127");
	CASE("udev has yet to make the link");
	give_file("run/udev/data/b8:0", "E:ID_BUS=ata");
	give_device(9, 126, "md126", NULL);
	give_device(8, 16, "sdb", NULL);
	refresh();
	CHECK_TEXT(name_of(9, 126), "pending");
	CHECK_TEXT(name_of(8, 16), "sdb");
	give_link("dev/md/data", "../md126");
	give_file("run/udev/data/b9:126", "E:MD_DEVNAME=data");
	refresh();
	CHECK_TEXT(name_of(9, 126), "data");
	CASE("udev makes no link");
	give_device(9, 125, "md125", NULL);
	refresh();
	CHECK_TEXT(name_of(9, 125), "pending");
	give_file("run/udev/data/b9:125", "E:MD_LEVEL=raid1");
	refresh();
	CHECK_TEXT(name_of(9, 125), "md125");
	CASE("udev does nothing");
	give_device(9, 124, "md124", NULL);
	give_device(253, 0, "dm-0", NULL);
	refresh();
	CHECK_TEXT(name_of(9, 124), "pending");
	CHECK_TEXT(name_of(253, 0), "pending");
	now_s += 30;
	refresh();
	CHECK_TEXT(name_of(9, 124), "md124");
	CHECK_TEXT(name_of(253, 0), "dm-0");
	end();
}

/* Devices of one name get their next one. */
static void test_same(void)
{
	begin(&dm_by_id);
	CASE("of volumes");
	give_device(253, 0, "dm-0", "a.b");
	give_device(253, 1, "dm-1", "a/b");
	give_device(253, 2, "dm-2", "a-b");
	CASE("of a volume and a disk");
	give_device(253, 3, "dm-3", "sda");
	give_link("dev/disk/by-id/dm-uuid-CRYPT-1", "../../dm-3");
	give_device(8, 0, "sda", NULL);
	refresh();
	CHECK_TEXT(name_of(253, 0), "dm-0");
	CHECK_TEXT(name_of(253, 1), "dm-1");
	CHECK_TEXT(name_of(253, 2), "a-b");
	CHECK_TEXT(name_of(253, 3), "dm-uuid-CRYPT-1");
	CHECK_TEXT(name_of(8, 0), "sda");
	CASE("of one that was named so");
	give_link("dev/disk/by-id/wwn-1", "../../sdb");
	give_device(8, 16, "sdb", NULL);
	refresh();
	CHECK_TEXT(name_of(8, 16), "wwn-1");
	give_device(253, 4, "dm-4", "sdb");
	refresh();
	CHECK_TEXT(name_of(253, 4), "sdb");
	CASE("of one that gets its next name");
	give_device(253, 5, "dm-5", "wwn-1");
	refresh();
	CHECK_TEXT(name_of(253, 5), "dm-5");
	CHECK_TEXT(name_of(8, 16), "sdb");
	CHECK_TEXT(name_of(253, 4), "dm-4");
	end();
}

/* Links that lead elsewhere, entries that are no devices, and labels that ask for anything. */
static void test_nonsense(void)
{
	begin(&by_id);
	give_device(8, 0, "sda", NULL);
	give_link("sys/dev/block/8:1x", "../../devices/sdc");
	give_file("sys/dev/block/8:2", "sdd");
	give_link("dev/disk/by-id/wwn-1", "/etc/passwd");
	give_link("dev/disk/by-id/wwn-2", "../../../../sda/..");
	give_link("dev/disk/by-id/wwn-3", "/dev/sda");
	give_link("sys/dev/block/8:3", "sde");
	refresh();
	CHECK_TEXT(name_of(8, 0), "wwn-3");
	CHECK_TEXT(name_of(8, 3), "sde");
	for (unsigned i = 0; i < 5000; i++)
		name_of(1, i);
	refresh();
	CHECK_TEXT(name_of(1, 0), "none");
	CHECK_TEXT(name_of(1, 4999), "none");
	CHECK_TEXT(name_of_kernel(""), "none");
	CHECK_TEXT(name_of(8, 0), "wwn-3");
	CASE("nothing can be listed");
	remove_link("sys/dev/block/8:2");
	remove_link("sys/dev/block/8:1x");
	remove_link("sys/dev/block/8:3");
	remove_link("sys/dev/block/8:0");
	if (rmdir(scratch_path("sys/dev/block")))
		abort();
	refresh();
	CHECK_TEXT(name_of(8, 0), "wwn-3");
	end();
}

int main(void)
{
	test_recorded();
	test_pending();
	test_changes();
	test_udev();
	test_same();
	test_nonsense();
	return testing_end();
}
