/* SPDX-License-Identifier: MIT */
/*
 * Which probes open in the real kernel, and the errors of those that do not. Needs the right to
 * load BPF programs.
 */
#include "tests/unit/fake/sample.h"

#include <string.h>
#include <sys/prctl.h>

/* Probes that do not open: the error is the reason, and nothing needs to be freed. */
static void test_bad_probes(void)
{
	struct error error = { "" };

	CASE("no such file");
	CHECK_INT(open_probe("/none.bpf.o", &error), -ENOENT);
	CHECK_HAS(error.text, "cannot read /none.bpf.o");
	CASE("nothing to read");
	config_done(&config);
	read_config("");
	CHECK_INT(open_probe(testing_built("bpf/engine/service.bpf.o"), &error), -ENOENT);
	CHECK_HAS(error.text, "has METRIC, EVENT or STACKS tags");
	CASE("a word that is none: file, map, member and word");
	CHECK_INT(open_probe(testing_built("tests/bpf/nonsense.bpf.o"), &error), -EINVAL);
	CHECK_HAS(error.text, testing_built("tests/bpf/nonsense.bpf.o"));
	CHECK_HAS(error.text, ": map nonsense, member bad: unknown word \"nonsense\"");
	CASE("two tables, each with a map of the other");
	CHECK_INT(open_probe(testing_built("tests/bpf/shared.bpf.o"), &error), -EINVAL);
	CHECK_HAS(error.text, "map sharing: shares a map with shared");
	CASE("a licence");
	CHECK_INT(open_probe(testing_built("tests/bpf/proprietary.bpf.o"), &error), -EINVAL);
	CHECK_HAS(error.text, "GPL-restricted function");
	CHECK_HAS(error.text, "; the object's section \"license\" must name a licence");
	CASE("a verdict");
	CHECK_INT(open_probe(testing_built("tests/bpf/rejected.bpf.o"), &error), -EACCES);
	CHECK_HAS(error.text, ": R1 invalid mem access ");
	CHECK_HAS(error.text, "; the kernel's verifier rejects the program");
	CHECK_INT(probe.object.bpf == NULL && probe.tables == NULL && probe.path == NULL, 1);
}

/* Mistakes in tables; each is selected by an option of its name, which it costs. */
static void test_mistakes(void)
{
	static const struct {
		const char *option, *want;
	} cases[] = {
		{ "forgotten", "map forgotten: its rows have METRIC tags, but it does not say what "
			       "a row stands for; put SUBJECT(\"service\"), " },
		{ "twice", "map twice: the series derive-mistakes of services are those of map "
			   "fine of the probe sample already" },
		{ "unranked", "map unranked: no member has the word rank" },
		{ "each",
		  "map each: BY_CPU goes with SUBJECT(\"key\") and no word cpu, of a per-CPU "
		  "array or hash" },
	};
	struct error error = { "" };

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char option[64];

		CASE("mistake: %s", cases[i].option);
		snprintf(option, sizeof(option), "  Option \"%s\"\n", cases[i].option);
		config_done(&config);
		read_config(option);
		CHECK_INT(open_probe(testing_built("tests/bpf/mistakes.bpf.o"), &error), 0);
		CHECK_UINT(daemon_messages(), 1);
		CHECK_HAS(daemon_message(0), "probe sample: ignoring Option \"");
		CHECK_HAS(daemon_message(0), cases[i].want);
		probe_done(&probe);
	}
	CASE("no mistake");
	config_done(&config);
	read_config("");
	CHECK_INT(open_probe(testing_built("tests/bpf/mistakes.bpf.o"), &error), 0);
	probe_done(&probe);
}

/* The second probe with an object is off, whatever its name; the first one works. */
static void test_same_object(void)
{
	struct error error = { "" };
	struct probe second;
	const char *object;

	CASE("the same object as two probes");
	config_done(&config);
	read_config("");
	object = testing_built("tests/bpf/mistakes.bpf.o");
	CHECK_INT(open_probe(object, &error), 0);
	CHECK_INT(probe_open(&second, "second", object, 10, NULL, &services, dispatch_type, &error),
		  -EEXIST);
	CHECK_HAS(error.text, "map fine: the series derive-mistakes of services are those of map "
			      "fine of the probe sample already; switch one of the probes off");
	CHECK_INT(second.object.bpf == NULL && second.tables == NULL && second.path == NULL, 1);
	read_probe();
	probe_done(&probe);
	CASE("the same object, the first probe is closed");
	CHECK_INT(probe_open(&second, "second", object, 10, NULL, &services, dispatch_type, &error),
		  0);
	probe_done(&second);
}

