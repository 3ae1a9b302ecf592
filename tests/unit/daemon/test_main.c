/* SPDX-License-Identifier: MIT */
/*
 * The plugin as the daemon sees it: what it registers, and that no defect of the machine or the
 * configuration stops the daemon.
 */
#include "tests/unit/fake/callbacks.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static char directory[] = "/tmp/test_main.XXXXXX";

static void test_register(void)
{
	CASE("register");
	module_register();
	CHECK_INT(daemon_callbacks.config && daemon_callbacks.init && daemon_callbacks.shutdown, 1);
	CHECK_UINT(daemon_callbacks.read_count, 0);
	CHECK_UINT(daemon_messages(), 0);
}

/* The daemon stops the plugin before it starts it after a mistake in another plugin's
 * configuration. */
static void test_only_stop(void)
{
	bool was_open[STDERR_FILENO + 1];

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		was_open[fd] = fcntl(fd, F_GETFD) >= 0;
	CASE("stopped immediately");
	stop();
	stop();
	CASE("configured and stopped");
	configure("Interval 5\n<Service \"a\">\nProcessMatch \"x\"\n</Service>");
	stop();
	CHECK_UINT(daemon_messages(), 0);
	CASE("the daemon's descriptors");
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		CHECK_INT(fcntl(fd, F_GETFD) >= 0, was_open[fd]);
}

/* The directory has one object of an older version, and no probe. */
static void test_old_object(void)
{
	char text[4200], path[256];
	FILE *file;

	CASE("an older version's object");
	snprintf(path, sizeof(path), "%s/service.bpf.o", directory);
	file = fopen(path, "w");
	CHECK_INT(file && fputs("of another version", file) > 0 && fclose(file) == 0, 1);
	snprintf(text, sizeof(text), "ObjectDirectory \"%s\"", directory);
	configure(text);
	CHECK_INT(daemon_callbacks.init(), 0);
	CHECK_UINT(daemon_messages(), 2);
	CHECK_INT(daemon_severity(0), LOG_NOTICE);
	CHECK_HAS(daemon_message(0), path);
	CHECK_HAS(daemon_message(0), "ebpf plugin: skipping ");
	CHECK_INT(daemon_severity(1), LOG_ERR);
	CHECK_HAS(daemon_message(1), "is on: it has no file NAME.bpf.o; set it to where");
	CHECK_UINT(daemon_callbacks.read_count, 1);
	read_all();
	CHECK_INT(daemon_gauge("self/objects-services") >= 2, 1);
	CHECK_REAL(daemon_gauge("self/count-tier_service"), DAEMON_NONE, 0);
	unlink(path);
	stop();
	daemon_clear();
}

/* Links an object into the directory under another name. */
static void link_object(const char *object, const char *name, bool there)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s.bpf.o", directory, name);
	if (there)
		CHECK_INT(symlink(testing_built(object), path), 0);
	else
		unlink(path);
}

/* If two objects have the same name in series, the second one gets another; none may have a name of the plugin's own
 * series. */
