/* SPDX-License-Identifier: MIT */
/*
 * plugin/cgroup/description.c and runtime.c: names of units, users and containers. The state files
 * of the runtimes are the recorded ones, not those of this machine.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/state.h"

#include "plugin/cgroup/description.h"
#include "plugin/cgroup/state.h"
#include "plugin/cgroup/user.h"

#include <errno.h>

#define OTHER_ID "0000000000000000000000000000000000000000000000000000000000000000"
#define SANDBOX_ID "1111111111111111111111111111111111111111111111111111111111111111"

static unsigned reads;
static const char *silent;  /* a part of the paths that time out */
static const char *played;  /* what docker has for the other id, NULL: nothing */
static const char *sandbox; /* what docker has for SANDBOX_ID */
static uid_t owner = 1000;  /* of alice's files */

/* Replaces the function of the library. */
int __wrap_file_read(struct file_helper *helper, const struct file_request *request,
		     struct file *ret_file);
int __wrap_file_read(struct file_helper *helper, const struct file_request *request,
		     struct file *ret_file)
{
	int status;

	(void)helper;
	if (strcmp(request->path, "/etc/passwd")) {
		reads++;
		CHECK_UINT(request->budget, request->user ? FILE_OF_USERS : FILE_OF_ROOT);
	}
	if (silent && strstr(request->path, silent))
		return -ETIMEDOUT;
	if (played && strstr(request->path, "/docker/containers/" OTHER_ID "/"))
		return recorded_text(request, strdup(played), strlen(played), ret_file);
	if (sandbox && strstr(request->path, "/docker/containers/" SANDBOX_ID "/"))
		return recorded_text(request, strdup(sandbox), strlen(sandbox), ret_file);
	status = recorded_read(request, ret_file);
	if (request->user)
		ret_file->owner = owner;
	return status;
}

static struct group_description described;
static struct users users = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Asks for it for the first time. */
static int describe_key(const struct group_key *key)
{
	struct container_names containers;
	int status;

	reads = 0;
	memset(&described, 'x', sizeof(described));
	container_names_init(&containers, &users);
	status = group_describe(key, &users, &containers, NULL, &described);
	container_names_done(&containers);
	return status;
}

static int describe(enum group_kind kind, const char *text)
{
	struct group_key key = { .kind = kind };

	CASE("kind %d, %s", kind, text);
	memcpy(key.text, text, strlen(text));
	return describe_key(&key);
}

static void check(enum group_kind kind, const char *text, const char *name, const char *other_name)
{
	CHECK_INT(describe(kind, text), 0);
	CHECK_TEXT(described.name, name);
	CHECK_TEXT(described.other_name, other_name);
	CHECK_INT(described.is_sandbox, false);
}

static void test_units(void)
{
	check(GROUP_UNIT, "nginx", "nginx", "nginx");
	check(GROUP_UNIT, "postgresql@15-main", "postgresql@15-main", "postgresql@15-main");
	check(GROUP_UNIT, "my\\x2dapp", "my-app", "my-app");
	CHECK_TEXT(described.full_name, "my-app");
	check(GROUP_UNIT, "dev-disk\\x2fby\\x20x", "dev-disk/by x", "dev-disk/by x");
	check(GROUP_UNIT, "caf\\xc3\\xA9", "caf\xc3\xa9", "caf\xc3\xa9");
	check(GROUP_UNIT, "a\\xffb\xff",
	      "a\xff"
	      "b\xff",
	      "a\xff"
	      "b\xff");
	check(GROUP_UNIT, "a\\x00b\\x1bc\\x2",
	      "a\\x00b\x1b"
	      "c\\x2",
	      "a\\x00b\x1b"
	      "c\\x2");
	check(GROUP_UNIT, "x\\x", "x\\x", "x\\x");
	check(GROUP_UNIT, "a\\y2d", "a\\y2d", "a\\y2d");
	check(GROUP_UNIT, ".", ".", ".");
	CHECK_UINT(reads, 0);
}

static void test_users(void)
{
	check(GROUP_USER, "user-1000", "user-alice", "user-1000");
	check(GROUP_USER, "user-0", "user-root", "user-0");
	check(GROUP_USER, "user-1001", "user-b/ob", "user-1001");
	check(GROUP_USER, "user-1002", "user-1002", "user-1002");
	check(GROUP_USER, "user-99999999999", "user-99999999999", "user-99999999999");
	check(GROUP_USER, "", "", "");
}

static void test_named(void)
{
	check(GROUP_LXC, "web", "web", "web-lxc");
	check(GROUP_LXC, "my\\x2dbox", "my\\x2dbox", "my\\x2dbox-lxc");
	check(GROUP_MACHINE, "my\\x2dbox", "my-box", "my-box-machine");
	check(GROUP_CONTAINERD, "redis1", "redis1", "redis1-containerd");
	check(GROUP_DOCKER, "abc", "abc", "abc-container");
	check(GROUP_DOCKER, DOCKER_ID "0", DOCKER_ID "0", DOCKER_ID "0-container");
	check(GROUP_DOCKER, DOCKER_ID "/x", DOCKER_ID "/x", DOCKER_ID "/x-container");
	check(GROUP_CONTAINER, "../../x", "../../x", "../../x-container");
	check(GROUP_DOCKER, "/etc/passwd", "/etc/passwd", "/etc/passwd-container");
	CHECK_UINT(reads, 0);
}

