/* SPDX-License-Identifier: MIT */
/*
 * The <Plugin ebpf> block: what is right is taken.
 */
#include "configuration.h"

#include "bpf/lib/service.h"

#define X16 "0123456789abcdef"
#define IN_A(lines) "<Service \"a\">\nProcess \"a\"\n" lines "\n</Service>"
#define X63 X16 X16 X16 "0123456789abcde"

static void check_parameters(const struct probe_config *probe, const char *want)
{
	char got[1024] = "", text[NUMBER_TEXT_MAX];

	for (size_t i = 0; i < probe->parameter_count; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s %s %d;",
			 probe->parameters[i].name, number_text(probe->parameters[i].value, text),
			 probe->parameters[i].is_boolean);
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
	CHECK_UINT(config_new_services(&config), 256);
	CHECK_INT(config.max_memory_mib >= 256, 1); /* more on many CPUs */
	CHECK_REAL(config.max_sampling, 0.5L, 0);
	CHECK_REAL(config.max_overhead, 1, 0);
	CHECK_UINT(config_services_from(&config),
		   SERVICES_FROM_CONTAINERS | SERVICES_FROM_UNITS | SERVICES_FROM_COMMANDS);
	CHECK_HAS(config.profiles.directory, "/lib/collectd/profiles");
	CHECK_UINT(config.profiles.keep_hours, 168);
	CHECK_UINT(config.profiles.keep_mib, 1024);
	CHECK_UINT(config.profiles.seconds, 60);
	CHECK_INT(config_on_threshold(&config, "profile"), false);
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
				   "SymbolReader \"/opt/ebpf-symbols\"\n"
				   "Interval 2.5\n"
				   "maxservices 100\n"
				   "MaxMemory 1048576\n"
				   "MaxSampling 12.5\n"
				   "MaxOverhead 2.5\n"
				   "servicesfrom \"Commands\"\n"
				   "PERCENTILE 25 99.99\n"
				   "Buckets true\n"
				   "<profiles>\n"
				   "  Directory \"/srv/profiles\"\n"
				   "  keephours 87600\n"
				   "  KeepMiB 1\n"
				   "  OnThreshold \"profile\" \"my probe\"\n"
				   "  onthreshold \"offcpu\"\n"
				   "  Seconds 600\n"
				   "</profiles>\n"
				   "<Probe \"process\">\n"
				   "  Enable false\n"
				   "  Interval 60\n"
				   "  MaxOverhead 0.01\n"
				   "  Object \"/opt/own.bpf.o\"\n"
				   "  Option \"exact_peak\"\n"
				   "  Option \"second\"\n"
				   "  Label \"syscall\" \"read\"\n"
				   "  Label \"service\" \"web\"\n"
				   "  label \"syscall\" \"write\" \"pre*\"\n"
				   "  Collect \"default\" \"ps_vm\"\n"
				   "  collect \"contextswitch-*\"\n"
				   "  Ignore \"swap\"\n"
				   "  Attach \"kprobe:f\"\n"
				   "  Attach \"uprobe:/x:f\" \"program\"\n"
				   "  Parameter \"a\" 5\n"
				   "  Parameter \"b\" \"-0x10\"\n"
				   "  Parameter \"c\" true\n"
				   "  rows 2\n"
				   "  Frequency 12.5\n"
				   "  budget 0.01\n"
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
				   "  Response \"5xx\" \"HTTP/1.? 5\"\n"
				   "  response \"4xx\" \"HTTP/1.? 4\"\n"
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
	CHECK_TEXT(config.symbol_reader, "/opt/ebpf-symbols");
	CHECK_REAL(config.interval_s, 2.5L, 0);
	CHECK_UINT(config.max_services, 100);
	CHECK_UINT(config.max_memory_mib, 1048576);
	CHECK_REAL(config.max_sampling, 12.5L, 0);
	CHECK_REAL(config.max_overhead, 2.5L, 0);
	CHECK_UINT(config_services_from(&config), SERVICES_FROM_COMMANDS);
	CHECK_TEXT(config.profiles.directory, "/srv/profiles");
	CHECK_UINT(config.profiles.keep_hours, 87600);
	CHECK_UINT(config.profiles.keep_mib, 1);
	CHECK_UINT(config.profiles.seconds, 600);
	CHECK_UINT(config.profiles.on_threshold.count, 3);
	CHECK_INT(config_on_threshold(&config, "profile"), true);
	CHECK_INT(config_on_threshold(&config, "my_probe"), true);
	CHECK_INT(config_on_threshold(&config, "offcpu"), true);
	CHECK_INT(config_on_threshold(&config, "disk"), false);
	CHECK_INT(config.buckets, true);
	check_percentiles(&config, "25 99.99 ");

	CASE("probes");
	CHECK_UINT(config.probe_count, 2);
	probe = config_probe(&config, "process");
	CHECK_INT(probe->enable, false);
	CHECK_REAL(probe->interval_s, 60, 0);
	CHECK_REAL(probe->max_overhead, 0.01, 0);
	CHECK_TEXT(probe->object, "/opt/own.bpf.o");
	check_strings(&probe->options, "exact_peak;second;");
	CHECK_UINT(probe->label_count, 2);
	CHECK_TEXT(probe->labels[0].word, "syscall");
	check_strings(&probe->labels[0].patterns, "read;write;pre*;");
	CHECK_TEXT(probe->labels[1].word, "service");
	check_strings(&probe->labels[1].patterns, "web;");
	check_strings(&probe->collect, "default;ps_vm;contextswitch-*;");
	check_strings(&probe->ignore, "swap;");
	CHECK_UINT(probe->attach_count, 2);
	CHECK_TEXT(probe->attaches[0].text, "kprobe:f");
	CHECK_INT(probe->attaches[0].program == NULL, 1);
	CHECK_TEXT(probe->attaches[1].program, "program");
	CHECK_TEXT(probe->attaches[1].point.path, "/x");
	check_parameters(probe, "a 5 0;b -16 0;c 1 1;");
	CHECK_UINT(probe->rows, 2);
	CHECK_REAL(probe->frequency_hz, 12.5L, 0);
	CHECK_REAL(probe->budget_percent, 0.01L, 1e-12L);
	probe = config_probe(&config, "disk");
	CHECK_INT(probe->enable, true);
	CHECK_REAL(probe->interval_s, 0, 0);
	CHECK_REAL(probe->max_overhead, 0, 0);
	CHECK_INT(probe->object == NULL, 1);
	check_strings(&probe->options, "");
	CHECK_UINT(probe->rows, 0);
	CHECK_REAL(probe->frequency_hz, 0, 0);
	CHECK_REAL(probe->budget_percent, 0, 0);

	CASE("services");
	CHECK_UINT(config.service_count, 2);
	web = &config.services[0];
	db = &config.services[1];
	CHECK_TEXT(web->name, "web");
	check_strings(&web->commands, "nginx;php-fpm;");
	check_strings(&web->cgroups, "system.slice/nginx.service;web.slice;");
	check_strings(&web->pid_files, "/run/web.pid;/run/api.pid;");
	CHECK_UINT(web->match_count, 2);
	CHECK_INT(pattern_match(&web->matches[0], "/opt/api/run"), true);
	CHECK_INT(pattern_match(&web->matches[0], "x/opt/api/run"), false);
	CHECK_INT(pattern_match(&web->matches[1], "node server.js --web"), true);
	CHECK_UINT(web->responses.count, 2);
	CHECK_TEXT(web->responses.rule[1].class_name, "4xx");
	check_strings(&config.classes, "unknown;5xx;4xx;");
	CHECK_INT(web->per_process, true);
	CHECK_UINT(web->top_n, 3);
	CHECK_TEXT(db->name, "db");
	CHECK_INT(db->per_process, false);
	CHECK_UINT(db->top_n, 10);
	config_done(&config);
}