static void test_object_names(void)
{
	static const struct {
		const char *object, *name;
	} links[] = {
		{ "tests/bpf/mistakes.bpf.o", "a b" },
		{ "tests/bpf/sample.bpf.o", "a_b" },
		{ "tests/bpf/sample.bpf.o", "self" },
		{ "tests/bpf/sample.bpf.o", "services" },
		{ "tests/bpf/sample.bpf.o", "other" },
		{ "tests/bpf/sample.bpf.o",
		  "sixty-four-bytes-with-its-suffix-and-so-no-name-for-series" },
	};
	char text[4200];

	CASE("names of objects");
	for (size_t i = 0; i < COUNT_OF(links); i++)
		link_object(links[i].object, links[i].name, true);
	snprintf(text, sizeof(text),
		 "ObjectDirectory \"%s\"\n"
		 "<Probe \"a b\">\n"
		 "  Interval 3\n"
		 "</Probe>\n"
		 "<Probe \"services\">\n"
		 "  Object \"/none/there.bpf.o\"\n"
		 "</Probe>\n",
		 directory);
	configure(text);
	CHECK_INT(daemon_callbacks.init(), 0);
	CHECK_HAS(message_with("probe a_b is on"), "is on");
	CHECK_HAS(message_with("series of the probe \"a_b\" are called"),
		  "are called \"a_b+04f4ad52\", as another probe has its name already");
	CHECK_HAS(message_with("probe a_b+04f4ad52 is on"), "is on");
	CHECK_HAS(message_with("/self.bpf.o"), "as the probe self: this name is reserved");
	CHECK_HAS(message_with("skipping /none/there.bpf.o"), ": this name is reserved; rename it");
	CHECK_HAS(message_with("/other.bpf.o"), ": this name is reserved; rename it");
	CHECK_HAS(message_with("skipping sixty-four-bytes-"),
		  "its name has 64 bytes or more; rename it");
	CHECK_UINT(daemon_messages(), 9);
	CHECK_UINT(daemon_callbacks.read_count, 3);
	CHECK_REAL(interval_of("ebpf/a_b"), 3, 0);
	read_all();
	CHECK_REAL(daemon_gauge("self/count-tier_a_b"), 1, 0);
	CHECK_REAL(daemon_gauge("self/count-tier_self"), DAEMON_NONE, 0);
	for (size_t i = 0; i < COUNT_OF(links); i++)
		link_object(links[i].object, links[i].name, false);
	stop();
	daemon_clear();
}

/* Probe blocks of no probe, or of a probe that is off: one message each. */
static void test_blocks(void)
{
	static const struct {
		const char *block;
		int severity;
		const char *said;
		unsigned messages;  /* for each of the two probes */
		const char *series; /* of a probe that is off, NULL: of no probe */
	} cases[] = {
		{ "<Probe \"sampel\">\nInterval 5\n</Probe>", LOG_ERR,
		  "<Probe \"sampel\">: there is no such probe; is \"sample\" meant?", 3,
		  "self/count-tier_sampel" },
		{ "<Probe \"sampel\">\nEnable false\nInterval 5\n</Probe>", LOG_ERR,
		  "<Probe \"sampel\">: there is no such probe; is \"sample\" meant?", 3, NULL },
		{ "<Probe \"mine\">\n</Probe>", LOG_ERR,
		  "<Probe \"mine\">: there is no such probe; there are: sample, tcp; for another "
		  "object the block needs Object",
		  3, "self/count-tier_mine" },
		{ "<Probe \"mine\">\nEnable false\n</Probe>", LOG_ERR,
		  "there is no such probe; there are: sample, tcp;", 3, NULL },
		{ "<Probe \"sample\">\nEnable false\nInterval 5\nCollect \"x\"\n</Probe>",
		  LOG_NOTICE,
		  "ignoring Collect, Interval 5 in <Probe \"sample\">: Enable false switches the probe "
		  "off",
		  2, NULL },
		{ "<Probe \"tcp\">\nCollect \"x\"\n</Probe>", LOG_WARNING,
		  "probe tcp is off: it is off by default; Enable true in its Probe block switches "
		  "it on; until then it ignores Collect",
		  2, NULL },
		{ "<Probe \"tcp\">\n</Probe>", LOG_WARNING,
		  "probe tcp is off: it is off by default; Enable true in its Probe block", 2,
		  NULL },
	};

	link_object("tests/bpf/mistakes.bpf.o", "sample", true);
	link_object("bpf/tcp.bpf.o", "tcp", true);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char text[4200];

		CASE("%s", cases[i].block);
		snprintf(text, sizeof(text), "ObjectDirectory \"%s\"\n%s", directory,
			 cases[i].block);
		configure(text);
		CHECK_INT(daemon_callbacks.init(), 0);
		CHECK_UINT(messages_with(cases[i].said), 1);
		CHECK_INT(severity_with(cases[i].said), cases[i].severity);
		CHECK_UINT(daemon_messages(), cases[i].messages);
		read_all();
		if (cases[i].series)
			CHECK_REAL(daemon_gauge(cases[i].series), 0, 0);
		CHECK_REAL(daemon_gauge("self/count-tier_tcp"), DAEMON_NONE, 0);
		CHECK_UINT(daemon_notifications(), cases[i].series != NULL);
		stop();
		daemon_clear();
	}
	link_object("bpf/tcp.bpf.o", "tcp", false);
	link_object("tests/bpf/mistakes.bpf.o", "sample", false);
}

