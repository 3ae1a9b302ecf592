/* SPDX-License-Identifier: MIT */
/*
 * Which probes open, in the real kernel, and what is said of those that do not. Needs the right to
 * load BPF programs.
 */
#include "sample.h"

#include <string.h>
#include <sys/prctl.h>

/* Probes that do not open: the error says why, and nothing is left to free. */
static void test_bad_probes(void)
{
	struct error error = { "" };

	CASE("no such file");
	CHECK_INT(open_probe("/none.bpf.o", &error), -ENOENT);
	CHECK_HAS(error.text, "sample: cannot read /none.bpf.o");
	CASE("nothing to read");
	config_done(&config);
	read_config("");
	CHECK_INT(open_probe(testing_built("bpf/service.bpf.o"), &error), -ENOENT);
	CHECK_HAS(error.text, "has METRIC tags");
	CASE("a word that is none: file, map, member and word");
	CHECK_INT(open_probe(testing_built("tests/bpf/nonsense.bpf.o"), &error), -EINVAL);
	CHECK_HAS(error.text, "sample: ");
	CHECK_HAS(error.text, testing_built("tests/bpf/nonsense.bpf.o"));
	CHECK_HAS(error.text, ": map nonsense, member bad: unknown word \"nonsense\"");
	CASE("two tables with a map of each other's");
	CHECK_INT(open_probe(testing_built("tests/bpf/shared.bpf.o"), &error), -EINVAL);
	CHECK_HAS(error.text, "map sharing: shares a map with shared");
	CASE("no such option");
	config_done(&config);
	read_config("  Option \"nonsense\"\n");
	CHECK_INT(open_probe(config_probe(&config, "sample")->object, &error), -ENOENT);
	CHECK_HAS(error.text, "Option \"nonsense\"");
	CHECK_INT(probe.object.bpf == NULL && probe.tables == NULL && probe.path == NULL, 1);
}

static int open_costly(const char *options, struct error *error)
{
	config_done(&config);
	read_config(options);
	return open_probe(testing_built("tests/bpf/costly.bpf.o"), error);
}

/* The only tier that loads needs an option; another one has a table of three rows. */
static void test_costly(void)
{
	struct error error = { "" };

	CASE("an option is needed");
	CHECK_INT(open_costly("", &error), PROBE_NEEDS_OPTION);
	CHECK_HAS(error.text, "sample: cannot load into the kernel");
	CHECK_HAS(error.text, "; Option \"costly\" in its Probe block would use other hooks");
	CHECK_UINT(daemon_messages(), 0);
	CASE("the option that is needed");
	CHECK_INT(open_costly("  Option \"costly\"\n", &error), 0);
	CHECK_UINT(probe.object.tier, 2);
	prctl(PR_SET_NAME, "test_probe");
	read_probe();
	CHECK_INT(daemon_gauge("sample/derive-renames") >= 1, 1);
	CHECK_REAL(daemon_gauge("sample/gauge-known_other"), 0, 0);
	CHECK_REAL(daemon_gauge("sample-2/derive-extra_renames"), DAEMON_NONE, 0);
	CHECK_UINT(probe.table_count, 1);
	CASE("rows of services wait for no probe that reads none");
	CHECK_INT(probe.reader, -1);
	probe_done(&probe);
	CASE("both options");
	CHECK_INT(open_costly("  Option \"extra\"\n  Option \"costly\"\n", &error), 0);
	prctl(PR_SET_NAME, "test_probe");
	read_probe();
	CHECK_INT(daemon_gauge("sample-2/derive-extra_renames") >= 1, 1);
	probe_done(&probe);
	CASE("a tier alone");
	CHECK_INT(open_costly("  Option \"costly\"\n  Tier 1\n", &error) < 0, 1);
	CHECK_HAS(error.text, "sample: cannot load into the kernel");
	CHECK_INT(open_costly("  Tier 2\n", &error), PROBE_NEEDS_OPTION);
	CHECK_HAS(error.text, "it has no Tier 2; Option \"costly\" in its Probe block");
	CHECK_INT(open_costly("  Option \"costly\"\n  Tier 3\n", &error), -ENOENT);
	CHECK_HAS(error.text, "sample: it has no Tier 3");
	CHECK_UINT(daemon_messages(), 0);
	CASE("a mistake is no want of an option");
	CHECK_INT(open_costly("  Option \"nonsense\"\n", &error), -ENOENT);
	CHECK_HAS(error.text, "Option \"nonsense\"");
}

int main(void)
{
	int status = sample_begin();

	if (status)
		return status;
	test_bad_probes();
	test_costly();
	services_done(&services);
	config_done(&config);
	daemon_clear();
	return testing_end();
}