/* Without jansson an id has no name. */
static void check_id(enum group_kind kind, const char *id, const char *name, const char *full_name)
{
	char digits[13], other_name[256];

	snprintf(digits, sizeof(digits), "%s", id);
	snprintf(other_name, sizeof(other_name), "%s-%s",
		 name && state_is_readable() ? name : "container", digits);
	check(kind, id, name && state_is_readable() ? name : digits, other_name);
	CHECK_TEXT(described.full_name, name && state_is_readable() ? full_name : digits);
}

static void test_ids(void)
{
	check_id(GROUP_DOCKER, DOCKER_ID, "web", "web");
	check_id(GROUP_DOCKER, DOCKER_KUBERNETES_ID, "default_shop-0_app", "default_shop-0_app");
	check_id(GROUP_DOCKER, DOCKER_USERNS_ID, "mapped", "mapped");
	check_id(GROUP_PODMAN, PODMAN_ID, "web", "web");
	check_id(GROUP_PODMAN, PODMAN_SHORT_ID, "short", "short");
	check_id(GROUP_CONTAINERD, CONTAINERD_ID, "shop_web_app", "shop_web-7d9f8b6c5d-x2x4z_app");
	check_id(GROUP_CRIO, CRIO_ID, "shop_db-0_app", "shop_db-0_app");
	/* Of any runtime, if the path does not say which. */
	check_id(GROUP_CONTAINER, DOCKER_ID, "web", "web");
	check_id(GROUP_CONTAINER, PODMAN_ID, "web", "web");
	check_id(GROUP_CONTAINER, CRIO_ID, "shop_db-0_app", "shop_db-0_app");
	/* Its state was removed, or belongs to another runtime. */
	check_id(GROUP_DOCKER, OTHER_ID, NULL, NULL);
	check_id(GROUP_PODMAN, OTHER_ID, NULL, NULL);
	check_id(GROUP_CRIO, DOCKER_ID, NULL, NULL);
}

static int describe_of_user(const char *user, const char *id)
{
	struct group_key key = { .kind = GROUP_USER_CONTAINER };

	CASE("container of %s, %.12s", user, id);
	strcpy(key.text, user);
	memcpy(key.text + GROUP_USER_SIZE, id, GROUP_ID_LENGTH);
	return describe_key(&key);
}

static void check_of_user(const char *user, const char *id, const char *name,
			  const char *other_name)
{
	CHECK_INT(describe_of_user(user, id), 0);
	CHECK_TEXT(described.name, name);
	CHECK_TEXT(described.other_name, other_name);
	CHECK_INT(described.is_unconfirmed, strchr(name, ':') == NULL);
}

/* The state of alice, whose home is /, is the recorded one of podman. */
static void test_user_containers(void)
{
	if (state_is_readable()) {
		check_of_user("user-1000", PODMAN_ROOTLESS_ID, "user-alice:web",
			      "user-alice:web-ad9c90f8c3fe");
		CHECK_TEXT(described.full_name, "user-alice:web");
		owner = 1001;
		check_of_user("user-1000", PODMAN_ROOTLESS_ID, "user-alice", "user-alice");
		owner = 0;
		check_of_user("user-1000", PODMAN_ROOTLESS_ID, "user-alice", "user-alice");
		owner = 1000;
	}
	check_of_user("user-1000", OTHER_ID, "user-alice", "user-alice");
	check_of_user("user-1000", DOCKER_ID, "user-alice", "user-alice");
	check_of_user("user-1001", PODMAN_ROOTLESS_ID, "user-b/ob", "user-b/ob");
	check_of_user("user-1002", PODMAN_ROOTLESS_ID, "user-1002", "user-1002");
	check_of_user("user-99999999999", PODMAN_ROOTLESS_ID, "user-99999999999",
		      "user-99999999999");
	if (!state_is_readable())
		return;
	check_of_user("user-0", DOCKER_ID, "user-root:web", "user-root:web-d041e1912155");
	silent = "/.local/";
	CHECK_INT(describe_of_user("user-1000", PODMAN_ROOTLESS_ID), -EAGAIN);
	CHECK_INT(described.is_unconfirmed, true);
	silent = NULL;
}

static void test_silent(void)
{
	if (!state_is_readable())
		return;
	silent = "/docker/";
	CHECK_INT(describe(GROUP_DOCKER, DOCKER_ID), -EAGAIN);
	CHECK_TEXT(described.name, "d041e1912155");
	CASE("another runtime knows it");
	CHECK_INT(describe(GROUP_CONTAINER, PODMAN_ID), 0);
	CHECK_TEXT(described.name, "web");
	silent = NULL;
}

