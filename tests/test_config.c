/* SPDX-License-Identifier: MIT */
/*
 * The <Plugin ebpf> block: what is right is taken, what is wrong costs one message and itself.
 */
#include "testing.h"

#include "daemon.h"
#include "oconfig.h"

#include "plugin/config.h"
#include "plugin/message.h"

#include <stdlib.h>

#define X16 "0123456789abcdef"
#define X63 X16 X16 X16 "0123456789abcde"

/* Reads text into a new configuration; returns how many mistakes it has. */
static unsigned read_text(struct config *config, const char *text)
{
	oconfig_item_t *block = oconfig_read(text);
	unsigned mistakes;

	daemon_clear();
	CHECK_INT(config_init(config, "/default"), 0);
	mistakes = config_read(config, block);
	oconfig_free(block);
	return mistakes;
}

static void check_strings(const struct strings *list, const char *want)
{
	char got[1024] = "";

	for (size_t i = 0; i < list->count; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s;", list->item[i]);
	CHECK_TEXT(got, want);
}

static void check_percentiles(const struct config *config, const char *want)
{
	char got[256] = "";

	for (size_t i = 0; i < config->percentile_count; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%g ",
			 config->percentiles[i]);
	CHECK_TEXT(got, want);
}

static void test_defaults(void)
{
	struct config config;

	CASE("defaults");
	CHECK_UINT(read_text(&config, ""), 0);
	CHECK_UINT(daemon_messages(), 0);
	CHECK_TEXT(config.object_dir, "/default");
	CHECK_REAL(config.interval_s, 0, 0);
	CHECK_UINT(config.max_services, 256);
	CHECK_INT(config_command_names(&config), true);
	CHECK_INT(config.buckets, false);
	check_percentiles(&config, "50 90 95 99 99.9 ");
	CHECK_UINT(config.service_count + config.probe_count, 0);
	CHECK_INT(config_probe(&config, "process") == NULL, 1);
	config_done(&config);
	config_done(&config);
}

/* Every option with a good value; names in any case. */
static void test_all(void)
{
	static const char text[] = "ObjectDirectory \"/opt/ebpf\"\n"
				   "Interval 2.5\n"
				   "maxservices 100\n"
				   "CommandNames true\n"
				   "PERCENTILE 25 99.99\n"
				   "Buckets true\n"
				   "<Probe \"process\">\n"
				   "  Enable false\n"
				   "  Interval 60\n"
				   "  Object \"/opt/own.bpf.o\"\n"
				   "  Option \"exact_peak\"\n"
				   "  Option \"second\"\n"
				   "  rows 2\n"
				   "</Probe>\n"
				   "<Probe \"disk\">\n"
				   "</Probe>\n"
				   "<Service \"web\">\n"
				   "  Process \"nginx\"\n"
				   "  Process \"php-fpm\"\n"
				   "  ProcessMatch \"^/opt/(app|api)/\"\n"
				   "  ProcessMatch \"--web\"\n"
				   "  Cgroup \"/system.slice//nginx.service/\"\n"
				   "  Cgroup \"web.slice\"\n"
				   "  PidFile \"/run/web.pid\"\n"
				   "  PidFile \"/run/api.pid\"\n"
				   "  PerProcess true\n"
				   "  TopN 3\n"
				   "</Service>\n"
				   "<Service \"db\">\n"
				   "  Process \"postgres\"\n"
				   "</Service>\n";
	const struct service_config *web, *db;
	const struct probe_config *probe;
	struct config config;

	CASE("all options");
	CHECK_UINT(read_text(&config, text), 0);
	CHECK_UINT(daemon_messages(), 0);
	CHECK_TEXT(config.object_dir, "/opt/ebpf");
	CHECK_REAL(config.interval_s, 2.5L, 0);
	CHECK_UINT(config.max_services, 100);
	CHECK_INT(config_command_names(&config), true);
	CHECK_INT(config.buckets, true);
	check_percentiles(&config, "25 99.99 ");

	CASE("probes");
	CHECK_UINT(config.probe_count, 2);
	probe = config_probe(&config, "process");
	CHECK_INT(probe->enable, false);
	CHECK_REAL(probe->interval_s, 60, 0);
	CHECK_TEXT(probe->object, "/opt/own.bpf.o");
	check_strings(&probe->options, "exact_peak;second;");
	CHECK_UINT(probe->rows, 2);
	probe = config_probe(&config, "disk");
	CHECK_INT(probe->enable, true);
	CHECK_REAL(probe->interval_s, 0, 0);
	CHECK_INT(probe->object == NULL, 1);
	check_strings(&probe->options, "");
	CHECK_UINT(probe->rows, CONFIG_ROWS);

	CASE("services");
	CHECK_UINT(config.service_count, 2);
	web = &config.services[0];
	db = &config.services[1];
	CHECK_TEXT(web->name, "web");
	check_strings(&web->commands, "nginx;php-fpm;");
	check_strings(&web->cgroups, "system.slice//nginx.service;web.slice;");
	check_strings(&web->pid_files, "/run/web.pid;/run/api.pid;");
	CHECK_UINT(web->match_count, 2);
	CHECK_INT(regexec(&web->matches[0], "/opt/api/run", 0, NULL, 0), 0);
	CHECK_INT(regexec(&web->matches[0], "x/opt/api/run", 0, NULL, 0), REG_NOMATCH);
	CHECK_INT(regexec(&web->matches[1], "node server.js --web", 0, NULL, 0), 0);
	CHECK_INT(web->per_process, true);
	CHECK_UINT(web->top_n, 3);
	CHECK_TEXT(db->name, "db");
	CHECK_INT(db->per_process, false);
	CHECK_UINT(db->top_n, 10);
	config_done(&config);
}

/* Is each command name a service? */
static void test_command_names(void)
{
	static const struct {
		const char *text;
		bool want;
	} cases[] = {
		{ "", true },
		{ "CommandNames true", true },
		{ "CommandNames false", false },
		{ "<Service \"web\">\nProcess \"nginx\"\n</Service>", false },
		{ "<Service \"web\">\nProcess \"nginx\"\n</Service>\nCommandNames true", true },
		{ "CommandNames true\n<Service \"web\">\nProcess \"nginx\"\n</Service>", true },
		{ "CommandNames false\nCommandNames 5", false },
		{ "CommandNames 5\nCommandNames false", false },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct config config;

		CASE("%s", cases[i].text);
		read_text(&config, cases[i].text);
		CHECK_INT(config_command_names(&config), cases[i].want);
		config_done(&config);
	}
}

/* The ends of what is allowed. */
static void test_limits(void)
{
	static const char *const good[] = {
		"Interval 0.1",
		"Interval 86400",
		"MaxServices 1",
		"MaxServices 4096",
		"Percentile 0.001 99.999",
		"Percentile 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16",
		"<Probe \"" X63 "\">\n</Probe>",
		"<Service \"" X63 "\">\nProcess \"a\"\nTopN 1\n</Service>",
		"<Service \"a\">\nProcess \"0123456789abcde\"\nTopN 1000\n</Service>",
		"<Service \"a\">\nProcessMatch \".\"\n</Service>",
		"<Service \"a\">\nCgroup \"/a\"\n</Service>",
		"<Service \"a\">\nPidFile \"/a\"\n</Service>",
	};

	for (size_t i = 0; i < COUNT_OF(good); i++) {
		struct config config;

		CASE("%.60s", good[i]);
		CHECK_UINT(read_text(&config, good[i]), 0);
		CHECK_UINT(daemon_messages(), 0);
		config_done(&config);
	}
}

/* Each has one mistake, and the message has its text. */
static void test_mistakes(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "Nonsense 5", "<Plugin ebpf>, option Nonsense 5: no such option" },
		{ "Nonsense", "<Plugin ebpf>, option Nonsense: no such option" },
		{ "Nonsense \"x\"", "<Plugin ebpf>, option Nonsense \"x\": no such option" },
		{ "<Nonsense true>\nProcess \"a\"\n</Nonsense>",
		  "option Nonsense true: no such option" },
		{ "Process \"a\"", "option Process \"a\": no such option" },
		{ "ObjectDirectory \"relative/path\"",
		  "option ObjectDirectory \"relative/path\": wants one absolute path" },
		{ "ObjectDirectory \"\"", "option ObjectDirectory \"\": wants" },
		{ "ObjectDirectory 5", "option ObjectDirectory 5: wants" },
		{ "ObjectDirectory", "option ObjectDirectory: wants" },
		{ "ObjectDirectory \"/a\" \"/b\"", "\"/b\"" },
		{ "Interval 0", "option Interval 0: wants seconds" },
		{ "Interval 0.09", "option Interval 0.09: wants seconds" },
		{ "Interval -10", "option Interval -10: wants seconds" },
		{ "Interval 86401", "option Interval 86401: wants seconds" },
		{ "Interval 1e300", "option Interval 1e+300: wants seconds" },
		{ "Interval \"10\"", "option Interval \"10\": wants seconds" },
		{ "Interval \"ten\"", "option Interval \"ten\": wants seconds" },
		{ "Interval true", "option Interval true: wants seconds" },
		{ "Interval", "option Interval: wants seconds" },
		{ "Interval 5 10", "option Interval 5 10: wants seconds" },
		{ "MaxServices 0", "option MaxServices 0: wants a whole number" },
		{ "MaxServices 4097", "option MaxServices 4097: wants" },
		{ "MaxServices -1", "option MaxServices -1: wants" },
		{ "MaxServices 10.5", "option MaxServices 10.5: wants" },
		{ "MaxServices \"many\"", "option MaxServices \"many\": wants" },
		{ "CommandNames 1", "option CommandNames 1: wants true or false" },
		{ "CommandNames \"yes\"", "option CommandNames \"yes\": wants" },
		{ "CommandNames", "option CommandNames: wants" },
		{ "Buckets \"on\"", "option Buckets \"on\": wants" },
		{ "Buckets false true", "option Buckets false true: wants" },
		{ "Percentile 0", "option Percentile 0: wants" },
		{ "Percentile 100", "option Percentile 100: wants" },
		{ "Percentile 50 -1", "option Percentile 50 -1: wants" },
		{ "Percentile 50 101", "option Percentile 50 101: wants" },
		{ "Percentile 50 \"max\"", "option Percentile 50 \"max\": wants" },
		{ "Percentile 50 90 50", "option Percentile 50 90 50: names a percentile twice" },
		{ "Percentile", "option Percentile: wants" },
		{ "Percentile 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", "option Percentile" },
		{ "<Probe>\n</Probe>", "option Probe: wants a name" },
		{ "<Probe \"\">\n</Probe>", "option Probe \"\": wants a name" },
		{ "<Probe 5>\n</Probe>", "option Probe 5: wants a name" },
		{ "<Probe \"a/b\">\n</Probe>", "option Probe \"a/b\": wants a name" },
		{ "<Probe \"" X63 "x\">\n</Probe>", X63 "x\": wants a name" },
		{ "<Probe \"a\" \"b\">\n</Probe>", "\"b\": wants a name" },
		{ "<Probe \"a\">\n</Probe>\n<Probe \"a\">\nEnable false\n</Probe>",
		  "option Probe \"a\": a second block of this name" },
		{ "<Probe \"a\">\nEnable \"no\"\n</Probe>",
		  "<Probe \"a\">, option Enable \"no\": wants true or false" },
		{ "<Probe \"a\">\nInterval 0\n</Probe>",
		  "<Probe \"a\">, option Interval 0: wants seconds" },
		{ "<Probe \"a\">\nObject \"own.bpf.o\"\n</Probe>",
		  "<Probe \"a\">, option Object \"own.bpf.o\": wants one absolute path" },
		{ "<Probe \"a\">\nOption 5\n</Probe>",
		  "<Probe \"a\">, option Option 5: wants one non-empty string" },
		{ "<Probe \"a\">\nOption \"\"\n</Probe>", "option Option \"\": wants" },
		{ "<Probe \"a\">\nRows 1\n</Probe>",
		  "<Probe \"a\">, option Rows 1: wants a whole number from 2 to 1024" },
		{ "<Probe \"a\">\nRows 1025\n</Probe>", "option Rows 1025: wants a whole" },
		{ "<Probe \"a\">\nRows 2.5\n</Probe>", "option Rows 2.5: wants a whole" },
		{ "<Probe \"a\">\nTier 0\n</Probe>",
		  "<Probe \"a\">, option Tier 0: wants a whole number from 1 to 16" },
		{ "<Probe \"a\">\nProcess \"b\"\n</Probe>",
		  "<Probe \"a\">, option Process \"b\": no such option" },
		{ "<Service>\nProcess \"a\"\n</Service>", "option Service: wants a name" },
		{ "<Service true>\nProcess \"a\"\n</Service>",
		  "option Service true: wants a name" },
		{ "<Service \"a/b\">\nProcess \"a\"\n</Service>", "\"a/b\": wants a name" },
		{ "<Service \"" X63 "x\">\nProcess \"a\"\n</Service>", X63 "x\": wants a name" },
		{ "<Service \"other\">\nProcess \"a\"\n</Service>",
		  "option Service \"other\": this name is the plugin's own" },
		{ "<Service \"kernel\">\nProcess \"a\"\n</Service>", "\"kernel\": this name is" },
		{ "<Service \"self\">\nProcess \"a\"\n</Service>", "\"self\": this name is" },
		{ "<Service \"a\">\nProcess \"a\"\n</Service>\n"
		  "<Service \"a\">\nProcess \"b\"\n</Service>",
		  "option Service \"a\": a second block of this name" },
		{ "<Service \"z\">\nProcess \"z\"\n</Service>\n"
		  "<Service \"a b\">\nProcess \"a\"\n</Service>\n"
		  "<Service \"a_b\">\nProcess \"b\"\n</Service>",
		  "option Service \"a_b\": a second block of this name" },
		{ "<Service \"a\">\n</Service>", "option Service \"a\": has no valid Process" },
		{ "Service \"a\"", "option Service \"a\": has no valid Process" },
		{ "<Service \"a\">\nTopN 5\n</Service>", "option Service \"a\": has no valid" },
		{ "<Service \"a\">\nProcess \"a\"\nProcess \"\"\n</Service>",
		  "<Service \"a\">, option Process \"\": wants one non-empty string" },
		{ "<Service \"a\">\nProcess \"a\"\nProcess 5\n</Service>",
		  "option Process 5: wants" },
		{ "<Service \"a\">\nProcess \"a\"\nProcess \"b\" \"c\"\n</Service>",
		  "\"c\": wants" },
		{ "<Service \"a\">\nProcess \"a\"\nProcessMatch \"((x{99}){99}y){99}\"\n</Service>",
		  "repeats too much: more than 2000 steps; skipping it" },
		{ "<Service \"a\">\nProcess \"a\"\nProcessMatch \"(\"\n</Service>",
		  "option ProcessMatch \"(\": not a regular expression: " },
		{ "<Service \"a\">\nProcess \"a\"\nProcessMatch \"a{2,1}\"\n</Service>",
		  "option ProcessMatch \"a{2,1}\": not a regular expression: " },
		{ "<Service \"a\">\nProcess \"a\"\nProcessMatch \"\"\n</Service>",
		  "option ProcessMatch \"\": wants one regular expression" },
		{ "<Service \"a\">\nProcess \"a\"\nProcessMatch 1\n</Service>",
		  "ProcessMatch 1: wants" },
		{ "<Service \"a\">\nProcess \"a\"\nCgroup \"/\"\n</Service>",
		  "option Cgroup \"/\": the root cgroup holds every process" },
		{ "<Service \"a\">\nProcess \"a\"\nCgroup \"//\"\n</Service>",
		  "Cgroup \"//\": the root" },
		{ "<Service \"a\">\nProcess \"a\"\nCgroup 1\n</Service>",
		  "option Cgroup 1: wants" },
		{ "<Service \"a\">\nProcess \"a\"\nPidFile \"a.pid\"\n</Service>",
		  "option PidFile \"a.pid\": wants one absolute path" },
		{ "<Service \"a\">\nProcess \"a\"\nPerProcess 1\n</Service>",
		  "option PerProcess 1: wants true or false" },
		{ "<Service \"a\">\nProcess \"a\"\nTopN 0\n</Service>",
		  "option TopN 0: wants a whole number from 1 to 1000" },
		{ "<Service \"a\">\nProcess \"a\"\nTopN 1001\n</Service>",
		  "option TopN 1001: wants" },
		{ "<Service \"a\">\nProcess \"a\"\nTopN 1.5\n</Service>",
		  "option TopN 1.5: wants" },
		{ "<Service \"a\">\nProcess \"a\"\nMaxServices 5\n</Service>",
		  "<Service \"a\">, option MaxServices 5: no such option" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct config config;

		CASE("%.80s", cases[i].text);
		CHECK_UINT(read_text(&config, cases[i].text), 1);
		CHECK_UINT(daemon_messages(), 1);
		CHECK_INT(daemon_severity(0), LOG_ERR);
		CHECK_HAS(daemon_message(0), cases[i].want);
		CHECK_HAS(daemon_message(0), "; skipping it");
		config_done(&config);
	}
}

