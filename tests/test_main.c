/* SPDX-License-Identifier: MIT */
/*
 * The plugin as the daemon sees it: what it registers, and that nothing which is wrong with the
 * machine or the configuration stops the daemon. With the right to load BPF programs, a whole
 * life: configured, started, read, stopped, and once more.
 */
#include "testing.h"

#include "daemon.h"
#include "oconfig.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAMPLE_TRIES 20
#define RUNS "operations_per_second-run_services-service_exec"

void module_register(void);

static char directory[] = "/tmp/test_main.XXXXXX";

static void configure(const char *text)
{
	oconfig_item_t *block = oconfig_read(text);

	CHECK_INT(daemon_callbacks.config(block), 0);
	oconfig_free(block);
}

/* The daemon forgets the callbacks at shutdown, too. */
static void stop(void)
{
	CHECK_INT(daemon_callbacks.shutdown(), 0);
	daemon_callbacks.read_count = 0;
}

/* The only message that has this text, or "". */
static const char *message_with(const char *text)
{
	const char *found = "";

	for (size_t i = 0; i < daemon_messages(); i++)
		if (strstr(daemon_message(i), text))
			found = *found ? "several" : daemon_message(i);
	return found;
}

static size_t messages_with(const char *text)
{
	size_t count = 0;

	for (size_t i = 0; i < daemon_messages(); i++)
		count += strstr(daemon_message(i), text) != NULL;
	return count;
}

static int severity_with(const char *text)
{
	for (size_t i = 0; i < daemon_messages(); i++)
		if (strstr(daemon_message(i), text))
			return daemon_severity(i);
	return -1;
}

static const struct daemon_read *read_named(const char *name)
{
	for (size_t i = 0; i < daemon_callbacks.read_count; i++)
		if (!strcmp(daemon_callbacks.read[i].name, name))
			return &daemon_callbacks.read[i];
	return NULL;
}

static double interval_of(const char *name)
{
	const struct daemon_read *read = read_named(name);

	return read ? CDTIME_T_TO_DOUBLE(read->interval) : 0;
}

static void read_all(void)
{
	daemon_clear();
	daemon_now += TIME_T_TO_CDTIME_T(10);
	for (size_t i = 0; i < daemon_callbacks.read_count; i++) {
		struct daemon_read *read = &daemon_callbacks.read[i];

		CHECK_INT(read->call(&read->data), 0);
	}
	CHECK_UINT(daemon_refused(), 0);
}

static void test_register(void)
{
	CASE("register");
	module_register();
	CHECK_INT(daemon_callbacks.config && daemon_callbacks.init && daemon_callbacks.shutdown, 1);
	CHECK_UINT(daemon_callbacks.read_count, 0);
	CHECK_UINT(daemon_messages(), 0);
}

/* Stopped before it was started, as after a mistake elsewhere. */
static void test_only_stop(void)
{
	bool was_open[STDERR_FILENO + 1];

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		was_open[fd] = fcntl(fd, F_GETFD) >= 0;
	CASE("stopped at once");
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

/* One file that an older version has left, and no probe. */
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
	CHECK_UINT(daemon_messages(), 1);
	CHECK_INT(daemon_severity(0), LOG_NOTICE);
	CHECK_HAS(daemon_message(0), path);
	CHECK_HAS(daemon_message(0), "ebpf plugin: skipping ");
	CHECK_UINT(daemon_callbacks.read_count, 1);
	read_all();
	CHECK_INT(daemon_gauge("self/objects-services") >= 2, 1);
	CHECK_REAL(daemon_gauge("self/count-tier_service"), DAEMON_NONE, 0);
	unlink(path);
	stop();
	daemon_clear();
}

/* An object of the directory under a name of ours. */
static void link_object(const char *object, const char *name, bool there)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s.bpf.o", directory, name);
	if (there)
		CHECK_INT(symlink(testing_built(object), path), 0);
	else
		unlink(path);
}

/* Of two objects whose names are one in series the first is the probe; and none has a name of
 * the plugin's own. */
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
	CHECK_HAS(message_with("is on"), "probe a_b is on");
	CHECK_HAS(message_with("/a_b.bpf.o"),
		  "/a_b.bpf.o as the probe a_b: another object has this name already; rename it");
	CHECK_HAS(message_with("/self.bpf.o"), "as the probe self: this name is the plugin's own");
	CHECK_HAS(message_with("skipping /none/there.bpf.o"),
		  ": this name is the plugin's own; rename it");
	CHECK_HAS(message_with("/other.bpf.o"), ": this name is the plugin's own; rename it");
	CHECK_HAS(message_with("skipping sixty-four-bytes-"),
		  "its name has 64 bytes or more; rename it");
	CHECK_UINT(daemon_messages(), 6);
	CHECK_UINT(daemon_callbacks.read_count, 2);
	CHECK_REAL(interval_of("ebpf/a_b"), 3, 0);
	read_all();
	CHECK_REAL(daemon_gauge("self/count-tier_a_b"), 1, 0);
	CHECK_REAL(daemon_gauge("self/count-tier_self"), DAEMON_NONE, 0);
	for (size_t i = 0; i < COUNT_OF(links); i++)
		link_object(links[i].object, links[i].name, false);
	stop();
	daemon_clear();
}

