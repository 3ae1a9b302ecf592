/* SPDX-License-Identifier: MIT */
/*
 * Blocks of the configuration: a mistake costs one message and only the line or block that has it.
 */
#include "tests/unit/fake/configuration.h"

#define X16 "0123456789abcdef"
#define A_RESPONSE(text) "Response \"a\" \"" text "\"\n"
#define IN_A(lines) "<Service \"a\">\nProcess \"a\"\n" lines "\n</Service>"
#define X63 X16 X16 X16 "0123456789abcde"

/* Each text has one mistake, and the message quotes it. */
static void test_mistakes(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "Nonsense 5", "ignoring Nonsense 5 in <Plugin ebpf>: unknown option, see" },
		{ "Nonsense", "ignoring Nonsense in <Plugin ebpf>: unknown option" },
		{ "Nonsense \"x\"", "ignoring Nonsense \"x\" in <Plugin ebpf>: unknown option" },
		{ "<Nonsense true>\nProcess \"a\"\n</Nonsense>", "ignoring <Nonsense true> in" },
		{ "Intervall 5", "unknown option; is Interval meant?" },
		{ "max_services 5", "unknown option; is MaxServices meant?" },
		{ "ServiceFrom \"units\"", "unknown option; is ServicesFrom meant?" },
		{ "Service5 \"a\"", "unknown option; is Service meant?" },
		{ "Process \"a\"",
		  "ignoring Process \"a\" in <Plugin ebpf>: it belongs in a Service" },
		{ "Rows 5", "ignoring Rows 5 in <Plugin ebpf>: it belongs in a Probe block" },
		{ "<Interval 5>\nx 5\n</Interval>",
		  "ignoring <Interval 5> in <Plugin ebpf>: this option takes a value" },
		{ "ObjectDirectory \"relative/path\"",
		  "ignoring ObjectDirectory \"relative/path\" in <Plugin ebpf>: it takes one absolute" },
		{ "ObjectDirectory \"\"",
		  "ignoring ObjectDirectory \"\" in <Plugin ebpf>: it takes" },
		{ "ObjectDirectory 5", "ignoring ObjectDirectory 5 in" },
		{ "ContainerState \"data\"",
		  "ignoring ContainerState \"data\" in <Plugin ebpf>: it takes one absolute path" },
		{ "ContainerState \"/a\" \"/b\"", "it takes one absolute path" },
		{ "ObjectDirectory", "ignoring ObjectDirectory in" },
		{ "ObjectDirectory \"/a\" \"/b\"", "\"/b\"" },
		{ "Interval 0",
		  "Interval 0 in <Plugin ebpf>: it takes a number of seconds from 0.1 to " },
		{ "Interval 0.09", "ignoring Interval 0.09 in" },
		{ "Interval -10", "ignoring Interval -10 in" },
		{ "Interval 86401", "ignoring Interval 86401 in" },
		{ "Interval 1e300", "ignoring Interval 1e+300 in" },
		{ "Interval \"10\"",
		  "it takes a number of seconds from 0.1 to 86400, without quotes" },
		{ "Interval \"ten\"", "ignoring Interval \"ten\" in" },
		{ "Interval true", "ignoring Interval true in" },
		{ "Interval", "ignoring Interval in" },
		{ "Interval 5 10", "ignoring Interval 5 10 in" },
		{ "MaxMemory 0", "it takes a whole number from 1 to 1048576" },
		{ "MaxMemory 1048577", "ignoring MaxMemory 1048577 in" },
		{ "MaxMemory \"1G\"", "ignoring MaxMemory \"1G\" in" },
		{ "MaxSampling 0", "it takes a number from 0.01 to 100, percent of one CPU" },
		{ "MaxSampling 101", "ignoring MaxSampling 101 in" },
		{ "MaxSampling \"1%\"", "ignoring MaxSampling \"1%\" in" },
		{ "MaxOverhead -1", "it takes a number from 0.01 to 100, percent of all CPUs" },
		{ "MaxOverhead 0", "ignoring MaxOverhead 0 in <Plugin ebpf>" },
		{ "MaxOverhead 100.1", "ignoring MaxOverhead 100.1 in" },
		{ "MaxOverhead \"2\"", "percent of all CPUs, without quotes" },
		{ "MaxOverhead \"2%\"", "ignoring MaxOverhead \"2%\" in" },
		{ "MaxOverhead 1 2", "ignoring MaxOverhead 1 2 in" },
		{ "MaxServices 0", "it takes a whole number from 1 to 4096" },
		{ "MaxServices 4097", "ignoring MaxServices 4097 in" },
		{ "MaxServices -1", "ignoring MaxServices -1 in" },
		{ "MaxServices 10.5", "ignoring MaxServices 10.5 in" },
		{ "MaxServices \"many\"",
		  "it takes a whole number from 1 to 4096, without quotes" },
		{ "Buckets 1", "ignoring Buckets 1 in <Plugin ebpf>: it takes true or false" },
		{ "Buckets \"yes\"", "it takes true or false, without quotes" },
		{ "Buckets", "ignoring Buckets in" },
		{ "ServicesFrom \"none\" \"units\"", "or only \"none\"" },
		{ "ServicesFrom", "it takes \"containers\", \"units\" and \"commands\", or some" },
		{ "ServicesFrom true", "ignoring ServicesFrom true in" },
		{ "ServicesFrom \"pods\"", "ignoring ServicesFrom \"pods\" in" },
		{ "ServicesFrom \"units\" \"units\"", "each once" },
		{ "ServicesFrom \"commands\" \"units\"",
		  "nothing can follow \"commands\", as every process has a command name" },
		{ "ServiceFrom \"units\"", "unknown option; is ServicesFrom meant?" },
		{ "DiskName", "it takes \"dm\", \"md\", \"by-id\" and \"kernel\", or some" },
		{ "DiskName \"by-path\"", "ignoring DiskName \"by-path\" in <Plugin ebpf>" },
		{ "DiskName 1", "ignoring DiskName 1 in" },
		{ "DiskName \"dm\" \"DM\"", "each once" },
		{ IN_A("Unit 5"), "it takes the name of a unit, such as \"nginx.service\"" },
		{ IN_A("Unit \"\""), "it takes the name of a unit" },
		{ IN_A("Unit \"system.slice/x.service\""), "for a path use Cgroup" },
		{ IN_A("Unit \"a.timer\""), "units of type timer have no processes" },
		{ IN_A("Unit \"b*\"\nUnit \"bb.service\""),
		  "ignoring Unit \"bb.service\" in <Service \"a\">: Unit \"b*\" of this block covers" },
		{ IN_A("Container \"\""), "it takes the name or the id of a container" },
		{ IN_A("Container \"shop/web\""), "\"NAMESPACE_POD_CONTAINER\"" },
		{ IN_A("Unit \"nginx[.service\""),
		  "ignoring Unit \"nginx[.service\" in <Service \"a\">: its [ has no ]; brackets" },
		{ IN_A("Unit \"a[0-9].service\"\nUnit \"a[0-9][!x.service\""), "its [ has no ]" },
		{ IN_A("Container \"web[*\""),
		  "ignoring Container \"web[*\" in <Service \"a\">: its [ has no ]; brackets enclose" },
		{ IN_A("Container \"w*\"\nContainer \"web\""),
		  "Container \"w*\" of this block covers it" },
		{ IN_A("Container \"user-*:*\"\nContainer \"user-a:web\""),
		  "Container \"user-*:*\" of this block covers it" },
		{ "Unit \"a\"", "ignoring Unit \"a\" in <Plugin ebpf>: it belongs in a Service" },
		{ "Buckets \"on\"", "ignoring Buckets \"on\" in" },
		{ "Buckets false true", "ignoring Buckets false true in" },
		{ "Percentile 0", "it takes numbers above 0 and below 100" },
		{ "Percentile 100", "ignoring Percentile 100 in" },
		{ "Percentile 50 -1", "ignoring Percentile 50 -1 in" },
		{ "Percentile 50 101", "ignoring Percentile 50 101 in" },
		{ "Percentile 50 \"max\"", "ignoring Percentile 50 \"max\" in" },
		{ "Percentile 50 90 50",
		  "Percentile 50 90 50 in <Plugin ebpf>: it has a percentile twice" },
		{ "Percentile", "it takes 1 to 16 numbers" },
		{ "Percentile 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", "ignoring Percentile" },
		{ "<Profiles \"x\">\n</Profiles>", "ignoring <Profiles \"x\">: it takes no name" },
		{ "<Profiles>\nKeepHours 0\n</Profiles>",
		  "KeepHours 0 in <Profiles>: it takes a whole number from 1 to 87600" },
		{ "<Profiles>\nKeepMiB 1048577\n</Profiles>", "a whole number from 1 to 1048576" },
		{ "<Profiles>\nSeconds 601\n</Profiles>", "a whole number from 1 to 600" },
		{ "<Profiles>\nOnThreshold\n</Profiles>", "it takes 1 to " },
		{ "<Profiles>\nOnThreshold \"profile\" 5\n</Profiles>",
		  "OnThreshold \"profile\" 5 in <Profiles>: it takes names of probes, in quotes" },
		{ "<Profiles>\nDirectory \"profiles\"\n</Profiles>",
		  "Directory \"profiles\" in <Profiles>: it takes one absolute path" },
		{ "<Profiles>\nKeepMib2 5\n</Profiles>", "is KeepMiB meant?" },
		{ "KeepHours 5",
		  "ignoring KeepHours 5 in <Plugin ebpf>: it belongs in the Profiles" },
		{ "Profiles \"x\"", "ignoring" },
		{ "<Probe \"a\">\n<Service \"b\">\nProcess \"c\"\n</Service>\n</Probe>",
		  "ignoring <Service \"b\"> in <Probe \"a\">: it belongs in <Plugin ebpf> itself" },
		{ "<Probe \"a\">\nService \"b\"\n</Probe>",
		  "ignoring Service \"b\" in <Probe \"a\">: it belongs in a Function block" },
		{ "<Probe>\n</Probe>",
		  "ignoring <Probe>: it takes one name in quotes, of up to 63 bytes, without a" },
		{ "<Probe \"\">\n</Probe>", "ignoring <Probe \"\">: it takes one name" },
		{ "<Probe 5>\n</Probe>", "ignoring <Probe 5>: it takes one name" },
		{ "<Probe \"a/b\">\n</Probe>", "ignoring <Probe \"a/b\">: it takes one name" },
		{ "<Probe \"" X63 "x\">\n</Probe>", X63 "x\">: it takes one name" },
		{ "<Probe \"a\" \"b\">\n</Probe>", "\"b\">: it takes one name" },
		{ "<Probe \"a\">\nEnable \"no\"\n</Probe>",
		  "ignoring Enable \"no\" in <Probe \"a\">: it takes true or false, without quotes" },
		{ "<Probe \"a\">\nEnabled false\n</Probe>", "is Enable meant?" },
		{ "<Probe \"a\">\nInterval 0\n</Probe>",
		  "ignoring Interval 0 in <Probe \"a\">: it takes a number of seconds" },
		{ "<Probe \"a\">\nObject \"own.bpf.o\"\n</Probe>",
		  "ignoring Object \"own.bpf.o\" in <Probe \"a\">: it takes one absolute path" },
		{ "<Probe \"a\">\nOption 5\n</Probe>",
		  "ignoring Option 5 in <Probe \"a\">: it takes one string that is not empty" },
		{ "<Probe \"a\">\nOption \"\"\n</Probe>", "ignoring Option \"\" in" },
		{ "<Probe \"a\">\nLabel\n</Probe>",
		  "ignoring Label in <Probe \"a\">: it takes a label, such as \"syscall\", and names in" },
		{ "<Probe \"a\">\nLabel \"syscall\"\n</Probe>", "it takes a label, such as" },
		{ "<Probe \"a\">\nLabel \"syscall\" 5\n</Probe>", "it takes a label, such as" },
		{ "<Probe \"a\">\nLabel \"syscall\" \"read\" \"\"\n</Probe>",
		  "it takes a label, such as" },
		{ "<Probe \"a\">\nLabel \"\" \"read\"\n</Probe>", "it takes a label, such as" },
		{ "Label \"syscall\" \"read\"",
		  "ignoring Label \"syscall\" \"read\" in <Plugin ebpf>: it belongs in a Probe" },
		{ "<Probe \"a\">\nCollect\n</Probe>",
		  "ignoring Collect in <Probe \"a\">: it takes names of metrics, in quotes, in" },
		{ "<Probe \"a\">\nCollect \"b\" 5\n</Probe>", "ignoring Collect \"b\" 5 in" },
		{ "<Probe \"a\">\nIgnore \"b\" \"\"\n</Probe>", "it takes names of metrics" },
		{ "<Probe \"a\">\nIgnore true\n</Probe>", "it takes names of metrics" },
		{ "Collect \"b\"", "ignoring Collect \"b\" in <Plugin ebpf>: it belongs in a Pr" },
		{ "<Probe \"a\">\nAttach\n</Probe>",
		  "ignoring Attach in <Probe \"a\">: it takes what to attach to" },
		{ "<Probe \"a\">\nAttach 5\n</Probe>",
		  "it takes what to attach to, and optionally" },
		{ "<Probe \"a\">\nAttach \"kprobe:f\" \"\"\n</Probe>", "it takes what to attach" },
		{ "<Probe \"a\">\nAttach \"kprobe:f\" \"a\" \"b\"\n</Probe>",
		  "it takes what to attach to, and optionally the name of a program" },
		{ "<Probe \"a\">\nAttach \"uprobe:x/y:f\"\n</Probe>",
		  "ignoring Attach \"uprobe:x/y:f\" in <Probe \"a\">: after uprobe: it takes FILE" },
		{ "<Probe \"a\">\nAttach \"fentry:f\"\n</Probe>",
		  "ignoring Attach \"fentry:f\" in <Probe \"a\">: fentry: is for Function blocks" },
		{ "<Probe \"a\">\nAttach \"main\"\n</Probe>", "it takes uprobe:, uretprobe:" },
		{ "<Probe \"a\">\nParameter \"b\"\n</Probe>",
		  "ignoring Parameter \"b\" in <Probe \"a\">: it takes a name, and a whole number" },
		{ "<Probe \"a\">\nParameter 5 5\n</Probe>", "Parameter 5 5 in <Probe \"a\">: it" },
		{ "<Probe \"a\">\nParameter \"\" 5\n</Probe>", "it takes a name, and a whole" },
		{ "<Probe \"a\">\nParameter \"b\" 5 6\n</Probe>", "it takes a name, and a whole" },
		{ "<Probe \"a\">\nParameter \"b\" 0.5\n</Probe>",
		  "after the name it takes true, false or a whole number, one above 2^53 in" },
		{ "<Probe \"a\">\nParameter \"b\" 1e16\n</Probe>", "after the name it takes" },
		{ "<Probe \"a\">\nParameter \"b\" \"5 \"\n</Probe>", "after the name it takes" },
		{ "<Probe \"a\">\nParameter \"b\" \"18446744073709551616\"\n</Probe>",
		  "after the name it takes" },
		{ "<Probe \"a\">\nRows 1\n</Probe>",
		  "ignoring Rows 1 in <Probe \"a\">: it takes a whole number from 2 to 1024" },
		{ "<Probe \"a\">\nRows 1025\n</Probe>", "ignoring Rows 1025 in" },
		{ "<Probe \"a\">\nRows 2.5\n</Probe>", "ignoring Rows 2.5 in" },
		{ "<Probe \"a\">\nHookSet 0\n</Probe>",
		  "ignoring HookSet 0 in <Probe \"a\">: it takes a whole number from 1 to 16" },
		{ "<Probe \"a\">\nFrequency 0.5\n</Probe>",
		  "ignoring Frequency 0.5 in <Probe \"a\">: it takes a number from 1 to 1000, in Hz" },
		{ "<Probe \"a\">\nFrequency 1001\n</Probe>", "ignoring Frequency 1001 in" },
		{ "<Probe \"a\">\nFrequency \"50\"\n</Probe>", "ignoring Frequency \"50\" in" },
		{ "<Probe \"a\">\nBudget 0\n</Probe>",
		  "ignoring Budget 0 in <Probe \"a\">: it takes a number from 0.01 to 100, percent of" },
		{ "<Probe \"a\">\nBudget 100.1\n</Probe>", "ignoring Budget 100.1 in" },
		{ "<Probe \"a\">\nBudget \"1\"\n</Probe>", "percent of one CPU, without quotes" },
		{ "<Probe \"a\">\nMaxOverhead 0\n</Probe>",
		  "ignoring MaxOverhead 0 in <Probe \"a\">: it takes a number from 0.01 to 100, percent" },
		{ "<Probe \"a\">\nMaxOverhead 101\n</Probe>", "ignoring MaxOverhead 101 in" },
		{ "<Probe \"a\">\nMaxOverhead true\n</Probe>", "ignoring MaxOverhead true in" },
		{ "Budget 1", "ignoring Budget 1 in <Plugin ebpf>: it belongs in a Probe block" },
		{ "<Probe \"a\">\nProcess \"b\"\n</Probe>",
		  "ignoring Process \"b\" in <Probe \"a\">: it belongs in a Service block" },
		{ "<Probe \"a\">\nBuckets true\n</Probe>",
		  "ignoring Buckets true in <Probe \"a\">: it belongs in <Plugin ebpf> itself" },
		{ "<Service>\nProcess \"a\"\n</Service>", "ignoring <Service>: it takes one name" },
		{ "<Service true>\nProcess \"a\"\n</Service>",
		  "ignoring <Service true>: it takes" },
		{ "<Service \"a/b\">\nProcess \"a\"\n</Service>", "<Service \"a/b\">: it takes" },
		{ "<Service \"" X63 "x\">\nProcess \"a\"\n</Service>",
		  X63 "x\">: it takes one name" },
		{ "<Service \"other\">\nProcess \"a\"\n</Service>",
		  "ignoring <Service \"other\">: this name is reserved" },
		{ "<Service \"self _\">\nProcess \"x\"\n</Service>",
		  "ignoring <Service \"self _\">: this name is reserved" },
		{ "<Service \"kernel\">\nProcess \"a\"\n</Service>", "\"kernel\">: this name is" },
		{ "<Service \"self\">\nProcess \"a\"\n</Service>", "\"self\">: this name is" },
		{ "<Service \"a\">\n</Service>",
		  "ignoring <Service \"a\">: no process would be in it, as it has no Unit, Cont" },
		{ "Service \"a\"", "ignoring <Service \"a\">: no process would be in it" },
		{ "<Service \"a\">\nPerProcess true\nTopN 5\n</Service>",
		  "<Service \"a\">: no process" },
		{ IN_A("Process \"\""),
		  "ignoring Process \"\" in <Service \"a\">: it takes one string that is not empty" },
		{ IN_A("Process 5"), "ignoring Process 5 in" },
		{ IN_A("Process \"b\" \"c\""), "\"c\" in <Service \"a\">: it takes" },
		{ IN_A("Process \"/usr/sbin/nginx\""),
		  "it takes a command name as ps -o comm shows it, such as \"nginx\"; for a path use "
		  "ProcessMatch" },
		{ IN_A("Process \"./run\""), "such as \"run\"" },
		{ IN_A("Proces \"a\""), "is Process meant?" },
		{ IN_A("Match \"a\""), "unknown option, see collectd-ebpf(5)" },
		{ IN_A("ProcessMatch \"((x{99}){99}y){99}\""),
		  "it is not a regular expression: regular " },
		{ IN_A("ProcessMatch \"(?<n>b)\\\\g{n}\""), "it has a back reference, which can" },
		{ IN_A("ProcessMatch \"(b)\\\\1\""), "it has a back reference, which can" },
		{ IN_A("ProcessMatch \"(\""), "it is not a regular expression: " },
		{ IN_A("ProcessMatch \"\""),
		  "ProcessMatch \"\" in <Service \"a\">: it takes one regular" },
		{ IN_A("ProcessMatch \"^x\"") "\n<Service \"b\">\nProcessMatch \"^x\"\nProcess "
					      "\"c\"\n</Service>",
		  "ignoring ProcessMatch \"^x\" in <Service \"b\">: ProcessMatch \"^x\" of <Service "
		  "\"a\">, which comes first, covers it" },
		{ IN_A("Cgroup \"/\""),
		  "ignoring Cgroup \"/\" in <Service \"a\">: the root cgroup holds every process" },
		{ IN_A("Cgroup \"../x\""), "a cgroup is not called \"..\"" },
		{ IN_A("Cgroup 1"),
		  "ignoring Cgroup 1 in <Service \"a\">: it takes the path of a cgroup" },
		{ IN_A("Cgroup \"web.slice\"\nCgroup \"/web.slice/a/\""),
		  "Cgroup \"/web.slice/a/\" in <Service \"a\">: Cgroup \"web.slice\" of this block" },
		{ IN_A("PidFile \"a.pid\""),
		  "PidFile \"a.pid\" in <Service \"a\">: it takes one absolute" },
		{ IN_A("Response \"5xx\""),
		  "ignoring Response \"5xx\" in <Service \"a\">: it takes the name of a class, and " },
		{ IN_A("Response \"5xx\" \"a\" \"b\""), "such as \"5xx\" \"HTTP/1.? 5\"" },
		{ IN_A("Response \"5-xx\" \"a\""), "a class is named by letters, digits and" },
		{ IN_A("Response \"5xx\" \"" X16 "x\""), "only the first 16 bytes" },
		{ IN_A("Response \"5xx\" \"\\\\n\""), "after a backslash come x and two" },
		{ IN_A("Response \"5xx\" \"a\"\nResponse \"4xx\" \"ab\""),
		  "ignoring Response \"4xx\" \"ab\" in <Service \"a\">: an earlier line, of class \"5xx\"" },
		{ IN_A(A_RESPONSE("1") A_RESPONSE("2") A_RESPONSE("3") A_RESPONSE("4")
			       A_RESPONSE("5") A_RESPONSE("6") A_RESPONSE("7")
				       A_RESPONSE("8") "Response \"a\" \"9\""),
		  "ignoring Response \"a\" \"9\" in <Service \"a\">: a service has 8 such lines" },
		{ "Response \"a\" \"1\"",
		  "ignoring Response \"a\" \"1\" in <Plugin ebpf>: it belongs" },
		{ IN_A("Response \"a\" \"1\"") "\n<Probe \"request\">\nParameter \"payload\" false\n</Probe>",
		  "ignoring Response in <Service \"a\">: Parameter \"payload\" false in <Probe \"request\"> "
		  "forbids reading" },
		{ IN_A("PerProcess 1"), "PerProcess 1 in <Service \"a\">: it takes true or false" },
		{ IN_A("PerProcess true\nTopN 0"), "it takes a whole number from 1 to 1000" },
		{ IN_A("PerProcess true\nTopN 1001"), "ignoring TopN 1001 in" },
		{ IN_A("PerProcess true\nTopN 1.5"), "ignoring TopN 1.5 in" },
		{ "<Service \"a\">\nTopN 5\n</Service>", "<Service \"a\">: no process" },
		{ IN_A("TopN 5"),
		  "ignoring TopN 5 in <Service \"a\">: it requires PerProcess true" },
		{ IN_A("TopN 5\nPerProcess false"),
		  "TopN 5 in <Service \"a\">: it requires PerProcess" },
		{ IN_A("TopN 0"), "it takes a whole number from 1 to 1000" },
		{ IN_A("MaxServices 5"),
		  "ignoring MaxServices 5 in <Service \"a\">: it belongs in <Plugin ebpf> itself" },
		{ IN_A("Enable false"),
		  "Enable false in <Service \"a\">: it belongs in a Probe block" },
		{ IN_A("Process \"b\"") "\n<Service \"b\">\nProcess \"b\"\nProcess \"c\"\n</Service>",
		  "ignoring Process \"b\" in <Service \"b\">: Process \"b\" of <Service \"a\">, which comes "
		  "first, covers it" },
		{ IN_A("Process \"0123456789abcde\"") "\n<Service \"b\">\nProcess \"0123456789abcde\"\n"
						      "PidFile \"/b\"\n</Service>",
		  "Process \"0123456789abcde\" of <Service \"a\">, which comes first" },
		{ IN_A("Cgroup \"b.slice\"") "\n<Service \"b\">\nCgroup \"b.slice/c\"\nProcess \"b\"\n"
					     "Cgroup \"b.slice2\"\n</Service>",
		  "Cgroup \"b.slice/c\" in <Service \"b\">: Cgroup \"b.slice\" of <Service \"a\">" },
		{ IN_A("PidFile \"/b\"") "\n<Service \"b\">\nPidFile \"/b\"\nProcess \"b\"\n</Service>",
		  "PidFile \"/b\" in <Service \"b\">: PidFile \"/b\" of <Service \"a\">" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct config config;

		CASE("%.80s", cases[i].text);
		CHECK_UINT(read_text(&config, cases[i].text), 1);
		CHECK_UINT(daemon_messages(), 1);
		CHECK_INT(daemon_severity(0), LOG_ERR);
		CHECK_HAS(daemon_message(0), cases[i].want);
		CHECK_INT(strncmp(daemon_message(0), "ignoring ", 9), 0);
		config_done(&config);
	}
}

