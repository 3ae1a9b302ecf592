/* SPDX-License-Identifier: MIT */
/*
 * A separate debug file adds symbols and removes none, whatever happens to the helper that reads
 * it; and the messages about a helper that fails. This program is also that helper: copies of it do
 * what their name says, or run ebpf-symbols.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/helper.h"

#include "plugin/helper/symbol_location.h"
#include "plugin/helper/symbol_message.h"
#include "tests/unit/separate_debug.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

static struct file_helper files;
static uint64_t shown_offset; /* of `shown`, in each of the programs */

/* --- the helper --- */

static const struct played_helper {
	const char *name;
	int signal; /* that ends it; 0: it exits without a reply */
	const char *want;
	bool may_pass;
} played_helpers[] = {
	{ "crashes", SIGSEGV, "was ended by signal 11 (Segmentation fault): the file is broken",
	  false },
	{ "gives-up", 0, "sends no valid reply: the file is broken", false },
	{ "computes", SIGXCPU,
	  "takes more than 5 s of CPU time, which is the limit; name functions by", true },
	{ "is-killed", SIGKILL, "was killed (signal 9), by somebody, or by the kernel for lack of",
	  true },
};

static int read_as(char *path)
{
	char *name = strrchr(path, '/') + 1;
	const struct played_helper *played_helper = NULL;
	bool always = strncmp(name, "always-", 7) == 0;

	for (size_t i = 0; i < COUNT_OF(played_helpers); i++)
		if (strcmp(played_helpers[i].name, name + 7 * always) == 0)
			played_helper = &played_helpers[i];
	if (played_helper && (always || fcntl(SYMBOL_FD_DEBUG, F_GETFD) >= 0)) {
		if (!played_helper->signal)
			return EXIT_FAILURE;
		signal(played_helper->signal, SIG_DFL); /* sanitizers have handlers */
		raise(played_helper->signal);
	}
	strcpy(name, "reader");
	execl(path, "ebpf-symbols", NULL);
	return EXIT_FAILURE;
}

/* --- the test --- */

static const struct symbol_wanted wanted[] = {
	{ .name = "shown" },
	{ .name = "hidden" },
};

static int find(const char *played_helper, struct symbol_found *found, struct error *error)
{
	struct symbol_file file;
	int status;

	set_symbol_helper(&files, scratch_path(played_helper));
	if (symbol_open(&files, scratch_path("stripped"), 0, &file, error) != 0)
		abort();
	status = symbol_find(&files, &file, wanted, COUNT_OF(wanted), found, error);
	symbol_close(&file);
	return status;
}

/* Symbols of the file itself are found in any case. */
static void check(const char *played_helper, int hidden_status, const char *why, const char *note)
{
	struct symbol_found found[COUNT_OF(wanted)];
	struct error error = { "" };
	int status = find(played_helper, found, &error);

	CHECK_INT(status, 0);
	if (status) {
		printf("%s\n", error.text);
		return;
	}
	CHECK_INT(found[0].status, 0);
	CHECK_UINT(found[0].count, 1);
	CHECK_UINT(found[0].locations[0].offset, shown_offset);
	CHECK_INT(found[1].status, hidden_status);
	CHECK_HAS(found[1].error.text, why);
	CHECK_HAS(error.text, note);
	CHECK_INT(error.text[0] == '\0', note[0] == '\0');
	symbol_found_done(found, COUNT_OF(wanted));
}

static void test_useless(const char *build_id)
{
	static const struct {
		const char *make, *note;
	} cases[] = {
		{ "head -c 3000 symbols >useless",
		  ".debug: no symbols can be read from it: it is" },
		{ "objcopy --only-keep-debug fixed useless",
		  ".debug: it is of another build, as its build ID says" },
		{ "objcopy -R .symtab -R .strtab --strip-all symbols useless",
		  ".debug: no symbols can be read from it: it is" },
		{ "echo text >useless", ".debug: it is not a 64-bit file of this machine" },
		{ ": >useless", ".debug: it is not a 64-bit file of this machine" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("%s", cases[i].make);
		if (!named_run(cases[i].make))
			abort();
		separate_debug_put("useless", build_id);
		check("reader", -ESRCH, "it has no function of this name", cases[i].note);
	}
}

static void test_helpers(void)
{
	char always[64];

	for (size_t i = 0; i < COUNT_OF(played_helpers); i++) {
		const struct played_helper *played_helper = &played_helpers[i];
		struct symbol_found found[COUNT_OF(wanted)];
		struct error error = { "" };

		CASE("a helper that %s", played_helper->name);
		snprintf(always, sizeof(always), "always-%s", played_helper->name);
		CHECK_INT(find(always, found, &error),
			  played_helper->may_pass ? -EAGAIN : -EBADMSG);
		CHECK_HAS(error.text, played_helper->want);
		CASE("a helper that %s with the separate file", played_helper->name);
		if (played_helper->may_pass)
			check(played_helper->name, -EAGAIN, played_helper->want, "");
		else
			check(played_helper->name, -ESRCH, "it has no function",
			      played_helper->want);
	}
}

static void test_contradiction(const char *build_id)
{
	if (!named_run(
		    "objcopy --redefine-sym shown=else --redefine-sym outer=shown symbols other"))
		abort();
	separate_debug_put("other", build_id);
	CASE("a separate file that says otherwise");
	check("reader", 0, "", "");
}

static void learn_offset(void)
{
	struct named_symbol symbols[64];
	size_t count = named_symbols("moved", symbols, COUNT_OF(symbols));

	for (size_t i = 0; i < count; i++)
		if (strcmp(symbols[i].name, "shown") == 0)
			shown_offset = named_offset("moved", symbols[i].address);
}

static void make_helpers(void)
{
	char command[512];

	snprintf(command, sizeof(command), "chmod 755 . && cp '%s' reader",
		 testing_built("ebpf-symbols"));
	if (!named_run(command))
		abort();
	for (size_t i = 0; i < COUNT_OF(played_helpers); i++) {
		snprintf(command, sizeof(command), "cp /proc/%d/exe %s && ln %s always-%s",
			 getpid(), played_helpers[i].name, played_helpers[i].name,
			 played_helpers[i].name);
		if (!named_run(command))
			abort();
	}
}

int main(int count, char **arguments)
{
	char own[4096] = "", build_id[41];

	if (count == 1 && strcmp(arguments[0], "ebpf-symbols") == 0)
		return readlink("/proc/self/exe", own, sizeof(own) - 1) > 0 ? read_as(own)
									    : EXIT_FAILURE;
	scratch_begin();
	if (!named_compile("moved", "-fPIE -pie -rdynamic") ||
	    !named_compile("fixed", "-fno-pie -no-pie") || !named_run("strip -o stripped moved")) {
		printf("there is no compiler to make programs with\n");
		scratch_end();
		return TESTING_SKIPPED;
	}
	if (!separate_debug_mount()) {
		printf("this process may not mount: no separate files of symbols\n");
		scratch_end();
		return TESTING_SKIPPED;
	}
	named_build_id("moved", build_id);
	learn_offset();
	make_helpers();
	file_helper_init(&files);
	CASE("no separate file");
	check("reader", -ESRCH, "it has no function of this name", "");
	if (!named_run("objcopy --only-keep-debug moved symbols"))
		abort();
	separate_debug_put("symbols", build_id);
	CASE("a separate file");
	check("reader", 0, "", "");
	test_helpers();
	test_useless(build_id);
	test_contradiction(build_id);
	file_helper_done(&files);
	scratch_end();
	return testing_end();
}
