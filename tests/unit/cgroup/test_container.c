/* SPDX-License-Identifier: MIT */
/*
 * plugin/cgroup/container.c: names of containers and pods.
 */
#include "tests/unit/testing.h"

#include "plugin/cgroup/container.h"

static void test_parse(void)
{
	struct container c = { .name = "before" };

	CASE("of a pod");
	CHECK_INT(container_parse(&c, "k8s_app_shop-0_default_0d1c2b3a-1111_0"), true);
	CHECK_TEXT(c.name, "app");
	CHECK_TEXT(c.pod, "shop-0");
	CHECK_TEXT(c.space, "default");
	CHECK_INT(c.is_sandbox, false);
	CASE("the pod's own");
	CHECK_INT(container_parse(&c, "k8s_POD_shop-0_default_0d1c2b3a-1111_0"), true);
	CHECK_INT(c.is_sandbox, true);
	CASE("none");
	strcpy(c.name, "before");
	CHECK_INT(container_parse(&c, "web"), false);
	CHECK_INT(container_parse(&c, "k8s_app"), false);
	CHECK_INT(container_parse(&c, "k8s_app_shop-0_default"), false);
	CHECK_INT(container_parse(&c, "k8s___default_uid_0"), false);
	CHECK_INT(container_parse(&c, ""), false);
	CHECK_TEXT(c.name, "before");
}

static void test_text(void)
{
	char to[CONTAINER_TEXT_MAX];
	struct container c = { .name = "web" };

	CASE("a name only");
	container_text(&c, to);
	CHECK_TEXT(to, "web");
	CASE("in a pod");
	c = (struct container){ .name = "app", .pod = "shop-0", .space = "default" };
	container_text(&c, to);
	CHECK_TEXT(to, "default_shop-0_app");
	CASE("as long as they can be");
	memset(c.name, 'a', sizeof(c.name) - 1);
	memset(c.pod, 'b', sizeof(c.pod) - 1);
	memset(c.space, 'c', sizeof(c.space) - 1);
	container_text(&c, to);
	CHECK_UINT(strlen(to), CONTAINER_TEXT_MAX - 1);
}

/* Names of pods are in test_pod.c. */
static void test_settle_pod(void)
{
	struct container c = { .name = "app", .space = "shop", .pod = "web-7d9f8b6c5d-x2x4z" };

	CASE("a pod of a Deployment");
	container_settle(&c);
	CHECK_TEXT(c.pod, "web");
	CHECK_TEXT(c.name, "app");
	CHECK_INT(c.workload, WORKLOAD_DEPLOYMENT);
	CASE("a container with the name of a Nomad task, in a pod");
	c = (struct container){ .name = "web-9f8b6d8e-6c1e-4a7b-8b1a-0123456789ab", .pod = "db-0" };
	container_settle(&c);
	CHECK_TEXT(c.name, "web-9f8b6d8e-6c1e-4a7b-8b1a-0123456789ab");
	CHECK_INT(c.workload, WORKLOAD_POD);
	CASE("labels have said what is generated");
	c = (struct container){ .name = "web-9f8b6d8e-6c1e-4a7b-8b1a-0123456789ab",
				.workload = WORKLOAD_COMPOSE };
	container_settle(&c);
	CHECK_TEXT(c.name, "web-9f8b6d8e-6c1e-4a7b-8b1a-0123456789ab");
}

static void test_settle_name(void)
{
	static const char *const names[][2] = {
		{ "web-9f8b6d8e-6c1e-4a7b-8b1a-0123456789ab", "web" },
		{ "9f8b6d8e-6c1e-4a7b-8b1a-0123456789ab", "9f8b6d8e-6c1e-4a7b-8b1a-0123456789ab" },
		{ "-9f8b6d8e-6c1e-4a7b-8b1a-0123456789ab",
		  "-9f8b6d8e-6c1e-4a7b-8b1a-0123456789ab" },
		{ "web-9f8b6d8e-6c1e-4a7b-8b1a-0123456789ag",
		  "web-9f8b6d8e-6c1e-4a7b-8b1a-0123456789ag" },
		{ "web-9f8b6d8ea6c1e-4a7b-8b1a-0123456789ab",
		  "web-9f8b6d8ea6c1e-4a7b-8b1a-0123456789ab" },
		{ "web.9f8b6d8e-6c1e-4a7b-8b1a-0123456789ab",
		  "web.9f8b6d8e-6c1e-4a7b-8b1a-0123456789ab" },
		{ "web-x2x4z", "web-x2x4z" },
		{ "web-1", "web-1" },
	};

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		struct container c = { 0 };

		CASE("container %s", names[i][0]);
		strcpy(c.name, names[i][0]);
		container_settle(&c);
		CHECK_TEXT(c.name, names[i][1]);
		CHECK_INT(c.workload,
			  strcmp(names[i][0], names[i][1]) ? WORKLOAD_NOMAD : WORKLOAD_NONE);
		CHECK_INT(c.is_sandbox, false);
	}
}

static void test_sandbox_of_nomad(void)
{
	struct container c = { .name = "nomad_init_9f8b6d8e-6c1e-4a7b-8b1a-0123456789ab" };

	CASE("Nomad's container for the namespaces of an allocation");
	container_settle(&c);
	CHECK_INT(c.is_sandbox, true);
}

int main(void)
{
	test_parse();
	test_text();
	test_settle_pod();
	test_settle_name();
	test_sandbox_of_nomad();
	return testing_end();
}
