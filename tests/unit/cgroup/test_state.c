/* SPDX-License-Identifier: MIT */
/*
 * plugin/cgroup/state.c: state files that real runtimes have written, and hostile ones.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/state.h"

#include "plugin/cgroup/state.h"

#define OTHER_ID "0000000000000000000000000000000000000000000000000000000000000000"

/* The container as NAMESPACE_POD_NAME, or "" if it is not described. */
static const char *parse(enum state_format format, const char *text, const char *id)
{
	static char to[CONTAINER_TEXT_MAX];
	struct container c = { 0 };

	to[0] = '\0';
	if (parse_state(format, text, strlen(text), id, &c)) {
		container_text(&c, to);
		CHECK_INT(to[0] != '\0', true);
	}
	return to;
}

static void check_recorded(enum state_format format, const char *file, const char *id,
			   const char *want)
{
	size_t size;
	char *bytes = recorded(file, &size);

	CASE("%s", file);
	CHECK_TEXT(parse(format, bytes, id), want);
	CASE("%s, of which some is missing", file);
	for (size -= bytes[size - 1] == '\n'; size > 1; size--) {
		bytes[size - 1] = '\0';
		CHECK_TEXT(parse(format, bytes, id), "");
	}
	free(bytes);
}

static void test_recorded(void)
{
	check_recorded(STATE_DOCKER, "docker.json", DOCKER_ID, "web");
	check_recorded(STATE_DOCKER, "docker_kubernetes.json", DOCKER_KUBERNETES_ID,
		       "default_shop-0_app");
	check_recorded(STATE_DOCKER, "docker_pod.json", DOCKER_POD_ID,
		       "shop_web-7d9f8b6c5d-x2x4z_app");
	check_recorded(STATE_DOCKER, "docker_sandbox.json", DOCKER_SANDBOX_ID,
		       "shop_web-7d9f8b6c5d-x2x4z_POD");
	check_recorded(STATE_DOCKER, "docker_swarm.json", DOCKER_SWARM_ID, "shop_agent");
	check_recorded(STATE_BUNDLE, "crio_sandbox.json", CRIO_SANDBOX_ID, "shop_db-0_POD");
	check_recorded(STATE_BUNDLE, "containerd.json", CONTAINERD_ID,
		       "shop_web-7d9f8b6c5d-x2x4z_app");
	check_recorded(STATE_BUNDLE, "crio.json", CRIO_ID, "shop_db-0_app");
}

static void test_sandbox(void)
{
	static const struct {
		enum state_format format;
		const char *text;
	} sandboxes[] = {
		{ STATE_DOCKER, "{\"Name\":\"/k8s_POD_shop-0_default_0d1c-1_0\"}" },
		{ STATE_BUNDLE,
		  "{\"annotations\":{\"io.kubernetes.cri.container-type\":\"sandbox\","
		  "\"io.kubernetes.cri.sandbox-name\":\"shop-0\","
		  "\"io.kubernetes.cri.sandbox-namespace\":\"default\"}}" },
		{ STATE_BUNDLE, "{\"annotations\":{\"io.kubernetes.cri-o.Name\":"
				"\"k8s_POD_shop-0_default_0d1c-1_0\"}}" },
		{ STATE_STORAGE, "{\"id\":\"" OTHER_ID "\",\"names\":[\"0f3cc7fa97b0-infra\"]}" },
	};

	for (size_t i = 0; i < COUNT_OF(sandboxes); i++) {
		const char *text = sandboxes[i].text;
		struct container c = { 0 };

		CASE("%s", text);
		CHECK_INT(parse_state(sandboxes[i].format, text, strlen(text), OTHER_ID, &c), true);
		CHECK_INT(c.is_sandbox, true);
	}
}

/* A container of docker with these labels: its name, whole name and workload. */
static void check_docker_labels(const char *given, const char *labels, const char *name,
				enum workload workload)
{
	char text[2048];
	struct container c;

	CASE("%s with %s", given, labels);
	snprintf(text, sizeof(text), "{\"Name\":\"/%s\",\"Config\":{\"Labels\":{%s}}}", given,
		 labels);
	CHECK_INT(parse_state(STATE_DOCKER, text, strlen(text), OTHER_ID, &c), true);
	CHECK_TEXT(c.name, name);
	CHECK_INT(c.workload, workload);
	CHECK_TEXT(c.given, workload ? given : "");
	CHECK_INT(c.is_sandbox, false);
}

