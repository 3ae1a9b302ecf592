/* SPDX-License-Identifier: MIT */
/*
 * Limits of the configuration: what exceeds one costs one message and only itself.
 */
#include "tests/unit/fake/configuration.h"

/* All blocks beyond the limit are in one message. */
static void test_too_many(const char *kind, unsigned most, const char *option)
{
	char *text = NULL, want[128];
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	struct config config;

	CASE("5000 %s blocks", kind);
	for (unsigned i = 0; i < 5000; i++)
		fprintf(file, "<%s \"s%u\">\n%s \"p%u\"\n</%s>\n", kind, i, option, i, kind);
	fclose(file);
	CHECK_UINT(read_text(&config, text), 5000 - most);
	CHECK_UINT(daemon_messages(), 1);
	CHECK_INT(daemon_severity(0), LOG_ERR);
	snprintf(want, sizeof(want), "ignoring %u %s blocks after <%s \"s%u\">: %u is the most ",
		 5000 - most, kind, kind, most - 1, most);
	CHECK_HAS(daemon_message(0), want);
	CHECK_UINT(config.service_count + config.probe_count, most);
	config_done(&config);
	free(text);
}

/* The same mistake in every line, as a script would make it. */
static void test_flood(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	struct config config;

	CASE("a flood");
	for (int i = 0; i < 5000; i++)
		fprintf(file, "Proces%d \"p\"\nInterval \"%d\"\n", i, i);
	fclose(file);
	CHECK_UINT(read_text(&config, text), 10000);
	CHECK_INT(daemon_messages() <= 30, 1);
	CHECK_HAS(daemon_message(daemon_messages() - 1), " more like it, the last of them ");
	config_done(&config);
	free(text);
}

/* A Label line applies with all of its names, or not at all. */
static void test_too_many_labels(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	struct config config;

	CASE("labels and their names");
	fprintf(file, "<Probe \"a\">\n");
	for (int i = 1; i < CONFIG_LABEL_NAMES_MAX; i++)
		fprintf(file, "Label \"syscall\" \"p%d\"\n", i);
	fprintf(file, "Label \"syscall\" \"x\" \"y\"\nLabel \"syscall\" \"p1\" \"z\" \"p2\"\n");
	for (int i = 1; i < CONFIG_LABELS_MAX; i++)
		fprintf(file, "Label \"l%d\" \"x\"\n", i);
	fprintf(file, "Label \"l\" \"x\"\n</Probe>\n");
	fclose(file);
	CHECK_UINT(read_text(&config, text), 2);
	CHECK_HAS(daemon_message(0),
		  "ignoring Label \"syscall\" \"x\" \"y\" in <Probe \"a\">: a label "
		  "has at most 256 such names");
	CHECK_HAS(daemon_message(1),
		  "ignoring Label \"l\" \"x\" in <Probe \"a\">: a block has at most "
		  "16 labels");
	CHECK_UINT(config.probes[0].label_count, CONFIG_LABELS_MAX);
	CHECK_UINT(config.probes[0].labels[0].globs.count, CONFIG_LABEL_NAMES_MAX);
	CHECK_TEXT(config.probes[0].labels[0].globs.item[CONFIG_LABEL_NAMES_MAX - 1], "z");
	config_done(&config);
	free(text);
}

/* A line that is refused leaves no label, which without names would match no row. */
static void test_label_of_too_many_names(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	struct config config;

	CASE("a label whose only line has too many names");
	fprintf(file, "<Probe \"a\">\nLabel \"syscall\"");
	for (int i = 0; i <= CONFIG_LABEL_NAMES_MAX; i++)
		fprintf(file, " \"p%d\"", i);
	fprintf(file, "\n</Probe>\n");
	fclose(file);
	CHECK_UINT(read_text(&config, text), 1);
	CHECK_UINT(config.probes[0].label_count, 0);
	config_done(&config);
	free(text);
}

/* A line of expressions applies with all of them, or not at all. */
static void test_too_many_expressions(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	struct config config;

	CASE("names of metrics");
	fprintf(file, "<Probe \"a\">\n");
	for (int i = 1; i < CONFIG_GLOBS_MAX; i++)
		fprintf(file, "Collect \"p%d\"\n", i);
	fprintf(file,
		"Collect \"x\" \"y\"\nCollect \"p1\" \"z\" \"z\"\nIgnore \"x\" \"y\"\n</Probe>\n");
	fclose(file);
	CHECK_UINT(read_text(&config, text), 1);
	CHECK_HAS(daemon_message(0),
		  "ignoring Collect \"x\" \"y\" in <Probe \"a\">: a block has at "
		  "most 256 such names");
	CHECK_UINT(config.probes[0].collect.count, CONFIG_GLOBS_MAX);
	CHECK_TEXT(config.probes[0].collect.item[CONFIG_GLOBS_MAX - 1], "z");
	check_strings(&config.probes[0].ignore, "x;y;");
	config_done(&config);
	free(text);
}

int main(void)
{
	message_to(daemon_record);
	test_too_many("Service", CONFIG_SERVICES_MAX, "Process");
	test_too_many("Probe", CONFIG_PROBES_MAX, "Option");
	test_too_many_labels();
	test_label_of_too_many_names();
	test_too_many_expressions();
	test_flood();
	daemon_clear();
	return testing_end();
}
