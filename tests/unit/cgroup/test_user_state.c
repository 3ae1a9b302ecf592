/* SPDX-License-Identifier: MIT */
/*
 * plugin/cgroup/user_state.c: names of containers that rootless runtimes keep in a user's home, which may be
 * hostile. The files are real ones, read by a real helper; what they say is recorded.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/state.h"

#include "plugin/cgroup/state.h"
#include "plugin/cgroup/user_state.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#define STORAGE ".local/share/containers/storage"
#define LIST "vfs-containers/containers.json"
#define OTHER_ID "0000000000000000000000000000000000000000000000000000000000000000"

static char home[] = "/tmp/test_user_state.XXXXXX";
static struct file_helper files;

__attribute__((format(printf, 1, 2))) static void run(const char *format, ...)
{
	char command[4096];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	CHECK_INT(system(command), 0);
}

/* Makes a file below the home, with its directories. */
static void put(const char *path, const char *bytes, size_t size)
{
	FILE *file;

	run("mkdir -p \"$(dirname '%s')\"", path);
	file = fopen(path, "w");
	CHECK_INT(file && fwrite(bytes, 1, size, file) == size, true);
	if (file)
		fclose(file);
}

static void put_recorded(const char *path, const char *name)
{
	size_t size;
	char *bytes = recorded(name, &size);

	put(path, bytes, size);
	free(bytes);
}

static void empty_home(void)
{
	run("rm -rf %s/.[a-z]* data", home);
}

static int find(uid_t uid, const char *id, struct container *container)
{
	struct named_state state;

	*container = (struct container){ .name = "untouched" };
	return user_container(uid, home, id, &files, container, &state);
}

static void check_found(const char *what, const char *id, const char *want)
{
	struct container container;

	CASE("%s", what);
	CHECK_INT(find(getuid(), id, &container), 0);
	CHECK_TEXT(container.name, want);
	CASE("%s, without state", what);
	CHECK_INT(find(getuid(), OTHER_ID, &container), -ENOENT);
	CHECK_TEXT(container.name, "untouched");
	CASE("%s, of another user", what);
	CHECK_INT(find(getuid() + 1, id, &container), -ENOENT);
	empty_home();
}

static void check_lost(const char *what, int want)
{
	struct container container;

	CASE("%s", what);
	CHECK_INT(find(getuid(), PODMAN_ROOTLESS_ID, &container), want);
	CHECK_TEXT(container.name, "untouched");
	empty_home();
}

static void test_defaults(void)
{
	put_recorded(STORAGE "/" LIST, "podman_rootless.json");
	check_found("podman", PODMAN_ROOTLESS_ID, "web");
	put_recorded(STORAGE "/overlay-containers/volatile-containers.json",
		     "podman_rootless.json");
	check_found("podman, volatile", PODMAN_ROOTLESS_ID, "web");
	put_recorded(".local/share/docker/containers/" DOCKER_ID "/config.v2.json", "docker.json");
	check_found("docker", DOCKER_ID, "web");
}

/* A home where a settings file says where the state is: HERE stands for the home. */
static void check_setting(const char *file, const char *text, bool is_found)
{
	put(file, text, strlen(text));
	run("sed -i 's#HERE#%s#' %s", home, file);
	put_recorded("data/u/" LIST, "podman_rootless.json");
	put_recorded("data/u/containers/" DOCKER_ID "/config.v2.json", "docker.json");
	if (is_found)
		check_found(text, strstr(file, "docker") ? DOCKER_ID : PODMAN_ROOTLESS_ID, "web");
	else
		check_lost(text, -ENOENT);
}

static void test_settings(void)
{
	static const char podman[] = ".config/containers/storage.conf",
			  docker[] = ".config/docker/daemon.json";

	check_setting(podman, "[storage]\ndriver = \"vfs\"\ngraphroot = \"HERE/data/u\"\n", true);
	check_setting(podman, "graphroot='HERE/data/u'", true);
	check_setting(podman, "# graphroot = \"/x\"\n\tgraphroot =\t\"HERE/data/u\" # here\n",
		      true);
	check_setting(podman, "[storage]\ngraphroot = \"$HOME/data/u\"\n", true);
	check_setting(podman, "#graphroot = \"HERE/data/u\"\n", false);
	check_setting(podman, "ographroot = \"HERE/data/u\"\n", false);
	check_setting(podman, "graphroot HERE/data/u\n", false);
	check_setting(podman, "graphroot = \"HERE/data/u\n", false);
	check_setting(podman, "graphroot = \"data/u\" \n", false);
	check_setting(docker, "{\"data-root\":\"HERE/data/u\"}", true);
	check_setting(docker, "{\n  \"debug\": true,\n  \"data-root\" : \"HERE/data/u\"\n}\n",
		      true);
	check_setting(docker, "{\"other\": \"data-root\", \"x\": \"HERE/data/u\"}", false);
}

/* What a user may do to the files. */
static void test_hostile(void)
{
	static const char list[] = STORAGE "/" LIST;
	char *big = calloc(1, 2 * STATE_SIZE_MAX);

	memset(big, ' ', 2 * STATE_SIZE_MAX);
	put_recorded("data/" LIST, "podman_rootless.json");
	put(list, "", 0);
	run("ln -sf \"$PWD/data/" LIST "\" %s", list);
	check_lost("a symbolic link", -ENOENT);
	put(list, "", 0);
	run("rm %s", list);
	CHECK_INT(mkfifo(list, 0600), 0);
	check_lost("a FIFO", -ENOENT);
	run("mkdir -p %s", list);
	check_lost("a directory", -ENOENT);
	put(list, big, 2 * STATE_SIZE_MAX);
	check_lost("a file that is too large", -ENOENT);
	memset(big, '[', STATE_SIZE_MAX);
	put(list, big, STATE_SIZE_MAX);
	check_lost("a deep one", -ENOENT);
	put(list, "[{\"id\":7},null,{", 16);
	check_lost("no JSON", -ENOENT);
	memset(big, 'x', STATE_SIZE_MAX);
	memcpy(big, "graphroot = \"/", 14);
	put(".config/containers/storage.conf", big, 1000);
	check_lost("a path that is too long", -ENOENT);
	memcpy(big,
	       "graphroot = \"$HOME$HOME$HOME$HOME$HOME$HOME$HOME$HOME$HOME$HOME$HOME$HOME"
	       "$HOME$HOME$HOME$HOME$HOME$HOME$HOME$HOME$HOME$HOME$HOME$HOME$HOME$HOME$HOME",
	       140);
	put(".config/containers/storage.conf", big, 140);
	check_lost("a path that grows", -ENOENT);
	free(big);
}

int main(void)
{
	file_helper_init(&files);
	CHECK_INT(mkdtemp(home) != NULL && chdir(home) == 0, true);
	if (state_is_readable()) {
		test_defaults();
		test_settings();
	}
	test_hostile();
	file_helper_done(&files);
	CHECK_INT(chdir("/"), 0);
	run("rm -rf %s", home);
	return testing_end();
}
