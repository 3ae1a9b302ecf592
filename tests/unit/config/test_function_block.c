/* SPDX-License-Identifier: MIT */
/*
 * Function blocks: valid ones, and mistakes.
 */
#include "tests/unit/fake/configuration.h"

#define PROBE(text) "<Probe \"functions\">\n" text "</Probe>\n"
#define FUNCTION(name, lines) "<Function \"" name "\">\n" lines "</Function>\n"
#define ONE(lines) PROBE(FUNCTION("f", AT lines))
#define AT "Attach \"uprobe:/x:f\"\n"
#define X31 "0123456789abcdef0123456789abcde"

static const struct function_config *only(const struct config *config)
{
	return config->probe_count == 1 && config->probes[0].function_count == 1
		       ? config->probes[0].functions
		       : NULL;
}

static void test_all(void)
{
	static const char text[] = PROBE(FUNCTION("ssl-read", AT "Attach \"kprobe:vfs_read\"\n"
								 "Latency true\n"
								 "Errors \"<=\" -5 \"s64\"\n"
								 "Argument 2 \"sum\" \"u32\"\n"
								 "MaxOverhead 2.5\n"
								 "Service \"web\" \"db\"\n"
								 "Service \"mail\"\n"));
	struct config config;
	const struct function_config *function;

	CASE("all");
	CHECK_UINT(read_text(&config, text), 0);
	function = only(&config);
	CHECK_INT(function != NULL, true);
	if (function) {
		CHECK_TEXT(function->name, "ssl_read");
		CHECK_UINT(function->attach_count, 2);
		CHECK_INT(function->latency, true);
		CHECK_UINT(function->comparison, FUNCTION_LESS_OR_EQUAL);
		CHECK_INT(function->error_value, -5);
		CHECK_UINT(function->error_type.size, 8);
		CHECK_UINT(function->argument.use, FUNCTION_SUM);
		CHECK_UINT(function->argument.number, 2);
		CHECK_UINT(function->argument.type.size, 4);
		CHECK_REAL(function->max_overhead, 2.5L, 0);
		check_strings(&function->services, "web;db;mail;");
	}
	config_done(&config);
}

static void test_good(void)
{
	static const char *const cases[] = {
		ONE("Errors \"==\" \"0xffffffffffffffff\" \"u64\"\n"),
		ONE("Errors \"==\" \"18446744073709551615\" \"u64\"\n"),
		ONE("Argument \"return\" \"histogram\"\n"),
		ONE("Argument 16 \"label\" \"string\"\n"),
		PROBE(FUNCTION("f", "Attach \"usdt:/x:a:b\"\nArgument 1 \"label\"\n")),
		PROBE(FUNCTION("f", "Attach \"kprobe:f\"\nArgument \"size\" \"sum\"\n")),
		PROBE(FUNCTION("f", "Attach \"fentry:f\"\nLatency true\n")),
		PROBE(FUNCTION("f", "Attach \"uprobe:/x:f+4\"\n")),
		PROBE(FUNCTION(X31, AT "Argument 1 \"label\"\n")),
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct config config;

		CASE("%s", cases[i]);
		CHECK_UINT(read_text(&config, cases[i]), 0);
		CHECK_INT(only(&config) != NULL, true);
		config_done(&config);
	}
}