/* Without its probes the plugin has its own figures alone, and there is one message. */
static void test_no_objects(void)
{
	CASE("no objects");
	configure("ObjectDirectory \"/none/of/these\"\nInterval \"x\"");
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

/* In a process of its own, as rights do not come back. */
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

/* Without capabilities: off, and the message says which are needed. */
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
		  "ignoring <Probe \"proces\">: there is no such probe to switch off");
	CHECK_HAS(daemon_message(1), "process, request");
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

static void check_process(void)
{
	CASE("reading, process");
	CHECK_INT(daemon_value("kernel/ps_count", "processes") > 1, 1);
	CHECK_INT(daemon_value("self_test/ps_count", "processes") >= 1, 1);
	CHECK_INT(daemon_value("other/ps_count", "processes") >= 0, 1);
	CHECK_INT(daemon_gauge("self_test/ps_rss") > 100000, 1);
	CHECK_INT(daemon_value("self_test/io_ops", "read") >= 0, 1);
}

static void check_self(void)
{
	CASE("reading, self");
	CHECK_REAL(daemon_gauge("self/count-tier_services"), 1, 0);
	CHECK_REAL(daemon_gauge("self/count-tier_process"), 1, 0);
	CHECK_REAL(daemon_gauge("self/count-tier_sample"), 3, 0);
	CHECK_REAL(daemon_gauge("self/count-tier_broken"), 0, 0);
	CHECK_REAL(daemon_gauge("self/count-tier_off"), DAEMON_NONE, 0);
	CHECK_INT(daemon_gauge("self/duration-read_process") > 0, 1);
	CHECK_INT(daemon_gauge("self/duration-read_process") < 1, 1);
	CHECK_REAL(daemon_gauge("self/duration-read_broken"), DAEMON_NONE, 0);
	CHECK_INT(daemon_gauge("self/memory-maps_process") >= 4096, 1);
	CHECK_INT(daemon_gauge("self/memory-maps_services") >= 4096, 1);
	CHECK_REAL(daemon_gauge("self/total_events-refused_process"), 0, 0);
	CHECK_REAL(daemon_gauge("self/total_events-missed_process"), 0, 0);
	CHECK_REAL(daemon_gauge("self/total_events-missed_off"), DAEMON_NONE, 0);
	CHECK_INT(daemon_gauge("self/total_events-refused_services") >= 0, 1);
	CHECK_INT(daemon_gauge("self/total_events-missed_services") >= 0, 1);
	CHECK_INT(daemon_gauge("self/objects-services") >= 3, 1);
	CHECK_INT(daemon_gauge("self/objects-services_other") >= 0, 1);
	/* Whoever else has just had the statistics on delays the sample. */
	for (int i = 0; i < SAMPLE_TRIES && daemon_gauge("self/" RUNS) == DAEMON_NONE; i++)
		read_all();
	CHECK_INT(daemon_gauge("self/" RUNS) >= 0, 1);
}