#define SWARM_LABELS(task)                                \
	"\"com.docker.swarm.service.name\":\"shop_web\"," \
	"\"com.docker.swarm.node.id\":\"mv9qyc0wz3tg\","  \
	"\"com.docker.swarm.task.name\":\"" task "\""

static void test_swarm(void)
{
	check_docker_labels("shop_web.1.x8k2", SWARM_LABELS("shop_web.1.x8k2"), "shop_web.1",
			    WORKLOAD_SWARM);
	check_docker_labels("shop_web.mv9qyc0wz3tg.x8k2",
			    SWARM_LABELS("shop_web.mv9qyc0wz3tg.x8k2"), "shop_web", WORKLOAD_SWARM);
	check_docker_labels("shop_web.1.x8k2", SWARM_LABELS("other.1.x8k2"), "shop_web.1.x8k2",
			    WORKLOAD_NONE);
	check_docker_labels(".x8k2", SWARM_LABELS(".x8k2"), ".x8k2", WORKLOAD_NONE);
	check_docker_labels("web.1.x8k2", "\"com.docker.swarm.task.name\":\"web.1.x8k2\"", "web.1",
			    WORKLOAD_SWARM);
}

#define ECS_LABELS                                               \
	"\"com.amazonaws.ecs.task-definition-family\":\"shop\"," \
	"\"com.amazonaws.ecs.task-definition-version\":\"3\","   \
	"\"com.amazonaws.ecs.container-name\":\"web-app\""

static void test_ecs(void)
{
	struct container c;

	check_docker_labels("ecs-shop-3-web-app-9edfa6cfd7e8d0b5f001", ECS_LABELS,
			    "ecs-shop-web-app", WORKLOAD_ECS);
	check_docker_labels("ecs-shop-3-9edfa6cfd7e8d0b5f001", ECS_LABELS,
			    "ecs-shop-3-9edfa6cfd7e8d0b5f001", WORKLOAD_NONE);
	check_docker_labels("ecs-shop-4-web-app-9edf", ECS_LABELS, "ecs-shop-4-web-app-9edf",
			    WORKLOAD_NONE);
	check_docker_labels("shop", ECS_LABELS, "shop", WORKLOAD_NONE);
	CASE("the container for the network of a task");
	static const char text[] =
		"{\"Name\":\"/ecs-shop-3-internalecspause-9edf\",\"Config\":{\"Labels\":{"
		"\"com.amazonaws.ecs.task-definition-family\":\"shop\","
		"\"com.amazonaws.ecs.task-definition-version\":\"3\","
		"\"com.amazonaws.ecs.container-name\":\"~internal~ecs~pause\"}}}";
	CHECK_INT(parse_state(STATE_DOCKER, text, strlen(text), OTHER_ID, &c), true);
	CHECK_INT(c.is_sandbox, true);
}

static void test_compose(void)
{
#define COMPOSE_LABELS \
	"\"com.docker.compose.service\":\"web\",\"com.docker.compose.oneoff\":\"False\""
#define RUN_LABELS "\"com.docker.compose.service\":\"web\",\"com.docker.compose.oneoff\":\"True\""
	check_docker_labels("shop-web-1", COMPOSE_LABELS, "shop-web-1", WORKLOAD_COMPOSE);
	check_docker_labels("d041e1912155_shop-web-1", COMPOSE_LABELS, "shop-web-1",
			    WORKLOAD_COMPOSE);
	check_docker_labels("d041e1912155_shop-web-1", "", "d041e1912155_shop-web-1",
			    WORKLOAD_NONE);
	check_docker_labels("d041e1912155_", COMPOSE_LABELS, "d041e1912155_", WORKLOAD_COMPOSE);
	check_docker_labels("shop-web-run-d041e1912155", RUN_LABELS, "shop-web-run",
			    WORKLOAD_COMPOSE);
	check_docker_labels("shop-web-run-d041e1912155", COMPOSE_LABELS,
			    "shop-web-run-d041e1912155", WORKLOAD_COMPOSE);
	check_docker_labels("shop-web-run", RUN_LABELS, "shop-web-run", WORKLOAD_COMPOSE);
}