/* What was right before and after a mistake stays. */
static void test_rest_works(void)
{
	static const char text[] = "Interval 5\n"
				   "Interval \"never\"\n"
				   "ObjectDirectory \"/good\"\n"
				   "ObjectDirectory \"bad\"\n"
				   "MaxServices 7\n"
				   "MaxServices 0\n"
				   "Percentile 10 20\n"
				   "Percentile 10 200\n"
				   "<Service \"lost\">\n"
				   "  ProcessMatch \"[\"\n"
				   "</Service>\n"
				   "<Service \"kept\">\n"
				   "  TopN 5\n"
				   "  TopN 5000\n"
				   "  ProcessMatch \"[\"\n"
				   "  Process \"a\"\n"
				   "</Service>\n"
				   "<Probe \"kept\">\n"
				   "  Object \"/good.bpf.o\"\n"
				   "  Object \"bad.bpf.o\"\n"
				   "  Enable false\n"
				   "</Probe>\n"
				   "Buckets true\n";
	struct config config;

	CASE("the rest works");
	CHECK_UINT(read_text(&config, text), 9);
	CHECK_UINT(daemon_messages(), 9);
	CHECK_REAL(config.interval_s, 5, 0);
	CHECK_TEXT(config.object_dir, "/good");
	CHECK_UINT(config.max_services, 7);
	check_percentiles(&config, "10 20 ");
	CHECK_UINT(config.service_count, 1);
	CHECK_TEXT(config.services[0].name, "kept");
	CHECK_UINT(config.services[0].top_n, 5);
	check_strings(&config.services[0].commands, "a;");
	CHECK_UINT(config.services[0].match_count, 0);
	CHECK_TEXT(config_probe(&config, "kept")->object, "/good.bpf.o");
	CHECK_INT(config_probe(&config, "kept")->enable, false);
	CHECK_INT(config.buckets, true);
	config_done(&config);
}