/* What names a service that no block does, and does the path of a cgroup matter? */
static void test_services_from(void)
{
	enum { CONTAINERS = SERVICES_FROM_CONTAINERS, UNITS = SERVICES_FROM_UNITS };
	enum { COMMANDS = SERVICES_FROM_COMMANDS, ALL = CONTAINERS | UNITS | COMMANDS };
	static const struct {
		const char *text;
		unsigned want;
		bool groups;
	} cases[] = {
		{ "", ALL, true },
		{ "ServicesFrom \"commands\"", COMMANDS, false },
		{ "ServicesFrom \"Units\" \"containers\"", CONTAINERS | UNITS, true },
		{ "ServicesFrom \"units\"\nServicesFrom \"x\"", UNITS, true },
		{ "ServicesFrom \"None\"", 0, false },
		{ IN_A(""), 0, false },
		{ IN_A("Unit \"x\"\n"), 0, true },
		{ IN_A("Container \"x\"\n"), 0, true },
		{ "ServicesFrom \"containers\"\n" IN_A(""), CONTAINERS, true },
		{ "ServicesFrom \"containers\" \"units\" \"commands\"\n" IN_A(""), ALL, true },
		{ "ServicesFrom \"commands\"\n" IN_A(""), COMMANDS, false },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct config config;

		CASE("sources: %s", cases[i].text);
		read_text(&config, cases[i].text);
		CHECK_UINT(config_services_from(&config), cases[i].want);
		CHECK_INT(config_needs_groups(&config), cases[i].groups);
		config_done(&config);
	}
}

