/* SPDX-License-Identifier: MIT */
/*
 * Which notifications are from thresholds on this host's values; anything else is ignored, whatever
 * its text is. Which series begin as okay.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/daemon.h"

#include "plugin/daemon/threshold.h"

#include <globals.h>

struct notice {
	const char *what;
	const char *caller;
	int severity;
	const char *host, *plugin;
	const char *meta, *second;
	bool wanted;
};

static void fill(notification_t *n, const struct notice *notice)
{
	*n = (notification_t){ .severity = notice->severity };
	snprintf(n->host, sizeof(n->host), "%s", notice->host ? notice->host : hostname_g);
	snprintf(n->plugin, sizeof(n->plugin), "%s", notice->plugin);
}

static void notify(const char *caller, int severity, const char *type_instance)
{
	notification_t n = { .severity = severity, .plugin = "ebpf", .type = "percent" };

	snprintf(n.host, sizeof(n.host), "%s", hostname_g);
	snprintf(n.type_instance, sizeof(n.type_instance), "%s", type_instance);
	daemon_caller = caller;
	threshold_remember(&n);
}

/* Is a new series of this name made okay? */
static bool begins_okay(enum cache_event_type_e type, const char *plugin, const char *type_instance)
{
	value_list_t vl = { .type = "percent" };
	cache_event_t event = { .type = type, .value_list = &vl };
	unsigned before = daemon_begun_okay;

	snprintf(vl.host, sizeof(vl.host), "%s", hostname_g);
	snprintf(vl.plugin, sizeof(vl.plugin), "%s", plugin);
	snprintf(vl.type_instance, sizeof(vl.type_instance), "%s", type_instance);
	CHECK_INT(threshold_begin(&event, NULL), 0);
	return daemon_begun_okay > before;
}

static void test_begin(void)
{
	CASE("a new series");
	CHECK_INT(begins_okay(CE_VALUE_NEW, "ebpf", "slack"), 1);
	CHECK_INT(begins_okay(CE_VALUE_UPDATE, "ebpf", "slack"), 0);
	CHECK_INT(begins_okay(CE_VALUE_NEW, "cpu", "slack"), 0);
	CASE("its alarm, and its end");
	notify("threshold", NOTIF_WARNING, "slack");
	CHECK_INT(begins_okay(CE_VALUE_NEW, "ebpf", "slack"), 0);
	CHECK_INT(begins_okay(CE_VALUE_NEW, "ebpf", "other"), 1);
	notify("unixsock", NOTIF_OKAY, "slack");
	CHECK_INT(begins_okay(CE_VALUE_NEW, "ebpf", "slack"), 0);
	notify("threshold", NOTIF_OKAY, "slack");
	CHECK_INT(begins_okay(CE_VALUE_NEW, "ebpf", "slack"), 1);
	CASE("an alarm of somebody else");
	notify("unixsock", NOTIF_FAILURE, "slack");
	CHECK_INT(begins_okay(CE_VALUE_NEW, "ebpf", "slack"), 1);
}

int main(void)
{
	static const struct notice notices[] = {
		{ "a threshold", "threshold", NOTIF_FAILURE, NULL, "ebpf", "CurrentValue", NULL,
		  true },
		{ "a warning", "Threshold", NOTIF_WARNING, NULL, "ebpf", "DataSource",
		  "CurrentValue", true },
		{ "its end", "threshold", NOTIF_OKAY, NULL, "ebpf", "CurrentValue", NULL, true },
		{ "of another plugin's values", "threshold", NOTIF_FAILURE, NULL, "cpu",
		  "CurrentValue", NULL, false },
		{ "of another host", "threshold", NOTIF_FAILURE, "elsewhere", "ebpf",
		  "CurrentValue", NULL, false },
		{ "of a value that is missing", "threshold", NOTIF_FAILURE, NULL, "ebpf", NULL,
		  NULL, false },
		{ "from a socket", "unixsock", NOTIF_FAILURE, NULL, "ebpf", "CurrentValue", NULL,
		  false },
		{ "from a program", "exec", NOTIF_FAILURE, NULL, "ebpf", "CurrentValue", NULL,
		  false },
		{ "from the network", "network", NOTIF_FAILURE, NULL, "ebpf", "CurrentValue",
		  "network:received", false },
		{ "from the network, by another plugin", "threshold", NOTIF_FAILURE, NULL, "ebpf",
		  "CurrentValue", "network:received", false },
		{ "from nobody", NULL, NOTIF_FAILURE, NULL, "ebpf", "CurrentValue", NULL, false },
		{ "the plugin's own", "ebpf", NOTIF_FAILURE, NULL, "ebpf", NULL, NULL, false },
	};

	for (size_t i = 0; i < COUNT_OF(notices); i++) {
		notification_meta_t meta[2] = { { .name = "" }, { .name = "" } };
		notification_t n;

		CASE("%s", notices[i].what);
		fill(&n, &notices[i]);
		if (notices[i].meta) {
			snprintf(meta[0].name, sizeof(meta[0].name), "%s", notices[i].meta);
			n.meta = &meta[0];
		}
		if (notices[i].second) {
			snprintf(meta[1].name, sizeof(meta[1].name), "%s", notices[i].second);
			meta[0].next = &meta[1];
		}
		daemon_caller = notices[i].caller;
		CHECK_INT(threshold_has_sent(&n), notices[i].wanted);
	}
	test_begin();
	return testing_end();
}