static void test_others(void)
{
	CASE("a dot in the name");
	CHECK_TEXT(parse(STATE_DOCKER, "{\"Name\":\"/web.example\"}", OTHER_ID), "web.example");
	CASE("nerdctl");
	CHECK_TEXT(parse(STATE_BUNDLE, "{\"annotations\":{\"nerdctl/name\":\"web\"}}", OTHER_ID),
		   "web");
	CASE("podman play kube");
	CHECK_TEXT(parse(STATE_STORAGE, "{\"id\":\"" OTHER_ID "\",\"names\":[\"web-pod-app\"]}",
			 OTHER_ID),
		   "web-pod-app");
}

/* What the labels of a sandbox make of the name of its pod. */
static void check_pod(enum state_format format, const char *text, const char *pod, const char *want,
		      enum workload workload)
{
	struct container c = { .name = "app", .space = "shop" };

	CASE("pod %s: %s", pod, text);
	strcpy(c.pod, pod);
	state_parse_sandbox(format, text, strlen(text), &c);
	container_settle(&c);
	CHECK_TEXT(c.pod, want);
	CHECK_INT(c.workload, workload);
}

static void test_pod_labels(void)
{
	check_pod(STATE_DOCKER, "{\"Config\":{\"Labels\":{\"pod-template-hash\":\"x7\"}}}",
		  "web-x7-x2x4z", "web", WORKLOAD_DEPLOYMENT);
	check_pod(STATE_DOCKER,
		  "{\"Config\":{\"Labels\":{\"app\":\"web\","
		  "\"annotation.kubernetes.io/config.source\":\"file\"}}}",
		  "web-x2x4z", "web-x2x4z", WORKLOAD_POD);
	check_pod(STATE_BUNDLE,
		  "{\"annotations\":{\"io.kubernetes.cri-o.Labels\":"
		  "\"{\\\"pod-template-hash\\\":\\\"x7\\\"}\"}}",
		  "web-x7-x2x4z", "web", WORKLOAD_DEPLOYMENT);
	check_pod(STATE_BUNDLE,
		  "{\"annotations\":{\"io.kubernetes.cri-o.Labels\":\"{\\\"app\\\":\\\"web\\\"}\","
		  "\"io.kubernetes.cri-o.Annotations\":"
		  "\"{\\\"kubernetes.io/config.source\\\":\\\"file\\\"}\"}}",
		  "web-x2x4z", "web-x2x4z", WORKLOAD_POD);
	/* Without labels the shape decides: of containerd, and of a file that is no JSON. */
	check_pod(STATE_BUNDLE,
		  "{\"annotations\":{\"io.kubernetes.cri.sandbox-name\":\"web-x2x4z\"}}",
		  "web-x2x4z", "web", WORKLOAD_DAEMONSET);
	check_pod(STATE_BUNDLE, "{\"annotations\":{\"io.kubernetes.cri-o.Labels\":\"{[\"}}",
		  "web-x2x4z", "web", WORKLOAD_DAEMONSET);
	check_pod(STATE_DOCKER, "{\"Config\":{\"Labels\":[7]}}", "web-x2x4z", "web",
		  WORKLOAD_DAEMONSET);
	check_pod(STATE_DOCKER, "x", "web-x2x4z", "web", WORKLOAD_DAEMONSET);
	check_pod(STATE_DOCKER, "{\"Config\":{\"Labels\":{\"job-name\":7}}}", "web-x2x4z",
		  "web-x2x4z", WORKLOAD_POD);
}

static void test_nonsense(void)
{
	static const char *const texts[] = {
		"",
		"x",
		"null",
		"7",
		"\"web\"",
		"[]",
		"{}",
		"[7,null,[],{}]",
		"{\"Name\":7}",
		"{\"Name\":\"\"}",
		"{\"Name\":\"/\"}",
		"{\"Name\":\"/web\\u0000x\"}",
		"{\"Name\":\"/web\xff\"}",
		"{\"Name\":\"/web\"}}",
		"{\"Name\":\"/web\"",
		"{\"Name\":{\"Name\":\"/web\"}}",
		"{\"annotations\":[]}",
		"{\"annotations\":{\"io.kubernetes.cri.sandbox-name\":\"x\"}}",
		"{\"annotations\":{\"nerdctl/name\":[]}}",
		"{\"id\":\"" OTHER_ID "\"}",
		"{\"id\":\"" OTHER_ID "\",\"names\":\"web\"}",
		"{\"id\":\"" OTHER_ID "\",\"names\":[]}",
		"{\"id\":\"" OTHER_ID "\",\"names\":[7]}",
		"{\"id\":\"" OTHER_ID "\",\"names\":[\"\"]}",
	};

	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		CASE("nonsense: %s", texts[i]);
		CHECK_TEXT(parse(STATE_DOCKER, texts[i], OTHER_ID), "");
		CHECK_TEXT(parse(STATE_BUNDLE, texts[i], OTHER_ID), "");
		CHECK_TEXT(parse(STATE_STORAGE, texts[i], OTHER_ID), "");
	}
}