/* Correct lines before and after a mistake are applied. */
static void test_others_work(void)
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
				   "  PerProcess true\n"
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
	CHECK_UINT(read_text(&config, text), 8);
	CHECK_UINT(daemon_messages(), 8);
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

/* Lines that are accepted with a warning. */
static void test_notes(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "<Service \"a\">\nProcess \"gnome-terminal-server\"\n</Service>",
		  "using Process \"gnome-terminal-server\" in <Service \"a\">: its first 15 bytes are "
		  "compared, as the kernel keeps no more of a command name" },
		{ IN_A("PerProcess true\nTopN 3\nTopN 4"),
		  "using TopN 4 in <Service \"a\">: an earlier line has TopN 3; the last one" },
		{ IN_A("Process \"nginx*\""),
		  "using Process \"nginx*\" in <Service \"a\">: it is compared as it is written, "
		  "without wildcards; ProcessMatch takes a regular expression" },
		{ IN_A("Process \"[b]\""),
		  "using Process \"[b]\" in <Service \"a\">: it is compared" },
		{ "DiskName \"kernel\" \"dm\"",
		  "using DiskName \"kernel\" \"dm\" in <Plugin ebpf>: every device has a kernel name, "
		  "so words after \"kernel\" have no effect" },
		{ "Percentile 0.5 0.99",
		  "using Percentile 0.5 0.99 in <Plugin ebpf>: it takes percent, and nothing here "
		  "is above 1; is 99 meant?" },
		{ IN_A("ProcessMatch \".*\"") "\n<Service \"b\">\nUnit \"b\"\n</Service>",
		  "using <Service \"b\">: hardly any process will be in it, as ProcessMatch \".*\" of "
		  "<Service \"a\">, which comes first, fits every command line; write that" },
	};
	struct config config;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("%.80s", cases[i].text);
		CHECK_UINT(read_text(&config, cases[i].text), 0);
		CHECK_UINT(daemon_messages(), 1);
		CHECK_INT(daemon_severity(0), LOG_NOTICE);
		CHECK_HAS(daemon_message(0), cases[i].want);
		if (i == 0)
			check_strings(&config.services[0].commands, "gnome-terminal-;");
		config_done(&config);
	}
}