/* A container of which docker has this text. */
static void check_played(const char *text, const char *name, const char *other_name)
{
	played = text;
	check(GROUP_DOCKER, OTHER_ID, name, other_name);
	played = NULL;
}

static void test_played(void)
{
	if (!state_is_readable())
		return;
	check_played("{\"Name\":\"/a/../b\"}", "a/../b", "a/../b-000000000000");
	check_played("{\"Name\":\"/caf\\u00e9\"}", "caf\xc3\xa9", "caf\xc3\xa9-000000000000");
	check_played("{\"Name\":\"/a\\u001b[2J\\nb\\u007f c\"}", "a\x1b[2J\nb\x7f c",
		     "a\x1b[2J\nb\x7f c-000000000000");
	check_played("{\"Name\":\"/self\"}", "self", "self-000000000000");
}

/* The pod's labels are in the state of its sandbox. */
static void test_owner(void)
{
	static const char pod[] =
		"{\"Name\":\"/k8s_app_web-7d9f8b6c5d-x2x4z_shop_uid_0\",\"Config\":{"
		"\"Labels\":{\"io.kubernetes.sandbox.id\":\"" SANDBOX_ID "\"}}}";

	if (!state_is_readable())
		return;
	check_played(pod, "shop_web_app", "shop_web_app-000000000000");
	CHECK_INT(described.workload, WORKLOAD_DEPLOYMENT);
	CHECK_TEXT(described.full_name, "shop_web-7d9f8b6c5d-x2x4z_app");
	sandbox = "{\"Config\":{\"Labels\":{\"controller-revision-hash\":\"6b8c\"}}}";
	check_played(pod, "shop_web-7d9f8b6c5d_app", "shop_web-7d9f8b6c5d_app-000000000000");
	CHECK_INT(described.workload, WORKLOAD_DAEMONSET);
	sandbox = "{\"Config\":{\"Labels\":{\"run\":\"web-7d9f8b6c5d-x2x4z\"}}}";
	check_played(pod, "shop_web-7d9f8b6c5d-x2x4z_app",
		     "shop_web-7d9f8b6c5d-x2x4z_app-000000000000");
	CHECK_INT(described.workload, WORKLOAD_POD);
	CASE("the sandbox's state times out");
	silent = SANDBOX_ID;
	check_played(pod, "shop_web_app", "shop_web_app-000000000000");
	silent = NULL;
	sandbox = NULL;
	CASE("an id that would leave the directory is not read");
	check_played("{\"Name\":\"/k8s_app_db-0_shop_uid_0\",\"Config\":{\"Labels\":{"
		     "\"io.kubernetes.sandbox.id\":\"../x\"}}}",
		     "shop_db-0_app", "shop_db-0_app-000000000000");
	CASE("the whole name of a task of a swarm is for rules");
	check_played("{\"Name\":\"/web.1.x8k2\",\"Config\":{\"Labels\":{"
		     "\"com.docker.swarm.task.name\":\"web.1.x8k2\"}}}",
		     "web.1", "web.1-000000000000");
	CHECK_TEXT(described.full_name, "web.1.x8k2");
	CHECK_INT(described.workload, WORKLOAD_SWARM);
}

/* NAMESPACE_POD_CONTAINER, each part as long as Kubernetes permits. */
static void test_long_pod(void)
{
	char text[1024], part[3][254], name[SUBJECT_TEXT_MAX], other_name[SUBJECT_TEXT_MAX];

	if (!state_is_readable())
		return;
	for (int last = 'y'; last <= 'z'; last++) {
		for (int i = 0; i < 3; i++) {
			memset(part[i], 'a' + i, sizeof(part[i]) - 1);
			part[i][sizeof(part[i]) - 1] = '\0';
		}
		part[0][sizeof(part[0]) - 2] = (char)last;
		snprintf(text, sizeof(text), "{\"Name\":\"/k8s_%s_%s_%s_uid_0\"}", part[0], part[1],
			 part[2]);
		played = text;
		CHECK_INT(describe(GROUP_DOCKER, OTHER_ID), 0);
		played = NULL;
		CASE("a pod's container with names that end with %c", last);
		CHECK_UINT(strlen(described.name), SUBJECT_TEXT_MAX - 1);
		CHECK_UINT(strlen(described.other_name), SUBJECT_TEXT_MAX - 1);
		CHECK_HAS(described.name, "cccc+");
		CHECK_HAS(described.other_name, "-000000000000");
		if (last == 'z') {
			CHECK_INT(strcmp(name, described.name) != 0, true);
			CHECK_INT(strcmp(other_name, described.other_name) != 0, true);
		}
		strcpy(name, described.name);
		strcpy(other_name, described.other_name);
	}
}

int main(void)
{
	test_units();
	test_users();
	test_named();
	test_ids();
	test_user_containers();
	test_silent();
	test_played();
	test_owner();
	test_long_pod();
	users_done(&users);
	return testing_end();
}
