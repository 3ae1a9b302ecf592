/* SPDX-License-Identifier: MIT */
/*
 * The walk down a directory tree like that of cgroups, to the cgroups of units, users and
 * containers.
 */
#include "tests/unit/testing.h"

#include "plugin/cgroup/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define DEEP15 "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o"

static char dir[] = "/tmp/test_tree.XXXXXX";
static char got[8192];

static void make(const char *path)
{
	char command[1024];

	snprintf(command, sizeof(command), "mkdir -p '%s'", path);
	CHECK_INT(system(command), 0);
}

static int add_directory(void *to, const char *path, uint64_t inode, const struct group_key *key)
{
	size_t length = strlen(got);
	struct stat file;

	CHECK_INT(stat(path, &file) == 0 && file.st_ino == inode, 1);
	snprintf(got + length, sizeof(got) - length, "%s=%u:%s ", path, key->kind, key->text);
	return to ? *(int *)to : 0;
}

static int walk(int *status)
{
	int root = open(".", O_PATH | O_DIRECTORY), result;

	got[0] = '\0';
	result = tree_walk(root, add_directory, status);
	close(root);
	return result;
}

static void test_names(void)
{
	static const struct {
		const char *path, *want;
	} cases[] = {
		{ "system.slice/nginx.service/sub/deeper", "system.slice/nginx.service=1:nginx " },
		{ "user.slice/user-1000.slice/user@1000.service/app.slice/evil.service",
		  "user.slice/user-1000.slice=2:user-1000 " },
		{ "user.slice/user-1000.slice/user@1000.service/user.slice/docker-" ID
		  ".scope/evil",
		  "user.slice/user-1000.slice/user@1000.service/user.slice/docker-" ID
		  ".scope=10:user-1000 " },
		{ "docker/" ID "/system.slice/x.service", "docker/" ID "=4:" ID " " },
		{ "system.slice/containerd.service/kubepods:cri-containerd:" ID "/x",
		  "system.slice/containerd.service/kubepods:cri-containerd:" ID "=6:" ID " " },
		{ "system.slice/containerd.service/x.service",
		  "system.slice/containerd.service=1:containerd " },
		{ DEEP15 "/last.service", DEEP15 "/last.service=1:last " },
		{ "system.slice/a b\033%s.service", "system.slice/a b\033%s.service=1:a b\033%s " },
		{ ".hidden/x.service", ".hidden/x.service=1:x " },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++)
		make(cases[i].path);
	make(DEEP15 "/p/late.service");
	CHECK_INT(close(open("system.slice/file.service", O_CREAT | O_WRONLY, 0644)) ||
			  symlink("..", "system.slice/link.slice") ||
			  symlink("nginx.service", "system.slice/link.service"),
		  0);
	CHECK_INT(walk(NULL), 0);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("%s", cases[i].path);
		CHECK_HAS(got, cases[i].want);
	}
	CASE("what is below, too deep, a file or a link");
	CHECK_INT(strstr(got, "evil") || strstr(got, "late") || strstr(got, "link") ||
			  strstr(got, "file.service") || strstr(got, "service/x.service"),
		  0);
}

static void test_bounds(void)
{
	char path[64];
	int enough = -7;

	CASE("a taker that has enough");
	CHECK_INT(walk(&enough), -7);
	CHECK_INT(strchr(got, '=') != NULL && strchr(strchr(got, '=') + 1, '=') == NULL, 1);
	CASE("too many directories");
	CHECK_INT(mkdir("many", 0755), 0);
	for (int i = 0; i < TREE_DIRECTORIES_MAX; i++) {
		snprintf(path, sizeof(path), "many/%d", i);
		CHECK_INT(mkdir(path, 0755), 0);
	}
	CHECK_INT(walk(NULL), -E2BIG);
}

/* A user hides nothing but what is the user's. */
static void test_bound_of_user(void)
{
	char path[64];

	CASE("a user's many directories");
	make("user.slice/user-7.slice");
	make("zz.service");
	for (int i = 0; i < TREE_DIRECTORIES_MAX; i++) {
		snprintf(path, sizeof(path), "user.slice/user-7.slice/%d", i);
		CHECK_INT(mkdir(path, 0755), 0);
	}
	CHECK_INT(walk(NULL), 0);
	CHECK_HAS(got, "zz.service=1:zz ");
	CHECK_HAS(got, "user.slice/user-1000.slice/user@1000.service/user.slice/docker-" ID);
}

int main(void)
{
	char remove[64];

	CHECK_INT(mkdtemp(dir) != NULL && chdir(dir) == 0, 1);
	test_names();
	test_bound_of_user();
	test_bounds();
	snprintf(remove, sizeof(remove), "rm -rf %s", dir);
	CHECK_INT(chdir("/") || system(remove), 0);
	return testing_end();
}
