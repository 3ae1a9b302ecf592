/* SPDX-License-Identifier: MIT */
/*
 * The <Plugin ebpf> block: correct lines and their values.
 */
#include "tests/unit/fake/configuration.h"

#include "bpf/lib/services/service.h"

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
	CHECK_TEXT(config.object_dir, "/objects");
	CHECK_TEXT(config.symbol_helper, "/symbols");
	CHECK_TEXT(config.event_file, "/base/ebpf/events.jsonl");
	CHECK_TEXT(config.profiles.directory, "/base/profiles");
	CHECK_REAL(config.interval_s, 0, 0);
	CHECK_UINT(config.max_services, 256);
	CHECK_UINT(config_new_services(&config), 256);
	CHECK_INT(config.max_memory_mib >= 320, 1); /* more on machines of many CPUs */
	CHECK_REAL(config.max_sampling, 0.5L, 0);
	CHECK_REAL(config.max_overhead, 1, 0);
	CHECK_UINT(config.services_from,
		   SERVICES_FROM_CONTAINERS | SERVICES_FROM_UNITS | SERVICES_FROM_COMMANDS);
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

static void test_no_events(void)
{
	struct config config;

	CASE("no events");
	CHECK_UINT(read_text(&config, "EventFile \"\""), 0);
	CHECK_TEXT(config.event_file, "");
	config_done(&config);
	CASE("no path");
	CHECK_UINT(read_text(&config, "EventFile \"events\""), 1);
	CHECK_HAS(daemon_message(0),
		  "ignoring EventFile \"events\" in <Plugin ebpf>: it takes one absolute path");
	CHECK_TEXT(config.event_file, "/base/ebpf/events.jsonl");
	config_done(&config);
}

/* Every option with a valid value; names of options in any case. */
static void test_all(void)
{
	static const char text[] = "ObjectDirectory \"/opt/ebpf\"\n"
				   "ContainerState \"/srv/a\"\n"
				   "containerstate \"/srv/b\"\n"
				   "SymbolHelper \"/opt/ebpf-symbols\"\n"
				   "eventfile \"/srv/events\"\n"
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
	CHECK_UINT(config.container_states.count, 2);
	CHECK_TEXT(config.container_states.item[1], "/srv/b");
	CHECK_TEXT(config.object_dir, "/opt/ebpf");
	CHECK_TEXT(config.symbol_helper, "/opt/ebpf-symbols");
	CHECK_REAL(config.interval_s, 2.5L, 0);
	CHECK_UINT(config.max_services, 100);
	CHECK_UINT(config.max_memory_mib, 1048576);
	CHECK_REAL(config.max_sampling, 12.5L, 0);
	CHECK_REAL(config.max_overhead, 2.5L, 0);
	CHECK_UINT(config.services_from, SERVICES_FROM_COMMANDS);
	CHECK_TEXT(config.event_file, "/srv/events");
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
	check_strings(&probe->labels[0].globs, "read;write;pre*;");
	CHECK_TEXT(probe->labels[1].word, "service");
	check_strings(&probe->labels[1].globs, "web;");
	check_strings(&probe->collect, "default;ps_vm;contextswitch-*;");
	check_strings(&probe->ignore, "swap;");
	CHECK_UINT(probe->attach_count, 2);
	CHECK_TEXT(probe->attaches[0].text, "kprobe:f");
	CHECK_INT(probe->attaches[0].program == NULL, 1);
	CHECK_TEXT(probe->attaches[1].program, "program");
	CHECK_TEXT(probe->attaches[1].hook.path, "/x");
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
	CHECK_INT(regex_match(&web->matches[0], "/opt/api/run"), true);
	CHECK_INT(regex_match(&web->matches[0], "x/opt/api/run"), false);
	CHECK_INT(regex_match(&web->matches[1], "node server.js --web"), true);
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

/* ServicesFrom: what names a service that no block does, and whether cgroup paths are needed
 * then. */
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
		{ IN_A(""), ALL, true },
		{ "ServicesFrom \"none\"\n" IN_A(""), 0, false },
		{ "ServicesFrom \"none\"\n" IN_A("Unit \"x\"\n"), 0, true },
		{ "ServicesFrom \"none\"\n" IN_A("Container \"x\"\n"), 0, true },
		{ "ServicesFrom \"containers\"\n" IN_A(""), CONTAINERS, true },
		{ "ServicesFrom \"containers\" \"units\" \"commands\"\n" IN_A(""), ALL, true },
		{ "ServicesFrom \"commands\"\n" IN_A(""), COMMANDS, false },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct config config;

		CASE("sources: %s", cases[i].text);
		read_text(&config, cases[i].text);
		CHECK_UINT(config.services_from, cases[i].want);
		CHECK_INT(config_needs_groups(&config), cases[i].groups);
		config_done(&config);
	}
}

