/* SPDX-License-Identifier: MIT */
/*
 * plugin/cgroup/runtime.c and runtime_*.c: where state is found. Files are made below a directory that stands for the
 * root; who owns them and which processes are trusted is played.
 */
#include "tests/unit/testing.h"

#include "tests/unit/messages.h"

#include "plugin/cgroup/runtime.h"
#include "plugin/cgroup/runtime_config.h"
#include "plugin/cgroup/runtime_trust.h"
#include "plugin/cgroup/state.h"
#include "plugin/util/message.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define DOCKER "{\"Name\":\"/web\"}"
#define BUNDLE "{\"annotations\":{\"nerdctl/name\":\"web\"}}"
#define LIST "[{\"id\":\"" ID "\",\"names\":[\"web\"]}]"

static char root[] = "/tmp/test_runtime.XXXXXX";
static struct file_helper helper;
static const char *foreign; /* a part of paths that are not root's */
static const char *open_to_all;
static bool is_trusted = true;

int __real_file_read(struct file_helper *helper, const struct file_request *request,
		     struct file *ret_file);
int __wrap_file_read(struct file_helper *helper, const struct file_request *request,
		     struct file *ret_file);
int __wrap_file_read(struct file_helper *helper_, const struct file_request *request,
		     struct file *ret_file)
{
	bool is_real =
		!strncmp(request->path, "/proc/", 6) || !strncmp(request->path, root, strlen(root));
	struct file_request below = *request;
	char path[8192];
	int status;

	snprintf(path, sizeof(path), "%s%s", is_real ? "" : root, request->path);
	below.path = path;
	status = __real_file_read(helper_, &below, ret_file);
	if (status == 0) {
		ret_file->owner = foreign && strstr(path, foreign) ? 1000 : 0;
		ret_file->mode = open_to_all && strstr(path, open_to_all) ? 0777 : 0755;
	}
	return status;
}

/* Only the processes that this test has started. */
bool __wrap_runtime_process_is_trusted(pid_t pid);
bool __wrap_runtime_process_is_trusted(pid_t pid)
{
	char path[64], text[4096];
	FILE *file;
	size_t size;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	file = fopen(path, "r");
	size = file ? fread(text, 1, sizeof(text), file) : 0;
	if (file)
		fclose(file);
	return is_trusted && memmem(text, size, root, strlen(root));
}

static void put(const char *path, const char *text)
{
	char command[8192];
	FILE *file;

	snprintf(command, sizeof(command), "mkdir -p \"$(dirname '%s%s')\"", root, path);
	if (system(command) != 0)
		abort();
	snprintf(command, sizeof(command), "%s%s", root, path);
	file = fopen(command, "w");
	if (!file || fputs(text, file) < 0 || fclose(file) != 0)
		abort();
}

static void clear(void)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf '%s'/*", root);
	if (system(command) != 0)
		abort();
}

/* The name that a plugin finds that has just started. */
static const char *find(enum group_kind kind, const struct strings *configured)
{
	static struct container container;
	struct named_state state;
	struct runtimes runtimes;
	int status;

	runtimes_init(&runtimes);
	runtimes_start(&runtimes, configured, &helper);
	container = (struct container){ 0 };
	status = runtime_container(kind, ID, &runtimes, &helper, &container, &state);
	CHECK_INT(status, container.name[0] ? 0 : -ENOENT);
	runtimes_done(&runtimes);
	return container.name;
}

static void check_default(enum group_kind kind, const char *path, const char *text)
{
	CASE("%s", path);
	clear();
	put(path, text);
	CHECK_TEXT(find(kind, NULL), "web");
	CHECK_TEXT(find(GROUP_CONTAINER, NULL), "web");
	CHECK_TEXT(find(kind == GROUP_DOCKER ? GROUP_PODMAN : GROUP_DOCKER, NULL), "");
}

static void test_defaults(void)
{
	check_default(GROUP_DOCKER, "/var/lib/docker/containers/" ID "/config.v2.json", DOCKER);
	check_default(GROUP_DOCKER,
		      "/var/lib/docker/165536.165536/containers/" ID "/config.v2.json", DOCKER);
	check_default(GROUP_CONTAINERD,
		      "/run/containerd/io.containerd.runtime.v2.task/prod/" ID "/config.json",
		      BUNDLE);
	check_default(GROUP_CONTAINERD,
		      "/run/k0s/containerd/io.containerd.runtime.v2.task/k8s.io/" ID "/config.json",
		      BUNDLE);
	check_default(GROUP_PODMAN, "/var/lib/containers/storage/zfs-containers/containers.json",
		      LIST);
	check_default(GROUP_PODMAN,
		      "/run/containers/storage/overlay-containers/volatile-containers.json", LIST);
	check_default(GROUP_CRIO,
		      "/run/containers/storage/overlay-containers/" ID "/userdata/config.json",
		      BUNDLE);
}

