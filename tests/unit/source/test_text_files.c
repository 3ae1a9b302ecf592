/* SPDX-License-Identifier: MIT */
/*
 * Files of tables, which appear, vanish and are replaced under their names.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/text_file.h"

#include "plugin/source/text_files.h"

#include "bpf/lib/services/service.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static char dir[] = "/tmp/test_text_files.XXXXXX";

/* Replaces a file by another one. */
static void put(const char *path, const char *text)
{
	char next[64];
	int fd;

	snprintf(next, sizeof(next), "%s.next", path);
	fd = open(next, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	CHECK_INT(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), 1);
	CHECK_INT(rename(next, path), 0);
	close(fd);
}

/* The content of a file, or the error; preceded by "new " if the file is. */
static const char *said(struct text_files *files, struct text_file *file)
{
	static char got[128];
	struct kernel_text text = { 0 };
	ssize_t length = text_file_read(files, file, &text, 100);

	if (length < 0)
		snprintf(got, sizeof(got), "%s", strerrorname_np((int)-length));
	else
		snprintf(got, sizeof(got), "%s%.*s", file->is_new ? "new " : "", (int)length,
			 text.bytes);
	kernel_text_done(&text);
	return got;
}

static void init(struct text_files *files, const struct file_tag *tag, const struct config *config)
{
	CHECK_INT(text_files_init(files, tag, config), 0);
	set_files_root(files, open(".", O_PATH | O_DIRECTORY));
	CHECK_INT(text_files_update(files), 0);
}

static void test_one(void)
{
	const struct file_tag tag = { .path = "one" };
	struct text_files files;
	uint64_t number;

	init(&files, &tag, NULL);
	CHECK_UINT(files.count, 1);
	CASE("not there");
	CHECK_TEXT(said(&files, files.file), "ENOENT");
	CASE("there");
	put("one", "1");
	CHECK_TEXT(said(&files, files.file), "new 1");
	CHECK_TEXT(said(&files, files.file), "1");
	CHECK_INT(files.file->fd >= 0, 1);
	number = files.file->number;
	CASE("another one, after what was open said so");
	put("one", "2");
	close(files.file->fd);
	CHECK_INT(open("/", O_RDONLY), files.file->fd); /* a read of it fails */
	CHECK_TEXT(said(&files, files.file), "new 2");
	CHECK_INT(files.file->number != number, 1);
	CHECK_TEXT(said(&files, files.file), "2");
	text_files_done(&files);
}

static const char *matches(const struct text_files *files)
{
	static char got[256];

	got[0] = '\0';
	for (size_t i = 0; i < files->count; i++) {
		const struct text_file *file = &files->file[i];
		size_t length = strlen(got);

		snprintf(got + length, sizeof(got) - length, "%.*s=%s ", (int)file->match_length,
			 file->match, file->path);
	}
	return got;
}

static bool has(const struct text_files *files, const char *text)
{
	return strstr(matches(files), text) != NULL;
}

static void test_glob(void)
{
	const struct file_tag tag = { .path = "devices/sd*/stat" };
	struct text_files files;
	unsigned open;

	CHECK_INT(mkdir("devices", 0755) || mkdir("devices/sda", 0755) ||
			  mkdir("devices/sdb", 0755) || mkdir("devices/loop0", 0755),
		  0);
	put("devices/sda/stat", "a");
	put("devices/sdb/stat", "b");
	init(&files, &tag, NULL);
	CASE("those that fit");
	CHECK_UINT(files.count, 2);
	CHECK_INT(has(&files, "sda=devices/sda/stat") && has(&files, "sdb=devices/sdb/stat"), 1);
	for (size_t i = 0; i < files.count; i++)
		CHECK_HAS(said(&files, &files.file[i]), "new ");
	CASE("they stay");
	open = testing_open_files();
	CHECK_INT(text_files_update(&files), 0);
	CHECK_UINT(testing_open_files(), open);
	CHECK_UINT(files.count, 2);
	for (size_t i = 0; i < files.count; i++)
		CHECK_UINT(strlen(said(&files, &files.file[i])), 1);
	CASE("one vanishes and one appears");
	CHECK_INT(unlink("devices/sda/stat") || rmdir("devices/sda") || mkdir("devices/sdc", 0755),
		  0);
	CHECK_INT(text_files_update(&files), 0);
	CHECK_UINT(files.count, 2);
	CHECK_INT(!has(&files, "sda=") && has(&files, "sdc=devices/sdc/stat"), 1);
	CASE("no directory");
	CHECK_INT(rename("devices", "gone"), 0);
	CHECK_INT(text_files_update(&files), -ENOENT);
	text_files_done(&files);
}