static void test_disk_name(void)
{
	static const struct {
		const char *text;
		size_t count;
		enum disk_name_word words[DISK_NAME_WORDS];
	} cases[] = {
		{ "", 2, { DISK_NAME_DM, DISK_NAME_MD } },
		{ "DiskName \"kernel\"", 1, { DISK_NAME_KERNEL } },
		{ "DiskName \"By-Id\" \"dm\"", 2, { DISK_NAME_BY_ID, DISK_NAME_DM } },
		{ "DiskName \"dm\" \"md\" \"by-id\" \"kernel\"",
		  4,
		  { DISK_NAME_DM, DISK_NAME_MD, DISK_NAME_BY_ID, DISK_NAME_KERNEL } },
		{ "DiskName \"kernel\"\nDiskName \"x\"", 1, { DISK_NAME_KERNEL } },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct config config;

		CASE("%s", cases[i].text);
		read_text(&config, cases[i].text);
		CHECK_UINT(config.disk_names.count, cases[i].count);
		for (size_t k = 0; k < cases[i].count; k++)
			CHECK_UINT(config.disk_names.word[k], cases[i].words[k]);
		config_done(&config);
	}
}

/* Both ends of the permitted ranges. */
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
		"<Service \"a\">\nContainer \"user-*\"\nContainer \"user-a:web\"\n</Service>",
	};

	for (size_t i = 0; i < COUNT_OF(good); i++) {
		struct config config;

		CASE("%.60s", good[i]);
		CHECK_UINT(read_text(&config, good[i]), 0);
		CHECK_UINT(daemon_messages(), 0);
		config_done(&config);
	}
}

/* Mistakes that only the whole configuration shows. */
static void test_check(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "MaxServices 5", NULL },
		{ "MaxServices 5\n" IN_A(""), NULL },
		{ "MaxNewServices 5", NULL },
		{ "ServicesFrom \"none\"\nMaxServices 5\n" IN_A("Container \"x\"\n"), NULL },
		{ "ServicesFrom \"none\"\n" IN_A(""), NULL },
		{ "ServicesFrom \"none\"\nMaxServices 5",
		  "ignoring MaxServices 5 in <Plugin ebpf>: ServicesFrom is \"none\", so" },
		{ "ServicesFrom \"none\"\nMaxNewServices 5\n" IN_A(""),
		  "ignoring MaxNewServices 5 in <Plugin ebpf>: ServicesFrom is \"none\", so" },
		{ "ServicesFrom \"units\"\nMaxServices 5\n" IN_A(""), NULL },
	};
	struct config config;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("whole: %.60s", cases[i].text);
		CHECK_UINT(read_text(&config, cases[i].text), cases[i].want ? 1 : 0);
		CHECK_UINT(daemon_messages(), cases[i].want ? 1 : 0);
		CHECK_HAS(daemon_message(0), cases[i].want ? cases[i].want : "");
		config_done(&config);
	}
}

/* Reads two <Plugin> blocks, as two files of collectd.conf.d give them. */
static unsigned read_two(struct config *config, const char *first, const char *second)
{
	oconfig_item_t *blocks[] = { oconfig_read(first), oconfig_read(second) };
	unsigned mistakes = 0;

	daemon_clear();
	config_init(config);
	for (size_t i = 0; i < COUNT_OF(blocks); i++) {
		mistakes += config_read(config, blocks[i]);
		oconfig_free(blocks[i]);
	}
	return mistakes + config_finish(config);
}

static void test_merged_services(void)
{
	struct config config;

	CASE("a service of two blocks");
	CHECK_UINT(read_two(&config,
			    "<Service \"a\">\nProcess \"z\"\nResponse \"x\" \"1\"\n</Service>\n"
			    "<Service \"b\">\nTopN 7\n</Service>",
			    "<Service \"b\">\nProcess \"y\"\nPerProcess true\n</Service>\n"
			    "<Service \"a\">\nProcess \"z\"\nProcess \"x\"\n"
			    "Response \"x\" \"1\"\nResponse \"y\" \"2\"\n</Service>"),
		   0);
	CHECK_UINT(daemon_messages(), 0);
	CHECK_UINT(config.service_count, 2);
	check_strings(&config.services[0].commands, "z;x;");
	CHECK_UINT(config.services[0].responses.count, 2);
	check_strings(&config.services[1].commands, "y;");
	CHECK_UINT(config.services[1].top_n, 7);
	config_done(&config);
}