/* The ends of what is allowed. */
static void test_limits(void)
{
	static const char *const good[] = {
		"Interval 0.1",
		"Interval 86400",
		"MaxMemory 1",
		"MaxServices 1",
		"MaxServices 4096",
		"MaxNewServices 1",
		"MaxNewServices 1000000",
		"Percentile 0.001 99.999",
		"Percentile 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16",
		"<Probe \"" X63 "\">\n</Probe>",
		"<Service \"" X63 "\">\nProcess \"a\"\nPerProcess true\nTopN 1\n</Service>",
		"<Service \"a\">\nProcess \"0123456789abcde\"\nPerProcess true\nTopN 1000\n</Service>",
		"<Service \"a\">\nProcessMatch \".\"\n</Service>",
		"<Service \"a\">\nCgroup \"/a\"\n</Service>",
		"<Service \"a\">\nPidFile \"/a\"\n</Service>",
		"<Service \"a\">\nUnit \"php-fpm@*.service\"\nUnit \"nginx\"\n</Service>",
		"<Service \"a\">\nContainer \"web-*\"\nContainer \"0123456789ab\"\n</Service>",
	};

	for (size_t i = 0; i < COUNT_OF(good); i++) {
		struct config config;

		CASE("%.60s", good[i]);
		CHECK_UINT(read_text(&config, good[i]), 0);
		CHECK_UINT(daemon_messages(), 0);
		config_done(&config);
	}
}

/* What only the whole configuration can tell. */
static void test_check(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "MaxServices 5", NULL },
		{ "MaxServices 5\nServicesFrom \"commands\"\n" IN_A(""), NULL },
		{ IN_A(""), NULL },
		{ "MaxServices 5\n" IN_A(""),
		  "ignoring MaxServices 5 in <Plugin ebpf>: there are Service "
		  "blocks, so no other service has a row" },
		{ "MaxNewServices 5", NULL },
		{ "MaxNewServices 5\n" IN_A(""),
		  "ignoring MaxNewServices 5 in <Plugin ebpf>: there are Service blocks" },
		{ "MaxServices 5\n" IN_A("Container \"x\"\n"), NULL },
		{ "ServicesFrom \"none\"\nMaxServices 5",
		  "ignoring MaxServices 5 in <Plugin ebpf>: ServicesFrom is \"none\", so" },
		{ "ServicesFrom \"units\"\nMaxServices 5\n" IN_A(""), NULL },
	};
	struct config config;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("whole: %.60s", cases[i].text);
		CHECK_UINT(read_text(&config, cases[i].text), 0);
		CHECK_UINT(daemon_messages(), 0);
		config_check(&config);
		CHECK_UINT(daemon_messages(), cases[i].want ? 1 : 0);
		CHECK_HAS(daemon_message(0), cases[i].want ? cases[i].want : "");
		config_done(&config);
	}
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
	test_services_from();
	test_limits();
	test_check();
	test_two_blocks();
	daemon_clear();
	return testing_end();
}