static void test_many(void)
{
	const struct file_tag tag = { .path = "many/*" };
	struct text_files files;
	char path[64];

	CASE("too many");
	CHECK_INT(mkdir("many", 0755), 0);
	for (int i = 0; i <= TEXT_FILES_MAX; i++) {
		snprintf(path, sizeof(path), "many/%d", i);
		close(open(path, O_WRONLY | O_CREAT, 0644));
	}
	CHECK_INT(text_files_init(&files, &tag, NULL), 0);
	set_files_root(&files, open(".", O_PATH | O_DIRECTORY));
	CHECK_INT(text_files_update(&files), -E2BIG);
	CHECK_UINT(files.count, TEXT_FILES_MAX);
	CASE("few stay open");
	for (size_t i = 0; i < files.count; i++)
		CHECK_TEXT(said(&files, &files.file[i]), "new ");
	CHECK_INT(files.file[TEXT_OPEN_MAX - 1].fd >= 0 && files.file[TEXT_OPEN_MAX].fd < 0, 1);
	CHECK_TEXT(said(&files, &files.file[TEXT_OPEN_MAX]), "");
	text_files_done(&files);
}

static void test_services(void)
{
	char *web[] = { (char *)"a/b", (char *)"a", (char *)"a", (char *)"ab" };
	char *db[] = { (char *)"d" };
	struct service_config services[] = { { .cgroups = { web, 4 } },
					     { .cgroups = { NULL, 0 } },
					     { .cgroups = { db, 1 } } };
	const struct config config = { .services = services, .service_count = 3 };
	const struct file_tag tag = { .root = KERNEL_FS_CGROUP, .path = "cpu.stat" };
	struct text_files files;

	CASE("files of services");
	init(&files, &tag, &config);
	CHECK_UINT(files.count, 3);
	CHECK_TEXT(files.file[0].path, "a/cpu.stat");
	CHECK_TEXT(files.file[1].path, "ab/cpu.stat");
	CHECK_TEXT(files.file[2].path, "d/cpu.stat");
	CHECK_UINT(files.file[1].service, SERVICE_FIRST);
	CHECK_UINT(files.file[2].service, SERVICE_FIRST + 2);
	CASE("a cgroup that lacks it, and none");
	CHECK_INT(mkdir("a", 0755), 0);
	CHECK_INT(text_file_lacks_controller(&files, &files.file[0]), 1);
	CHECK_INT(text_file_lacks_controller(&files, &files.file[2]), 0);
	text_files_done(&files);
	CASE("of the root");
	init(&files, &tag, NULL);
	CHECK_UINT(files.count, 1);
	CHECK_TEXT(files.file[0].path, "cpu.stat");
	CHECK_INT(text_file_lacks_controller(&files, &files.file[0]), 1);
	text_files_done(&files);
}

int main(void)
{
	char remove[64];

	CHECK_INT(mkdtemp(dir) != NULL && chdir(dir) == 0, 1);
	test_one();
	test_glob();
	test_many();
	test_services();
	snprintf(remove, sizeof(remove), "rm -rf %s", dir);
	CHECK_INT(chdir("/") || system(remove), 0);
	return testing_end();
}