static int open_costly(const char *options, struct error *error)
{
	config_done(&config);
	read_config(options);
	return open_probe(testing_built("tests/bpf/costly.bpf.o"), error);
}

/* The only hook set that loads needs an option; another one has a table of three rows. */
static void test_costly(void)
{
	struct error error = { "" };

	CASE("an option is needed");
	CHECK_INT(open_costly("", &error), PROBE_NEEDS_OPTION);
	CHECK_HAS(error.text, "cannot load into the kernel");
	CHECK_HAS(error.text, "; Option \"costly\" in its Probe block would use other hooks");
	CHECK_UINT(daemon_messages(), 0);
	CASE("the option that is needed");
	CHECK_INT(open_costly("  Option \"costly\"\n", &error), 0);
	CHECK_UINT(probe.object.hook_set, 2);
	prctl(PR_SET_NAME, "test_probe");
	read_probe();
	CHECK_INT(daemon_gauge("sample/derive-renames") >= 1, 1);
	CHECK_REAL(daemon_gauge("sample/gauge-known_other"), 0, 0);
	CHECK_REAL(daemon_gauge("sample-2/derive-extra_renames"), DAEMON_NONE, 0);
	CHECK_UINT(probe.table_count, 1);
	CASE("rows of services do not wait for a probe that reads none");
	CHECK_INT(probe.subscriber, -1);
	probe_done(&probe);
	CASE("both options");
	CHECK_INT(open_costly("  Option \"extra\"\n  Option \"costly\"\n", &error), 0);
	prctl(PR_SET_NAME, "test_probe");
	read_probe();
	CHECK_INT(daemon_gauge("sample-2/derive-extra_renames") >= 1, 1);
	probe_done(&probe);
	CASE("a hook set only");
	CHECK_INT(open_costly("  Option \"costly\"\n  HookSet 1\n", &error) < 0, 1);
	CHECK_HAS(error.text, "cannot load into the kernel");
	CHECK_UINT(daemon_messages(), 0);
	CASE("lines that the object does not know cost themselves");
	CHECK_INT(open_costly("  Option \"costly\"\n  Option \"extar\"\n  HookSet 3\n  Rows 5\n",
			      &error),
		  0);
	CHECK_UINT(probe.object.hook_set, 2);
	CHECK_UINT(daemon_messages(), 4);
	CHECK_HAS(daemon_message(0), "ignoring Option \"extar\": it has \"extra\", \"costly\"");
	CHECK_HAS(daemon_message(1), "ignoring HookSet 3: it has hook sets 1, 2");
	CHECK_HAS(daemon_message(2), "hook set 1 is unavailable");
	CHECK_HAS(daemon_message(3), "ignoring Rows 5: all its services have rows, and its keys");
	probe_done(&probe);
	CHECK_INT(open_costly("  HookSet 2\n", &error), PROBE_NEEDS_OPTION);
	CHECK_HAS(daemon_message(0), "ignoring HookSet 2: it needs Option \"costly\", too");
	CHECK_HAS(error.text, "; Option \"costly\" in its Probe block");
}

/* Rows is for tables that give out rows on first use only. */
static void test_rows(void)
{
	struct error error = { "" };

	CASE("rows");
	config_done(&config);
	read_config("  Rows 2\n  HookSet 3\n");
	CHECK_INT(open_probe(testing_built("tests/bpf/sample.bpf.o"), &error), 0);
	CHECK_UINT(daemon_messages(), 0);
	probe_done(&probe);
}

int main(void)
{
	int status = sample_begin();

	if (status)
		return status;
	test_bad_probes();
	test_mistakes();
	test_same_object();
	test_costly();
	test_rows();
	services_done(&services);
	file_helper_done(&files);
	config_done(&config);
	daemon_clear();
	return testing_end();
}