/* A reading that does not work is told once, and so is that it works again. */
static void test_failing_reading(void)
{
	struct rlimit files, none;

	CASE("no descriptors");
	getrlimit(RLIMIT_NOFILE, &files);
	none = (struct rlimit){ .rlim_cur = 3, .rlim_max = files.rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
	read_all();
	CHECK_HAS(message_with("probe process: "),
		  "cannot be read, trying again at each interval: cannot run its "
		  "iterator: Too many open files");
	CHECK_INT(daemon_severity(0), LOG_ERR);
	CHECK_UINT(daemon_notifications(), messages_with(": cannot be read, "));
	CHECK_INT(daemon_notified(NOTIF_FAILURE, "testhost/ebpf/self/count-tier_process",
				  "probe process: cannot be read, trying again"),
		  1);
	CHECK_REAL(daemon_gauge("self/count-tier_process"), 0, 0);
	read_all();
	CHECK_UINT(daemon_messages() + daemon_notifications(), 0);
	CHECK_REAL(daemon_gauge("self/count-tier_process"), 0, 0);
	CASE("descriptors again");
	setrlimit(RLIMIT_NOFILE, &files);
	read_all();
	CHECK_HAS(message_with("probe process: "), "reading works again");
	CHECK_INT(daemon_notified(NOTIF_OKAY, "testhost/ebpf/self/count-tier_process",
				  "probe process: reading works again"),
		  1);
	CHECK_REAL(daemon_gauge("self/count-tier_process"), 1, 0);
	read_all();
	CHECK_UINT(daemon_messages(), 0);
}

/* The process that reads files may outlive the daemon; no map is to live on with it. */
static void check_readers(void)
{
	char path[64], line[512];
	int child, children = 0, maps = 0;
	FILE *list, *file;

	CASE("maps of the process that reads files");
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	list = fopen(path, "re");
	while (list && fscanf(list, "%d", &child) == 1) {
		children++;
		snprintf(path, sizeof(path), "/proc/%d/maps", child);
		file = fopen(path, "re");
		while (file && fgets(line, sizeof(line), file))
			maps += strstr(line, "bpf-map") != NULL;
		if (file)
			fclose(file);
	}
	if (list)
		fclose(list);
	CHECK_INT(children, 1);
	CHECK_INT(maps, 0);
}

/* Five probes: one that the directory has, one by its path, one that is broken, one that needs an
 * option, one that is off. */
static void start_and_read(void)
{
	char text[32768], broken[256], objects[4096], costly[4096];
	const char *sample;
	size_t off;
	FILE *file;

	snprintf(broken, sizeof(broken), "%s/broken.bpf.o", directory);
	file = fopen(broken, "w");
	if (!file || fputs("no object", file) < 0 || fclose(file)) {
		perror(broken);
		exit(1);
	}
	snprintf(objects, sizeof(objects), "%s", testing_built("bpf"));
	snprintf(costly, sizeof(costly), "%s", testing_built("tests/bpf/costly.bpf.o"));
	sample = testing_built("tests/bpf/sample.bpf.o");
	snprintf(text, sizeof(text),
		 "ObjectDirectory \"%s\"\n"
		 "Interval 20\n"
		 "<Service \"self_test\">\n"
		 "  ProcessMatch \"test_main\"\n"
		 "</Service>\n"
		 "<Probe \"broken\">\n"
		 "  Object \"%s\"\n"
		 "</Probe>\n"
		 "<Probe \"costly\">\n"
		 "  Object \"%s\"\n"
		 "</Probe>\n"
		 "<Probe \"sample\">\n"
		 "  Object \"%s\"\n"
		 "  Interval 3\n"
		 "</Probe>\n"
		 "<Probe \"off\">\n"
		 "  Enable false\n"
		 "  Object \"%s\"\n"
		 "</Probe>\n",
		 objects, broken, costly, sample, sample);
	CASE("start");
	configure(text);
	CHECK_UINT(daemon_messages(), 0);
	CHECK_INT(daemon_callbacks.init(), 0);
	CHECK_HAS(message_with("probe broken"), "probe broken is off: cannot open");
	CHECK_HAS(message_with("probe costly"), "probe costly is off: cannot load");
	CHECK_HAS(message_with("probe costly"), "Option \"costly\" in its Probe block");
	CHECK_INT(severity_with("probe costly"), LOG_WARNING);
	CHECK_INT(severity_with("probe broken"), LOG_ERR);
	CHECK_HAS(message_with("probe sample is on"), "(tier 3)");
	CHECK_HAS(message_with("probe process is on"), "(tier 1)");
	CHECK_TEXT(message_with("off\""), "");
	CHECK_REAL(interval_of("ebpf/process"), 20, 0);
	CHECK_REAL(interval_of("ebpf/sample"), 3, 0);
	CHECK_REAL(interval_of("ebpf/self"), 20, 0);
	CHECK_INT(read_named("ebpf/broken") == NULL && read_named("ebpf/costly") == NULL, 1);
	check_readers();
	off = messages_with(" is off: ");
	for (int i = 0; i < 3; i++) {
		CASE("reading %d", i);
		read_all();
		CHECK_UINT(daemon_messages(), 0);
		CHECK_UINT(daemon_notifications(), i == 0 ? off : 0);
		CHECK_INT(daemon_notified(NOTIF_FAILURE, "testhost/ebpf/self/count-tier_broken",
					  "probe broken is off: cannot open"),
			  i == 0);
		CHECK_INT(daemon_notified(NOTIF_WARNING, "testhost/ebpf/self/count-tier_costly",
					  "probe costly is off: cannot load"),
			  i == 0);
	}
	check_process();
	check_self();
	CASE("a reading at once after another");
	daemon_now -= TIME_T_TO_CDTIME_T(9);
	read_all();
	CHECK_REAL(daemon_gauge("self/count-tier_process"), DAEMON_NONE, 0);
	CHECK_REAL(daemon_value("kernel/ps_count", "processes"), DAEMON_NONE, 0);
	test_failing_reading();
	unlink(broken);
	CASE("stop");
	stop();
	daemon_clear();
}

/* Why this test cannot load programs, or NULL. */
static const char *why_not(void)
{
	static char why[1024];
	char text[4200];

	if (geteuid() != 0)
		return "needs root: it loads BPF programs";
	snprintf(text, sizeof(text), "ObjectDirectory \"%s\"\n", testing_built("bpf"));
	configure(text);
	daemon_callbacks.init();
	snprintf(why, sizeof(why), "%s", message_with("the plugin is off"));
	stop();
	daemon_clear();
	return *why ? why : NULL;
}

int main(void)
{
	const char *why;

	if (!mkdtemp(directory)) {
		perror(directory);
		return 1;
	}
	test_register();
	test_only_stop();
	run_apart(test_no_rights);
	why = why_not();
	if (!why) {
		test_old_object();
		test_object_names();
		test_no_objects();
	}
	for (int i = 0; i < 2 && !why; i++)
		start_and_read();
	rmdir(directory);
	if (testing_end() != 0)
		return 1;
	if (why)
		printf("the rest passed, %s\n", why);
	return why ? TESTING_SKIPPED : 0;
}