/* {"Name":"/web","x":UNIT...UNIT END...END}, with `count` units. */
static char *bomb(const char *unit, const char *end, size_t count)
{
	static const char begin[] = "{\"Name\":\"/web\",\"x\":";
	char *text = malloc(sizeof(begin) + count * (strlen(unit) + strlen(end)) + 2), *at = text;

	if (!text)
		abort();
	at = stpcpy(at, begin);
	for (size_t i = 0; i < count; i++)
		at = stpcpy(at, unit);
	for (size_t i = 0; i < count; i++)
		at = stpcpy(at, end);
	strcpy(at, "}");
	return text;
}

static void check_bomb(const char *unit, const char *end, size_t count, const char *want)
{
	char *text = bomb(unit, end, count);

	CASE("%zu times %s", count, unit);
	CHECK_TEXT(parse(STATE_DOCKER, text, OTHER_ID), want);
	free(text);
}

static void test_bombs(void)
{
	/* The object around them adds one level. */
	check_bomb("[", "]", STATE_DEPTH_MAX - 1, "web");
	check_bomb("[", "]", STATE_DEPTH_MAX, "");
	check_bomb("{\"a\":[", "]}", 100000, "");
	check_bomb("[", "", 500000, "");
	check_bomb("7,\"y\":[],\"x\":", "", 1000, "");
	CASE("brackets in a text are none");
	CHECK_TEXT(
		parse(STATE_DOCKER,
		      "{\"x\":\"\\\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[\\\\\",\"Name\":\"/web\"}",
		      OTHER_ID),
		"web");
}

/* {"x":[{},{},...],"Name":"/web"} */
static void check_wide(const char *element, size_t count, const char *want)
{
	char *text = malloc(count * (strlen(element) + 1) + 64), *at = text;

	if (!text)
		abort();
	at = stpcpy(at, "{\"Name\":\"/web\",\"x\":[");
	for (size_t i = 0; i < count; i++) {
		at = stpcpy(at, i ? "," : "");
		at = stpcpy(at, element);
	}
	strcpy(at, "]}");
	CASE("an array of %zu %s", count, element);
	CHECK_TEXT(parse(STATE_DOCKER, text, OTHER_ID), want);
	free(text);
}

static void test_size(void)
{
	check_wide("{}", STATE_NESTS_MAX - 2, "web");
	check_wide("{}", STATE_NESTS_MAX - 1, "");
	check_wide("7", STATE_VALUES_MAX, "web");
	check_wide("7", STATE_VALUES_MAX + 1, "");
	check_wide("7777777777777", STATE_SIZE_MAX / 14 - 10, "web");
	check_wide("7777777777777", STATE_SIZE_MAX / 14, "");
}

static void test_long_name(void)
{
	char text[11000] = "{\"Name\":\"/", *end;
	struct container c;

	CASE("a name of 10,000 characters");
	end = text + strlen(text);
	memset(end, 'x', 10000);
	strcpy(end + 10000, "\"}");
	CHECK_INT(parse_state(STATE_DOCKER, text, strlen(text), OTHER_ID, &c), true);
	CHECK_UINT(strlen(c.name), CONTAINER_NAME_MAX - 1);
}

int main(void)
{
	if (!state_is_readable()) {
		printf("skipped: built without jansson\n");
		return TESTING_SKIPPED;
	}
	test_recorded();
	test_sandbox();
	test_swarm();
	test_ecs();
	test_compose();
	test_others();
	test_pod_labels();
	test_nonsense();
	test_bombs();
	test_size();
	test_long_name();
	return testing_end();
}