static void check_config(const char *path, const char *text)
{
	CASE("%s: %s", path, text);
	clear();
	put(path, text);
	put("/data/containers/" ID "/config.v2.json", DOCKER);
	CHECK_TEXT(find(GROUP_DOCKER, NULL), "web");
}

static void test_configs(void)
{
	check_config("/etc/docker/daemon.json", "{\"data-root\":\"/data\"}");
	check_config("/etc/docker/daemon.json", "{\n\t\"graph\" : \"/data/\",\n\t\"x\": 1}");
	check_config("/etc/containers/storage.conf", "[storage]\n  graphroot = \"/data\" # x\n");
	check_config("/usr/share/containers/storage.conf", "[storage]\nrunroot='/data'\n");
	check_config("/etc/containerd/config.toml", "#state = \"/x\"\nstate = \"/data\"\n");
	check_config("/etc/containerd/config.toml", "state = \"\"\n[x]\nstate = \"/data\"\n");
}

static void test_settings(void)
{
	static const struct {
		const char *text, *path;
	} cases[] = {
		{ "", NULL },
		{ "root", NULL },
		{ "root = ", NULL },
		{ "root = \"/a", NULL },
		{ "root = \"a\"", NULL },
		{ "root = \"\"", NULL },
		{ "graphroot = \"/a\"", NULL },
		{ "data-root = \"/a\"", NULL },
		{ "roots = \"/a\"", NULL },
		{ " # root = \"/a\"", NULL },
		{ "root = root = \"/a\"", "/a" },
		{ "x = 1\nroot=\"/a b\"", "/a b" },
		{ "{\"root\":\"/a\"}", "/a" },
		{ "'root' = '/a'", "/a" },
	};
	char to[STATE_PATH_MAX], *long_text;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("%s", cases[i].text);
		CHECK_TEXT(runtime_setting(cases[i].text, "root", to) ? to : "-",
			   cases[i].path ?: "-");
	}
	CASE("a path that is too long");
	long_text = calloc(1, 2 * STATE_PATH_MAX);
	strcpy(long_text, "root=\"/");
	memset(long_text + 7, 'x', STATE_PATH_MAX);
	strcat(long_text, "\"");
	CHECK_INT(runtime_setting(long_text, "root", to) == NULL, true);
	free(long_text);
}

/* Files and directories that others can change say nothing. */
static void test_owners(void)
{
	static const char *const parts[] = { "/config.v2.json", "/data", "/etc/docker" };

	clear();
	put("/etc/docker/daemon.json", "{\"data-root\":\"/data\"}");
	put("/data/containers/" ID "/config.v2.json", DOCKER);
	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		CASE("%s is a user's", parts[i]);
		foreign = parts[i];
		CHECK_TEXT(find(GROUP_DOCKER, NULL), "");
		foreign = NULL;
		CASE("all may write to %s", parts[i]);
		open_to_all = parts[i];
		CHECK_TEXT(find(GROUP_DOCKER, NULL), "");
		open_to_all = NULL;
		CHECK_TEXT(find(GROUP_DOCKER, NULL), "web");
	}
}

static void test_configured(void)
{
	char *paths[] = { (char[]){ "/data" }, (char[]){ "/none" }, (char[]){ "/empty" } };
	const struct strings configured = { paths, COUNT_OF(paths) };

	clear();
	put("/data/containers/" ID "/config.v2.json", DOCKER);
	put("/empty/x", "");
	CASE("ContainerState");
	daemon_clear();
	CHECK_TEXT(find(GROUP_DOCKER, &configured), "web");
	CHECK_HAS(message_with("ContainerState \"/none\""), "No such file");
	CHECK_HAS(message_with("ContainerState \"/empty\""), "name the directory that");
	CHECK_UINT(messages_with("ContainerState"), 2);
	CASE("ContainerState of a user");
	foreign = "/data";
	CHECK_TEXT(find(GROUP_DOCKER, &configured), "web");
	foreign = NULL;
}

