/* SPDX-License-Identifier: MIT */
/*
 * The cgroups of services: for keys that the kernel gives rows to, for directories that appear and
 * vanish, and for the options Unit and Container. Files in these cgroups, by table: text_cgroups.c.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/text_file.h"

#include "plugin/cgroup/container_names.h"
#include "plugin/cgroup/service_cgroups.h"
#include "plugin/source/text_cgroups.h"
#include "plugin/source/text_files.h"
#include "plugin/util/clock.h"

#include "bpf/lib/services/service.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define ROWS 6
#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static char dir[] = "/tmp/test_service_cgroups.XXXXXX";
static struct service rows[ROWS];
static struct service_counters counters;
static char got[1024];
static uint64_t now_ns;
static struct file_helper helper;
static struct container_names containers;

static void make(const char *path)
{
	char command[512];

	snprintf(command, sizeof(command), "mkdir -p '%s'", path);
	CHECK_INT(system(command), 0);
	counters.groups++;
}

static void give_row(uint32_t row, enum group_kind kind, const char *text)
{
	memset(&rows[row], 0, sizeof(rows[row]));
	rows[row].key.kind = kind;
	memcpy(rows[row].key.text, text, strlen(text));
	rows[row].flags = text[0] ? SERVICE_USED : 0;
}

static int add_cgroup(void *to, const struct service_cgroup *cgroup)
{
	size_t length = strlen(got);

	(void)to;
	snprintf(got + length, sizeof(got) - length, "%s=%u%s ", cgroup->path, cgroup->row,
		 cgroup->is_new ? "+" : "");
	return 0;
}

static const char *found(struct service_cgroups *cgroups)
{
	service_cgroups_update(cgroups, &counters, &helper, now_ns += NS_PER_S);
	got[0] = '\0';
	CHECK_INT(service_cgroups_each(cgroups, CGROUP_UNIFIED, add_cgroup, NULL), 0);
	return got;
}

static void init(struct service_cgroups *cgroups, const struct config *config)
{
	service_cgroups_init(cgroups, config, NULL, &containers, rows, ROWS);
	service_cgroups_want(cgroups, CGROUP_UNIFIED);
	cgroups->list[CGROUP_UNIFIED].root = open(".", O_PATH | O_DIRECTORY);
}

static void test_no_cgroup(void)
{
	const struct config config = { 0 };
	struct service_cgroups cgroups;

	CASE("no cgroup");
	init(&cgroups, &config);
	CHECK_TEXT(found(&cgroups), "");
	service_cgroups_done(&cgroups);
}

static void test_rows(void)
{
	const struct config config = { 0 };
	struct service_cgroups cgroups;
	uint64_t generation;

	init(&cgroups, &config);
	make("s.slice/a.service/x");
	make("s.slice/b.service");
	CASE("no rows");
	CHECK_TEXT(found(&cgroups), "");
	CASE("rows");
	give_row(4, GROUP_UNIT, "a");
	give_row(5, GROUP_COMMAND, "b");
	CHECK_TEXT(found(&cgroups), "s.slice/a.service=4 ");
	generation = cgroups.generation;
	CHECK_TEXT(found(&cgroups), "s.slice/a.service=4 ");
	CHECK_UINT(cgroups.generation, generation);
	CASE("another directory of the same key");
	make("t.slice/a.service");
	CHECK_TEXT(found(&cgroups), "s.slice/a.service=4 t.slice/a.service=4+ ");
	CHECK_INT(cgroups.generation != generation, 1);
	CASE("a cgroup that is removed and made again");
	CHECK_INT(rename("s.slice/a.service", "gone"), 0);
	make("s.slice/a.service");
	CHECK_TEXT(found(&cgroups), "s.slice/a.service=4+ t.slice/a.service=4+ ");
	CASE("the row is another key's");
	give_row(4, GROUP_UNIT, "b");
	CHECK_INT(service_cgroups_is_row(&cgroups, 4, &(struct group_key){ GROUP_UNIT, "a" }), 0);
	CHECK_INT(service_cgroups_is_row(&cgroups, 4, &(struct group_key){ GROUP_UNIT, "b" }), 1);
	CHECK_INT(service_cgroups_is_row(&cgroups, ROWS, &(struct group_key){ GROUP_UNIT, "b" }),
		  0);
	CHECK_TEXT(found(&cgroups), "s.slice/b.service=4 ");
	give_row(4, GROUP_UNIT, "");
	CHECK_TEXT(found(&cgroups), "");
	service_cgroups_done(&cgroups);
}

static void test_walks(void)
{
	const struct config config = { 0 };
	struct service_cgroups cgroups;

	CASE("no search without a table that needs it, or without a change");
	give_row(3, GROUP_UNIT, "late");
	service_cgroups_init(&cgroups, &config, NULL, &containers, rows, ROWS);
	CHECK_TEXT(found(&cgroups), "");
	service_cgroups_done(&cgroups);
	init(&cgroups, &config);
	CHECK_TEXT(found(&cgroups), "");
	CHECK_INT(mkdir("s.slice/late.service", 0755), 0);
	CHECK_TEXT(found(&cgroups), "");
	now_ns += 60 * NS_PER_S;
	CHECK_TEXT(found(&cgroups), "s.slice/late.service=3+ ");
	CHECK_INT(service_cgroups_status(&cgroups), 0);
	service_cgroups_done(&cgroups);
	give_row(3, GROUP_UNIT, "");
}

static const char *paths(const struct text_files *files)
{
	got[0] = '\0';
	for (size_t i = 0; i < files->count; i++) {
		size_t length = strlen(got);

		if (!text_cgroup_is_stale(files, &files->file[i]))
			snprintf(got + length, sizeof(got) - length, "%s=%u%s ",
				 files->file[i].path, files->file[i].service,
				 files->file[i].begins_at_zero ? "+" : "");
	}
	return got;
}

static void test_rules(void)
{
	char *units[] = { (char *)"web@*.service", (char *)"db" };
	char *paths_of[] = { (char *)"u.slice/web@1.service/x", (char *)"u.slice" };
	char *boxes[] = { (char *)ID };
	struct service_config services[] = {
		{ .units = { units, 1 }, .cgroups = { paths_of, 1 } },
		{ .units = { units, 2 },
		  .containers = { boxes, 1 },
		  .cgroups = { &paths_of[1], 1 } },
	};
	const struct config config = { .services = services, .service_count = 2 };
	const struct file_tag tag = { .root = KERNEL_FS_CGROUP, .path = "cpu.stat" };
	struct text_files list;
	struct service_cgroups cgroups;

	make("u.slice/web@1.service/x");
	make("u.slice/db.service");
	make("docker/" ID);
	make("s.slice/b.service");
	init(&cgroups, &config);
	give_row(4, GROUP_UNIT, "b");
	CASE("Unit and Container, one of which the kernel has discovered before");
	give_row(5, GROUP_UNIT, "db");
	CHECK_TEXT(found(&cgroups), "s.slice/b.service=4 u.slice/db.service=3 "
				    "u.slice/web@1.service=2 docker/" ID "=3 ");
	CASE("files; what is below another one of the service counts there");
	CHECK_INT(text_files_init(&list, &tag, &config), 0);
	set_files_cgroups(&list, &cgroups);
	set_files_root(&list, open(".", O_PATH | O_DIRECTORY));
	CHECK_INT(text_files_update(&list), 0);
	CHECK_TEXT(paths(&list), "u.slice/cpu.stat=3+ s.slice/b.service/cpu.stat=4 "
				 "u.slice/web@1.service/cpu.stat=2 docker/" ID "/cpu.stat=3 ");
	CASE("a row that is another's now, before the next update");
	give_row(4, GROUP_UNIT, "c");
	CHECK_INT(text_files_update(&list), 0);
	CHECK_INT(strstr(paths(&list), "b.service") != NULL, 0);
	CASE("and another row of it");
	give_row(5, GROUP_UNIT, "b");
	found(&cgroups);
	CHECK_INT(text_files_update(&list), 0);
	CHECK_HAS(paths(&list), "s.slice/b.service/cpu.stat=5 ");
	text_files_done(&list);
	service_cgroups_done(&cgroups);
}

int main(void)
{
	char remove[64];

	CHECK_INT(mkdtemp(dir) != NULL && chdir(dir) == 0, 1);
	file_helper_init(&helper);
	container_names_init(&containers, NULL);
	test_no_cgroup();
	test_rows();
	test_walks();
	test_rules();
	container_names_done(&containers);
	file_helper_done(&helper);
	snprintf(remove, sizeof(remove), "rm -rf %s", dir);
	CHECK_INT(chdir("/") || system(remove), 0);
	return testing_end();
}