static void test_bad(void)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ ONE("Errors \"<\"\n"), "it takes a comparison" },
		{ ONE("Errors \"=<\" 0\n"), "it takes a comparison" },
		{ ONE("Errors \"<\" 0.5\n"), "it takes a comparison" },
		{ ONE("Errors \"<\" \"1x\"\n"), "it takes a comparison" },
		{ ONE("Errors \"<\" 0 \"string\"\n"), "the type is u8" },
		{ ONE("Errors \"<\" 0 4\n"), "the type is u8" },
		{ ONE("Errors \">\" 3000000000\n"), "its type, s32, cannot hold this number" },
		{ ONE("Errors \"<\" -1 \"u32\"\n"), "its type, u32, cannot hold this number" },
		{ ONE("Argument 0 \"sum\"\n"), "it takes the number of an argument" },
		{ ONE("Argument 17 \"sum\"\n"), "it takes the number of an argument" },
		{ ONE("Argument 1 \"all\"\n"), "it takes the number of an argument" },
		{ ONE("Argument 1\n"), "it takes the number of an argument" },
		{ ONE("Argument 1 \"sum\" \"u128\"\n"), "the type is u8" },
		{ ONE("Argument 1 \"sum\" \"string\"\n"), "only \"label\" takes a string" },
		{ ONE("Argument \"return\" \"label\"\n"), "what is returned is for" },
		{ ONE("Latency 1\n"), "true or false" },
		{ ONE("MaxOverhead 0\n"), "a number from 0.01 to 100, percent of all CPUs" },
		{ ONE("MaxOverhead 101\n"), "a number from 0.01 to 100, percent of all CPUs" },
		{ ONE("Service 1\n"), "names of Service blocks" },
		{ ONE("Service\n"), "names of Service blocks" },
		{ ONE("Attach \"uretprobe:/x:f\"\n"), "the return from it comes with" },
		{ ONE("Attach \"tracepoint:a:b\"\n"), "a function is named by" },
		{ ONE("Attach \"uprobe::f\"\n"), "after uprobe:" },
		{ ONE("Attache \"uprobe:/x:f\"\n"), "is Attach meant" },
		{ PROBE("Latency true\n"), "it belongs in a Function block" },
		{ PROBE(FUNCTION("f", "Latency true\n")),
		  "it has no Attach, so there is nothing to count" },
		{ PROBE(FUNCTION("a/b", AT)), "without a slash" },
		{ PROBE(FUNCTION(X31 "f", AT "Argument 1 \"label\"\n")), "at most 31 bytes" },
		{ PROBE(FUNCTION("f", "Attach \"usdt:/x:a:b\"\nLatency true\n")), "has no return" },
		{ PROBE(FUNCTION("f", "Attach \"uprobe:/x:f+4\"\nLatency true\n")),
		  "is not the start of a function" },
		{ PROBE(FUNCTION("f", AT "Attach \"usdt:/x:a:b\"\nArgument 1 \"sum\"\n")),
		  "in different places" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct config config;

		CASE("%s", cases[i].text);
		CHECK_UINT(read_text(&config, cases[i].text), 1);
		CHECK_HAS(daemon_message(0), cases[i].why);
		config_done(&config);
	}
}

/* Names that receivers would take for one. */
static void test_alike(void)
{
	static const char text[] = PROBE(FUNCTION("a b", AT) FUNCTION("a_b", AT) FUNCTION("a.b", AT)
						 FUNCTION("a b", "Latency true\n"));
	struct config config;

	CASE("alike");
	CHECK_UINT(read_text(&config, text), 0);
	CHECK_UINT(config.probes[0].function_count, 3);
	CHECK_TEXT(config.probes[0].functions[0].name, "a_b");
	CHECK_TEXT(config.probes[0].functions[0].text, "a b");
	CHECK_INT(config.probes[0].functions[0].latency, true);
	CHECK_TEXT(config.probes[0].functions[1].name, "a_b+04f4ad52");
	CHECK_TEXT(config.probes[0].functions[2].name, "a.b+0466522d");
	config_done(&config);
}

static void test_many(void)
{
	char text[64 * 300] = "<Probe \"functions\">\n";
	struct config config;

	CASE("more than there may be");
	for (int i = 0; i <= FUNCTIONS_MAX; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "<Function \"f%d\">\n" AT "</Function>\n", i);
	strcat(text, "</Probe>\n");
	CHECK_UINT(read_text(&config, text), 1);
	CHECK_UINT(config.probes[0].function_count, FUNCTIONS_MAX);
	CHECK_HAS(daemon_message(0), "at most 256");
	config_done(&config);
}

int main(void)
{
	message_to(daemon_record);
	test_all();
	test_good();
	test_bad();
	test_alike();
	test_many();
	return testing_end();
}