/* A program of this name, whose arguments or working directory say where state is. */
static void check_process(const char *name, const char *arguments, const char *directory)
{
	char command[8192];
	FILE *process;

	CASE("%s %s in %s", name, arguments, directory);
	snprintf(command, sizeof(command), "/bin/%s", name);
	put(command, "#!/bin/sh\nread line\n");
	snprintf(command, sizeof(command), "chmod 755 '%s/bin/%s'; cd '%s%s'; exec '%s/bin/%s' %s",
		 root, name, root, directory, root, name, arguments);
	process = popen(command, "w");
	for (int i = 0; i < 1000 && !find(GROUP_CONTAINER, NULL)[0]; i++)
		usleep(10000);
	CHECK_TEXT(find(GROUP_CONTAINER, NULL), "web");
	is_trusted = false;
	CHECK_TEXT(find(GROUP_CONTAINER, NULL), "");
	is_trusted = true;
	pclose(process);
	CHECK_TEXT(find(GROUP_CONTAINER, NULL), "");
}

static void test_processes(void)
{
	clear();
	put("/data/containers/" ID "/config.v2.json", DOCKER);
	check_process("dockerd", "-D --data-root /data", "/");
	check_process("dockerd", "--data-root=/data -H x", "/");
	check_process("dockerd", "-g /data", "/");
	put("/my.json", "{\"data-root\":\"/data\"}");
	check_process("dockerd", "--config-file=/my.json", "/");
	clear();
	put("/graph/vfs-containers/volatile-containers.json", LIST);
	check_process("conmon", "-b /x/vfs-containers/y -p /graph/vfs-containers/" ID "/userdata/p",
		      "/");
	check_process("conmon", "-c " ID " -b /graph/vfs-containers/" ID "/userdata -n web", "/");
	clear();
	put("/state/io.containerd.runtime.v2.task/prod/" ID "/config.json", BUNDLE);
	check_process("containerd", "--state=/state", "/");
	check_process("containerd-shim-runc-v2", "-id " ID,
		      "/state/io.containerd.runtime.v2.task/prod/" ID);
}

static void test_trust(void)
{
	static const char root_ids[] = "Name:\tx\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n";
	static const struct {
		const char *status, *cgroups;
		bool trusted;
	} cases[] = {
		{ root_ids, "0::/\n", true },
		{ root_ids, "0::/system.slice/docker.service\n", true },
		{ root_ids, "0::/machine.slice/libpod-conmon-" ID ".scope\n", true },
		{ root_ids, "1:name=systemd:/\n0::/../../system.slice/docker.service\n", true },
		{ root_ids, "", false },
		{ root_ids, "x\n", false },
		{ "", "0::/\n", false },
		{ "Name:\tx\nUid:\t1000\t0\t0\t0\n", "0::/\n", false },
		{ "Name:\tx\nUid:\t0\t0\t0\t01\n", "0::/\n", false },
		{ root_ids, "0::/system.slice/docker-" ID ".scope\n", false },
		{ root_ids, "0::/../docker-" ID ".scope/system.slice/docker.service\n", false },
		{ root_ids, "1:memory:/docker/" ID "\n0::/\n", false },
		{ root_ids, "0::/lxc.payload.box/system.slice/docker.service\n", false },
		{ root_ids, "0::/user.slice/user-1000.slice/session-1.scope\n", false },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("%s in %s", cases[i].status, cases[i].cgroups);
		CHECK_INT(runtime_trusts(cases[i].status, cases[i].cgroups), cases[i].trusted);
	}
}

/* Searches have taken more than their share. */
static void test_period(void)
{
	struct container container = { 0 };
	struct named_state state;
	struct runtimes runtimes;

	clear();
	runtimes_init(&runtimes);
	CASE("no state yet");
	CHECK_INT(runtime_container(GROUP_DOCKER, ID, &runtimes, &helper, &container, &state),
		  -ENOENT);
	put("/var/lib/docker/containers/" ID "/config.v2.json", DOCKER);
	runtimes.paid_ns += 60 * NS_PER_S;
	CHECK_INT(runtime_container(GROUP_DOCKER, ID, &runtimes, &helper, &container, &state),
		  -EAGAIN);
	runtimes.paid_ns -= 60 * NS_PER_S;
	CHECK_INT(runtime_container(GROUP_DOCKER, ID, &runtimes, &helper, &container, &state), 0);
	CHECK_TEXT(container.name, "web");
	runtimes_done(&runtimes);
}

int main(void)
{
	if (!state_is_readable()) {
		printf("skipped: built without jansson\n");
		return TESTING_SKIPPED;
	}
	if (!mkdtemp(root))
		abort();
	message_to(daemon_record);
	file_helper_init(&helper);
	test_settings();
	test_trust();
	test_defaults();
	test_configs();
	test_owners();
	test_configured();
	test_processes();
	test_period();
	file_helper_done(&helper);
	clear();
	rmdir(root);
	return testing_end();
}