/* Two command names that are the same in the kernel's 15 bytes are one rule. */
static void test_long_commands(void)
{
	struct config config;

	CASE("long command names");
	CHECK_UINT(read_text(&config, "<Service \"a\">\nProcess \"gnome-terminal-server\"\n"
				      "Process \"gnome-terminal-client\"\n</Service>"),
		   0);
	CHECK_UINT(daemon_messages(), 2);
	CHECK_HAS(daemon_message(1), "using Process \"gnome-terminal-client\" in");
	check_strings(&config.services[0].commands, "gnome-terminal-;");
	config_done(&config);
}

/* A block without a valid line is dropped; the block whose processes it would have had applies. */
static void test_hidden_block(void)
{
	struct config config;

	CASE("a hidden block");
	CHECK_UINT(read_text(&config, IN_A("Cgroup \"x\"") "\n<Service \"b\">\nProcess \"a\"\n"
							   "Cgroup \"x/y\"\n</Service>\n"
							   "<Service \"c\">\nProcess \"c\"\n"
							   "</Service>"),
		   2);
	CHECK_UINT(daemon_messages(), 2);
	CHECK_UINT(config.service_count, 2);
	CHECK_TEXT(config.services[1].name, "c");
	check_strings(&config.services[1].commands, "c;");
	config_done(&config);
}

int main(void)
{
	message_to(daemon_record);
	test_mistakes();
	test_others_work();
	test_notes();
	test_long_commands();
	test_hidden_block();
	daemon_clear();
	return testing_end();
}
