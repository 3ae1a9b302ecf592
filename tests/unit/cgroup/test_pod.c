/* SPDX-License-Identifier: MIT */
/*
 * plugin/cgroup/pod.c: what is generated of the names of pods, by their shape and by labels.
 */
#include "tests/unit/testing.h"

#include "plugin/cgroup/pod.h"

#define LABELS_MAX 4
#define NAME_COLUMN 23 /* of the manual's table */

/* Names of 63 bytes: the begin of the name, then its end. */
#define L49 "a-very-long-name-of-a-deployment-in-the-shop-nord" /* 49 bytes */
#define L57 L49 "-of-2026"
#define L52 L49 "-eu" /* as long as the name of a CronJob may be */

struct label_pair {
	const char *key, *value;
};

static void check_shape(const char *name, const char *want, enum workload workload)
{
	struct pod_labels labels = { 0 };
	char pod[POD_TEXT_MAX];

	CASE("by shape: %s", name);
	strcpy(pod, name);
	CHECK_INT(pod_settle(pod, &labels), workload);
	CHECK_TEXT(pod, want);
}

static void test_shapes(void)
{
	check_shape("web-7d9f8b6c5d-x2x4z", "web", WORKLOAD_DEPLOYMENT);
	check_shape("my-web-7d9f8b6c5-x2x4z", "my-web", WORKLOAD_DEPLOYMENT);
	check_shape("web-7d9f8b6-x2x4z", "web", WORKLOAD_DEPLOYMENT);
	check_shape("node-exporter-x7k2p", "node-exporter", WORKLOAD_DAEMONSET);
	check_shape("fluentd-x2x4z", "fluentd", WORKLOAD_DAEMONSET);
	check_shape("web-http2-x2x4z", "web-http2", WORKLOAD_DAEMONSET);
	check_shape("web-backend-x2x4z", "web-backend", WORKLOAD_DAEMONSET);
	check_shape("job-3-x7k2p", "job-3", WORKLOAD_DAEMONSET);
	check_shape("web-x2a4z", "web-x2a4z", WORKLOAD_POD);
	check_shape("db-0", "db-0", WORKLOAD_POD);
	check_shape("my-redis-cache", "my-redis-cache", WORKLOAD_POD);
	check_shape("kube-apiserver-node1", "kube-apiserver-node1", WORKLOAD_POD);
	check_shape("-x2x4z", "-x2x4z", WORKLOAD_POD);
	check_shape("x2x4z", "x2x4z", WORKLOAD_POD);
	check_shape("web", "web", WORKLOAD_POD);
	check_shape("-", "-", WORKLOAD_POD);
	check_shape("", "", WORKLOAD_POD);
}

static void test_due(void)
{
	check_shape("backup-28934512-x2x4z", "backup", WORKLOAD_JOB);
	check_shape("backup-28945678-x2x4z", "backup", WORKLOAD_JOB);
	check_shape("backup-1612137600-x2x4z", "backup", WORKLOAD_JOB);
	check_shape("backup-28934512-3-x2x4z", "backup-3", WORKLOAD_JOB);
	check_shape("import-20240101-x2x4z", "import-20240101", WORKLOAD_DAEMONSET);
	check_shape("import-2024010112-x2x4z", "import-2024010112", WORKLOAD_DAEMONSET);
	check_shape("backup-manual-x7k2p-x2x4z", "backup-manual-x7k2p", WORKLOAD_DAEMONSET);
	check_shape("28934512-x2x4z", "28934512", WORKLOAD_DAEMONSET);
	check_shape("-28934512-x2x4z", "-28934512", WORKLOAD_DAEMONSET);
}

static void test_long_shapes(void)
{
	CASE("lengths");
	CHECK_UINT(strlen(L49), 49);
	CHECK_UINT(strlen(L52), 52);
	CHECK_UINT(strlen(L57), 57);
	check_shape(L49 "-7d9f8b6cx2x4z", L49, WORKLOAD_DEPLOYMENT);
	check_shape(L57 "-x2x4z", L57, WORKLOAD_DAEMONSET);
	check_shape(L57 "nx2x4z", L57 "n", WORKLOAD_DAEMONSET);
	check_shape(L52 "-28934x2x4z", L52, WORKLOAD_JOB);
	check_shape(L49 "-28934512x2x4z", L49, WORKLOAD_JOB);
	check_shape(L49 "-abcdefghx2x4z", L49 "-abcdefgh", WORKLOAD_DAEMONSET);
	check_shape(L57 "-a2a4a", L57 "-a2a4a", WORKLOAD_POD);
	/* One byte less: not cut, so there would be a dash. */
	check_shape(L49 "-7d9f8b6x2x4z", L49 "-7d9f8b6x2x4z", WORKLOAD_POD);
}

static void check_labels(const char *name, const struct label_pair pairs[LABELS_MAX],
			 const char *want, enum workload workload)
{
	struct pod_labels labels = { .are_known = true };
	char pod[POD_TEXT_MAX];

	CASE("%s, with %s=%s", name, pairs[0].key ?: "no label", pairs[0].value ?: "");
	for (int i = 0; i < LABELS_MAX && pairs[i].key; i++)
		pod_label_note(&labels, name, pairs[i].key, pairs[i].value);
	pod_label_note(&labels, name, "io.kubernetes.pod.name", name);
	strcpy(pod, name);
	CHECK_INT(pod_settle(pod, &labels), workload);
	CHECK_TEXT(pod, want);
}

#define LABELS(...) ((const struct label_pair[LABELS_MAX]){ __VA_ARGS__ })

