/* SPDX-License-Identifier: MIT */
/*
 * The plugin as the daemon sees it: what it registers, and that nothing which is wrong with the
 * machine or the configuration stops the daemon. With the right to load BPF programs, a whole
 * life: configured, started, read, stopped, and once more.
 */
#include "testing.h"

#include "daemon.h"
#include "oconfig.h"

#include <linux/capability.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

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
	CASE("stopped at once");
	stop();
	stop();
	CASE("configured and stopped");
	configure("Interval 5\n<Service \"a\">\nProcessMatch \"x\"\n</Service>");
	stop();
	CHECK_UINT(daemon_messages(), 0);
}

/* Without its objects the plugin is off, with one message, and the daemon goes on. */
static void test_no_objects(void)
{
	CASE("no objects");
	configure("ObjectDirectory \"/none/of/these\"\nInterval \"x\"");
	CHECK_INT(daemon_callbacks.init(), 0);
	CHECK_UINT(daemon_messages(), 2);
	CHECK_HAS(daemon_message(0), "ebpf plugin: <Plugin ebpf>, option Interval \"x\"");
	CHECK_INT(daemon_severity(1), LOG_ERR);
	CHECK_HAS(daemon_message(1), "ebpf plugin: services: cannot read /none/of/these/service");
	CHECK_HAS(daemon_message(1), "; the plugin is off");
	CHECK_UINT(daemon_callbacks.read_count, 0);
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
	snprintf(text, sizeof(text), "ObjectDirectory \"%s\"", testing_built("bpf"));
	configure(text);
	CHECK_INT(daemon_callbacks.init(), 0);
	CHECK_UINT(daemon_messages(), 1);
	CHECK_INT(daemon_severity(0), LOG_ERR);
	CHECK_HAS(daemon_message(0), "services: cannot load into the kernel: Operation not");
	CHECK_HAS(daemon_message(0), "needs CAP_BPF and CAP_PERFMON");
	CHECK_HAS(daemon_message(0), "; the plugin is off");
	CHECK_UINT(daemon_callbacks.read_count, 0);
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
	CHECK_INT(daemon_gauge("self/operations_per_second-run_service_exec") >= 0, 1);
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
	CHECK_HAS(message_with("probe process: "), "cannot run its iterator: Too many open files; "
						   "trying again at each interval");
	CHECK_INT(daemon_severity(0), LOG_ERR);
	read_all();
	CHECK_UINT(daemon_messages(), 0);
	CASE("descriptors again");
	setrlimit(RLIMIT_NOFILE, &files);
	read_all();
	CHECK_HAS(message_with("probe process: "), "reading works again");
	read_all();
	CHECK_UINT(daemon_messages(), 0);
}

/* Five probes: one that the directory has, one by its path, one that is broken, one that needs an
 * option, one that is off. */
static void start_and_read(void)
{
	char text[32768], broken[256], objects[4096], costly[4096];
	const char *sample;
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
	CHECK_HAS(message_with("probe broken"), "probe broken is off: broken: cannot open");
	CHECK_HAS(message_with("probe costly"), "probe costly is off: costly: cannot load");
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
	for (int i = 0; i < 3; i++) {
		CASE("reading %d", i);
		read_all();
		CHECK_UINT(daemon_messages(), 0);
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
	test_no_objects();
	run_apart(test_no_rights);
	why = why_not();
	for (int i = 0; i < 2 && !why; i++)
		start_and_read();
	rmdir(directory);
	if (testing_end() != 0)
		return 1;
	if (why)
		printf("the rest passed, %s\n", why);
	return why ? TESTING_SKIPPED : 0;
}