static void test_merged_probes(void)
{
	struct config config;
	const struct probe_config *probe;

	CASE("a probe of two blocks");
	CHECK_UINT(read_two(&config,
			    "<Probe \"p q\">\nEnable true\nOption \"x\"\nParameter \"n\" 1\n"
			    "<Function \"f\">\nLatency true\n</Function>\n"
			    "<Table \"m\">\nEntries 5\n<Key \"k\">\n</Key>\n</Table>\n</Probe>",
			    "<Probe \"p q\">\nEnable true\nOption \"x\"\nOption \"y\"\n"
			    "Parameter \"n\" 1\nAttach \"kprobe:f\"\nAttach \"kprobe:f\"\n"
			    "<Function \"f\">\nAttach \"kprobe:g\"\nAttach \"kprobe:g\"\n"
			    "</Function>\n<Table \"m\">\nEachCpu true\n</Table>\n</Probe>"),
		   0);
	CHECK_UINT(daemon_messages(), 0);
	CHECK_UINT(config.probe_count, 1);
	probe = &config.probes[0];
	check_strings(&probe->options, "x;y;");
	CHECK_UINT(probe->parameter_count, 1);
	CHECK_UINT(probe->attach_count, 1);
	CHECK_UINT(probe->function_count, 1);
	CHECK_UINT(probe->functions[0].attach_count, 1);
	CHECK_INT(probe->functions[0].latency, true);
	CHECK_UINT(probe->table_count, 1);
	CHECK_UINT(probe->tables[0].entries, 5);
	CHECK_INT(probe->tables[0].each_cpu, true);
	CHECK_UINT(probe->tables[0].key_count, 1);
	config_done(&config);
}

/* A line that is repeated with the same value is no mistake. */
static void test_differences(void)
{
#define F(line) \
	"<Probe \"p\">\n<Function \"f\">\nAttach \"kprobe:f\"\n" line "</Function>\n</Probe>"
	static const struct {
		const char *first, *second, *want;
	} cases[] = {
		{ "Interval 5", "interval 5", NULL },
		{ "Interval 5", "Interval 7",
		  "using Interval 7 in <Plugin ebpf>: an earlier line has Interval 5; the last one "
		  "counts" },
		{ "<Profiles>\nSeconds 5\n</Profiles>", "<Profiles>\nSeconds 6\n</Profiles>",
		  "using Seconds 6 in <Profiles>: an earlier line has Seconds 5; the last one" },
		{ IN_A("PerProcess true"), IN_A("PerProcess false"),
		  "using PerProcess false in <Service \"a\">: an earlier line has PerProcess true;" },
		{ "<Probe \"p\">\nEnable true\n</Probe>", "<Probe \"p\">\nenable false\n</Probe>",
		  "using enable false in <Probe \"p\">: an earlier line has Enable true; the last" },
		{ "<Probe \"p\">\nParameter \"x\" 1\nParameter \"y\" 2\n</Probe>",
		  "<Probe \"p\">\nParameter \"y\" 2\nParameter \"x\" 2\n</Probe>",
		  "using Parameter \"x\" 2 in <Probe \"p\">: an earlier line has Parameter \"x\" 1;" },
		{ F("Argument 1 \"sum\"\n"), F("Argument 2 \"sum\"\n"),
		  "an earlier line has Argument 1 \"sum\"; the last one counts" },
		{ "<Probe \"p\">\n<Table \"m\">\nEntries 1\n</Table>\n</Probe>",
		  "<Probe \"p\">\n<Table \"m\">\nEntries 2\n</Table>\n</Probe>",
		  "using Entries 2 in <Table \"m\">: an earlier line has Entries 1;" },
		{ "<Probe \"p\">\n<Function \"a.b\">\nAttach \"kprobe:f\"\n</Function>\n</Probe>",
		  "<Probe \"p\">\n<Function \"a-b\">\nAttach \"kprobe:g\"\n</Function>\n</Probe>",
		  "using <Function \"a-b\">: its series are called \"a_b+04644884\", as <Function \"a.b\"> "
		  "has its name already" },
		{ "<Service \"b\">\nProcess \"b\"\n</Service>\n" IN_A("Process \"c\""),
		  "<Service \"b\">\nProcess \"c\"\n</Service>",
		  "using Process \"c\" in <Service \"b\">: Process \"c\" of <Service \"a\"> has no "
		  "effect, as it comes later" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct config config;

		CASE("twice: %s", cases[i].second);
		CHECK_UINT(read_two(&config, cases[i].first, cases[i].second), 0);
		CHECK_UINT(daemon_messages(), cases[i].want ? 1 : 0);
		if (cases[i].want) {
			CHECK_INT(daemon_severity(0), LOG_NOTICE);
			CHECK_HAS(daemon_message(0), cases[i].want);
		}
		config_done(&config);
	}
}

int main(void)
{
	message_to(daemon_record);
	test_defaults();
	test_no_events();
	test_all();
	test_services_from();
	test_disk_name();
	test_limits();
	test_check();
	test_merged_services();
	test_merged_probes();
	test_differences();
	daemon_clear();
	return testing_end();
}