static void test_labels(void)
{
	check_labels("web-7d9f8b6c5d-x2x4z", LABELS({ "pod-template-hash", "7d9f8b6c5d" }), "web",
		     WORKLOAD_DEPLOYMENT);
	check_labels("web-7d9f8-x2x4z", LABELS({ "rollouts-pod-template-hash", "7d9f8" }), "web",
		     WORKLOAD_DEPLOYMENT);
	check_labels("web-28934512-x2x4z", LABELS({ "pod-template-hash", "7d9f8b6c5d" }),
		     "web-28934512", WORKLOAD_DEPLOYMENT);
	check_labels("proxy-7d9f8b6c5d-x2x4z", LABELS({ "controller-revision-hash", "6b8c" }),
		     "proxy-7d9f8b6c5d", WORKLOAD_DAEMONSET);
	check_labels("db-24567",
		     LABELS({ "controller-revision-hash", "db-6b8c" },
			    { "statefulset.kubernetes.io/pod-name", "db-24567" }),
		     "db-24567", WORKLOAD_POD);
	check_labels("rs-x2x4z", LABELS({ "app", "rs" }), "rs", WORKLOAD_DAEMONSET);
	check_labels("web-1-x2x4z", LABELS({ "deployment", "web-1" }, { "app", "web" }), "web-1",
		     WORKLOAD_DAEMONSET);
	/* Only look generated. */
	check_labels("tool-x2x4z", LABELS({ "run", "tool-x2x4z" }, { "app", "tool" }), "tool-x2x4z",
		     WORKLOAD_POD);
	check_labels("web-7d9f8b6c5d-x2x4z", LABELS({ "app", "shop" }), "web-7d9f8b6c5d-x2x4z",
		     WORKLOAD_POD);
	check_labels("tool-x2x4z", LABELS({ NULL, NULL }), "tool-x2x4z", WORKLOAD_POD);
	check_labels("kube-proxy-md-7d9f8b6c5d-x2x4z",
		     LABELS({ POD_CONFIG_SOURCE, "file" }, { "app", "kube-proxy-md-7d9f8b6c5d" }),
		     "kube-proxy-md-7d9f8b6c5d-x2x4z", WORKLOAD_POD);
	check_labels("rs-x2x4z", LABELS({ POD_CONFIG_SOURCE, "api" }, { "app", "rs" }), "rs",
		     WORKLOAD_DAEMONSET);
}

static void test_jobs(void)
{
	check_labels("backup-28934512-x2x4z", LABELS({ "job-name", "backup-28934512" }), "backup",
		     WORKLOAD_JOB);
	check_labels("import-20240101-x2x4z",
		     LABELS({ "batch.kubernetes.io/job-name", "import-20240101" }),
		     "import-20240101", WORKLOAD_JOB);
	check_labels("backup-28934512-3-x2x4z",
		     LABELS({ "job-name", "backup-28934512" },
			    { "batch.kubernetes.io/job-completion-index", "3" }),
		     "backup-3", WORKLOAD_JOB);
	check_labels("sums-7d9f8b6c5d-x2x4z", LABELS({ "job-name", "sums-7d9f8b6c5d" }),
		     "sums-7d9f8b6c5d", WORKLOAD_JOB);
	check_labels("backup-x2x4z", LABELS({ "job-name", "backup-28934512" }), "backup",
		     WORKLOAD_JOB);
	check_labels("back-x2x4z", LABELS({ "job-name", "backup" }), "back", WORKLOAD_JOB);
	check_labels("other-x2x4z", LABELS({ "job-name", "backup-28934512" }), "other",
		     WORKLOAD_JOB);
	check_labels(L52 "-28934x2x4z", LABELS({ "job-name", L52 "-28934512" }), L52, WORKLOAD_JOB);
	check_labels(L52 "-28-2-x2x4z", LABELS({ "job-name", L52 "-28934512" }), L52 "-2",
		     WORKLOAD_JOB);
	check_labels(L49 "-7d9f8b6cx2x4z", LABELS({ "pod-template-hash", "7d9f8b6c5d" }), L49,
		     WORKLOAD_DEPLOYMENT);
	check_labels(L49 "-of-2026nx2x4z", LABELS({ "pod-template-hash", "7d9f8b6c5d" }), L57 "n",
		     WORKLOAD_DEPLOYMENT);
}

/* Lines "KIND  NAME  NAME OF THE SERVICE" of collectd-ebpf(5), up to that of StatefulSets. */
static void test_manual(void)
{
	const char *source = getenv("abs_top_srcdir") ?: ".";
	char path[8192], line[256], pod[POD_TEXT_MAX], want[POD_TEXT_MAX];
	bool is_in_table = false;
	unsigned count = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%.4096s/docs/collectd-ebpf.pod", source);
	file = fopen(path, "r");
	if (!file) {
		perror(path);
		exit(1);
	}
	while (fgets(line, sizeof(line), file)) {
		struct pod_labels labels = { 0 };

		is_in_table |= !strncmp(line, "    Deployment ", 15);
		if (!is_in_table || strlen(line) < NAME_COLUMN ||
		    sscanf(line + NAME_COLUMN, "%255s %255s", pod, want) != 2)
			continue;
		CASE("the manual: %s", line);
		pod_settle(pod, &labels);
		CHECK_TEXT(pod, want);
		count++;
		if (strstr(line, "StatefulSet"))
			break;
	}
	fclose(file);
	CHECK_UINT(count, 6);
}

int main(void)
{
	test_manual();
	test_shapes();
	test_due();
	test_long_shapes();
	test_labels();
	test_jobs();
	return testing_end();
}