/* Probes that are off by default and that nobody asks for are one message, or more where collectd would
 * cut it. */
static void test_off_by_default(void)
{
	static const char tcp[] = "bpf/tcp.bpf.o";
	static const char remedy[] = "; Enable true in its Probe block switches a probe on";
	char text[4200], name[64];
	size_t listed = 0;

	link_object(tcp, "asked_for", true);
	link_object(tcp, "first", true);
	link_object(tcp, "second", true);
	link_object(tcp, "switched_off", true);
	CASE("one message");
	snprintf(text, sizeof(text),
		 "ObjectDirectory \"%s\"\n"
		 "<Probe \"asked_for\">\nRows 5\n</Probe>\n"
		 "<Probe \"own\">\nObject \"%s\"\n</Probe>\n"
		 "<Probe \"switched_off\">\nEnable false\n</Probe>\n",
		 directory, testing_built(tcp));
	configure(text);
	CHECK_INT(daemon_callbacks.init(), 0);
	CHECK_UINT(daemon_messages(), 3);
	CHECK_UINT(messages_with("probe asked_for is off: it is off by default; "), 1);
	CHECK_UINT(messages_with("probe own is off: it is off by default; "), 1);
	CHECK_TEXT(message_with(remedy), "ebpf plugin: off by default: first, second; Enable true "
					 "in its Probe block switches a probe on");
	CHECK_INT(severity_with(remedy), LOG_INFO);
	stop();
	daemon_clear();
	CASE("too many for one");
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "a-name-of-%040d", i);
		link_object(tcp, name, true);
	}
	configure(text);
	CHECK_INT(daemon_callbacks.init(), 0);
	CHECK_UINT(daemon_messages(), 4);
	for (size_t i = 0; i < daemon_messages(); i++) {
		CHECK_INT(strlen(daemon_message(i)) < 1000, 1);
		for (const char *at = daemon_message(i); (at = strstr(at, "a-name-of-")); at++)
			listed++;
	}
	CHECK_UINT(listed, 30);
	stop();
	daemon_clear();
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "a-name-of-%040d", i);
		link_object(tcp, name, false);
	}
	link_object(tcp, "asked_for", false);
	link_object(tcp, "first", false);
	link_object(tcp, "second", false);
	link_object(tcp, "switched_off", false);
}

/* If the directory is missing, Probe blocks without Object need no message of their own. */
static void test_no_objects(void)
{
	CASE("no objects");
	configure("ObjectDirectory \"/none/of/these\"\nInterval \"x\"\n"
		  "<Probe \"process\">\nRows 5\n</Probe>");
	CHECK_INT(daemon_callbacks.init(), 0);
	CHECK_UINT(daemon_messages(), 2);
	CHECK_HAS(daemon_message(0), "ebpf plugin: ignoring Interval \"x\" in <Plugin ebpf>");
	CHECK_INT(daemon_severity(1), LOG_ERR);
	CHECK_HAS(daemon_message(1), "ebpf plugin: no probe of ObjectDirectory \"/none/of/these\"");
	CHECK_HAS(daemon_message(1), "No such file or directory; set it to");
	CHECK_UINT(daemon_callbacks.read_count, 1);
	read_all();
	CHECK_INT(daemon_notified(NOTIF_FAILURE, "testhost/ebpf/self/count-tier_object_directory",
				  "no probe of ObjectDirectory \"/none/of/these\" is on"),
		  1);
	CHECK_REAL(daemon_gauge("self/count-tier_object_directory"), 0, 0);
	stop();
	daemon_clear();
}