/* The kernel keeps 15 bytes of a command name: said, and compared like that. */
static void test_long_command(void)
{
	struct config config;

	CASE("a long command name");
	CHECK_UINT(read_text(&config,
			     "<Service \"a\">\nProcess \"gnome-terminal-server\"\n</Service>"),
		   0);
	CHECK_UINT(daemon_messages(), 1);
	CHECK_INT(daemon_severity(0), LOG_NOTICE);
	CHECK_HAS(daemon_message(0), "<Service \"a\">, option Process \"gnome-terminal-server\"");
	check_strings(&config.services[0].commands, "gnome-terminal-;");
	config_done(&config);
}

/* A Service block more than there is room for. */
static void test_too_many(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	struct config config;

	CASE("513 services");
	for (int i = 0; i <= CONFIG_SERVICES_MAX; i++)
		fprintf(file, "<Service \"s%d\">\nProcess \"p%d\"\n</Service>\n", i, i);
	fclose(file);
	CHECK_UINT(read_text(&config, text), 1);
	CHECK_UINT(daemon_messages(), 1);
	CHECK_HAS(daemon_message(0), "option Service \"s512\": one more than the 512");
	CHECK_UINT(config.service_count, CONFIG_SERVICES_MAX);
	config_done(&config);
	free(text);
}

/* Two blocks, as two files of collectd.conf.d give: one after the other. */
static void test_two_blocks(void)
{
	oconfig_item_t *second =
		oconfig_read("Interval 7\n<Service \"a\">\nProcess \"x\"\n</Service>"
			     "\n<Service \"b\">\nProcess \"y\"\n</Service>");
	struct config config;

	CASE("two blocks");
	CHECK_UINT(read_text(&config, "Interval 5\n<Service \"a\">\nProcess \"z\"\n</Service>"), 0);
	CHECK_UINT(config_read(&config, second), 1);
	CHECK_REAL(config.interval_s, 7, 0);
	CHECK_UINT(config.service_count, 2);
	check_strings(&config.services[0].commands, "z;");
	config_done(&config);
	oconfig_free(second);
}

int main(void)
{
	message_to(daemon_take);
	test_defaults();
	test_all();
	test_command_names();
	test_limits();
	test_mistakes();
	test_rest_works();
	test_long_command();
	test_too_many();
	test_two_blocks();
	daemon_clear();
	return testing_end();
}