/* Runs in a child process, for a test that gives up rights or the working directory. */
static void run_apart(void (*test)(void))
{
	int status = -1;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		unsigned failures = testing_failures;

		test();
		fflush(stdout);
		_exit(testing_failures > failures);
	}
	waitpid(child, &status, 0);
	CHECK_INT(status, 0);
}

/* Without capabilities the plugin is off, and the message names those that it needs. */
static void test_no_rights(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };
	char text[4200];

	CASE("no rights");
	CHECK_INT(syscall(SYS_capset, &header, none), 0);
	snprintf(text, sizeof(text),
		 "ObjectDirectory \"%s\"\n<Probe \"proces\">\nEnable false\n</Probe>\n"
		 "<Probe \"process\">\nRows 5\n</Probe>",
		 testing_built("bpf"));
	configure(text);
	CHECK_INT(daemon_callbacks.init(), 0);
	CHECK_UINT(daemon_messages(), 2);
	CHECK_HAS(daemon_message(1),
		  "ignoring <Probe \"proces\">: there is no such probe; is \"process\" meant?");
	CHECK_INT(daemon_severity(0), LOG_ERR);
	CHECK_HAS(daemon_message(0),
		  "the plugin is off: cannot load into the kernel: Operation not");
	CHECK_HAS(daemon_message(0), "needs CAP_BPF and CAP_PERFMON");
	CHECK_UINT(daemon_notifications(), 0);
	CHECK_UINT(daemon_callbacks.read_count, 1);
	for (int i = 0; i < 2; i++) {
		read_all();
		CHECK_UINT(daemon_notifications(), i == 0);
		CHECK_INT(daemon_notified(NOTIF_FAILURE, "testhost/ebpf/self/count-tier_services",
					  "the plugin is off: cannot load into the kernel"),
			  i == 0);
		CHECK_REAL(daemon_gauge("self/count-tier_services"), 0, 0);
		CHECK_REAL(daemon_gauge("self/count-tier_process"), 0, 0);
		CHECK_REAL(daemon_gauge("self/count-tier_request"), 0, 0);
		CHECK_REAL(daemon_gauge("self/objects-services"), DAEMON_NONE, 0);
	}
	stop();
	daemon_clear();
}

/* collectd works in its BaseDir, which need not be absolute. */
static void test_relative_base_dir(void)
{
	oconfig_item_t *block = oconfig_read("ObjectDirectory \"/none/there\"");
	char path[256];

	CASE("a relative BaseDir");
	daemon_base_dir = "relative";
	CHECK_INT(chdir(directory), 0);
	CHECK_INT(daemon_callbacks.config(block), 0);
	oconfig_free(block);
	CHECK_INT(daemon_callbacks.init(), 0);
	stop();
	snprintf(path, sizeof(path), "%s/ebpf/events.jsonl", directory);
	CHECK_INT(unlink(path), 0);
	CHECK_INT(rmdir("ebpf"), 0);
}

int main(void)
{
	if (!mkdtemp(directory)) {
		perror(directory);
		return 1;
	}
	test_register();
	test_only_stop();
	run_apart(test_no_rights);
	run_apart(test_relative_base_dir);
	if (may_load()) {
		test_old_object();
		test_object_names();
		test_blocks();
		test_off_by_default();
		test_no_objects();
	}
	rmdir(directory);
	if (testing_end() != 0)
		return 1;
	return may_load() ? 0 : TESTING_SKIPPED;
}
