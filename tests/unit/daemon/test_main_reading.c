/* SPDX-License-Identifier: MIT */
/*
 * Lives of the plugin as the daemon sees them: configured, started, read, stopped, and started
 * again; readings that fail in between. Needs the right to load BPF programs.
 */
#include "tests/unit/fake/callbacks.h"

#include <sys/resource.h>

#define SAMPLE_TRIES 400
#define SAMPLE_US 50000    /* between two of them */
#define WALK_OLD_US 600000 /* a later reading of the probe process needs another walk */
#define RUNS "operations_per_second-run_services-service_exec"

static char directory[] = "/tmp/test_main_reading.XXXXXX";

static void check_process(void)
{
	CASE("reading, process");
	CHECK_INT(daemon_value("kernel/ps_count", "processes") > 1, 1);
	CHECK_INT(daemon_value("self_test/ps_count", "processes") >= 1, 1);
	CHECK_INT(daemon_value("other/ps_count", "processes") >= 0, 1);
	CHECK_INT(daemon_gauge("self_test/ps_rss") > 100000, 1);
	CHECK_INT(daemon_value("self_test/disk_octets", "read") >= 0, 1);
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
	CHECK_INT(daemon_gauge("self/duration-walk_services") > 0, 1);
	CHECK_INT(daemon_gauge("self/duration-walk_sample") > 0, 1);
	CHECK_REAL(daemon_gauge("self/duration-walk_process"), DAEMON_NONE, 0);
	CHECK_INT(daemon_gauge("self/memory-maps_process") >= 4096, 1);
	CHECK_INT(daemon_gauge("self/memory-maps_services") >= 4096, 1);
	CHECK_REAL(daemon_gauge("self/total_events-refused_process"), 0, 0);
	CHECK_REAL(daemon_gauge("self/total_events-missed_process"), 0, 0);
	CHECK_REAL(daemon_gauge("self/total_events-missed_off"), DAEMON_NONE, 0);
	CHECK_INT(daemon_gauge("self/total_events-refused_services") >= 0, 1);
	CHECK_INT(daemon_gauge("self/total_events-missed_services") >= 0, 1);
	CHECK_INT(daemon_gauge("self/objects-services") >= 3, 1);
	CHECK_INT(daemon_gauge("self/objects-services_other") >= 0, 1);
	/* If another program has just used the kernel's statistics, the sample is taken later. */
	for (int i = 0; i < SAMPLE_TRIES && daemon_gauge("self/" RUNS) == DAEMON_NONE; i++) {
		usleep(SAMPLE_US);
		read_all();
	}
	CHECK_INT(daemon_gauge("self/" RUNS) >= 0, 1);
}

/* A failing reading is logged once, and so is the first one that works again. The search for new
 * processes logs by itself, at times of its own. */
static void test_failing_reading(void)
{
	struct rlimit files, none;

	CASE("no descriptors");
	getrlimit(RLIMIT_NOFILE, &files);
	none = (struct rlimit){ .rlim_cur = 3, .rlim_max = files.rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
	usleep(WALK_OLD_US);
	read_all();
	CHECK_HAS(message_with("probe process: "),
		  "cannot be read, trying again at each interval: cannot run its "
		  "iterator: Too many open files");
	CHECK_INT(severity_with("probe process: "), LOG_ERR);
	CHECK_UINT(daemon_notifications(), messages_with(": cannot be read, "));
	CHECK_INT(daemon_notified(NOTIF_FAILURE, "testhost/ebpf/self/count-tier_process",
				  "probe process: cannot be read, trying again"),
		  1);
	CHECK_REAL(daemon_gauge("self/count-tier_process"), 0, 0);
	read_all();
	CHECK_UINT(messages_with("probe ") + daemon_notifications(), 0);
	CHECK_REAL(daemon_gauge("self/count-tier_process"), 0, 0);
	CASE("descriptors again");
	setrlimit(RLIMIT_NOFILE, &files);
	usleep(WALK_OLD_US);
	read_all();
	CHECK_HAS(message_with("probe process: "), "reading works again");
	CHECK_INT(daemon_notified(NOTIF_OKAY, "testhost/ebpf/self/count-tier_process",
				  "probe process: reading works again"),
		  1);
	CHECK_REAL(daemon_gauge("self/count-tier_process"), 1, 0);
	read_all();
	CHECK_UINT(messages_with("probe "), 0);
}

/* The helper process may outlive the daemon; it must keep no map alive. */
static void check_callbacks(void)
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

/* Five probes: one of the directory, one by its path, one that is broken, one that needs an
 * option, and one that is off. */
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
		 "ServicesFrom \"none\"\n"
		 "<Service \"self_test\">\n"
		 "  ProcessMatch \"test_main_reading\"\n"
		 "</Service>\n"
		 "<Probe \"process\">\n"
		 "  Interval 1\n"
		 "</Probe>\n"
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
	CHECK_HAS(message_with("probe sample is on"), "(hook set 3)");
	CHECK_HAS(message_with("probe process is on"), "(hook set 1)");
	CHECK_TEXT(message_with("off\""), "");
	CHECK_REAL(interval_of("ebpf/process"), 1, 0);
	CHECK_REAL(interval_of("ebpf/sample"), 3, 0);
	CHECK_REAL(interval_of("ebpf/self"), 20, 0);
	CHECK_INT(read_named("ebpf/broken") == NULL && read_named("ebpf/costly") == NULL, 1);
	check_callbacks();
	off = messages_with(" is off: ");
	for (int i = 0; i < 3; i++) {
		CASE("reading %d", i);
		read_all();
		CHECK_UINT(messages_with("services: 1 (1 of Service blocks, 0 units, users and "
					 "containers, 0 command names); series of probes: "),
			   i == 1);
		CHECK_UINT(daemon_messages(), i == 1);
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
	CASE("a reading immediately after another");
	daemon_now -= TIME_T_TO_CDTIME_T(10);
	read_all();
	CHECK_REAL(daemon_gauge("self/count-tier_process"), DAEMON_NONE, 0);
	CHECK_REAL(daemon_value("kernel/ps_count", "processes"), DAEMON_NONE, 0);
	test_failing_reading();
	unlink(broken);
	CASE("stop");
	stop();
	daemon_clear();
}

int main(void)
{
	if (!may_load())
		return TESTING_SKIPPED;
	if (!mkdtemp(directory)) {
		perror(directory);
		return 1;
	}
	module_register();
	for (int i = 0; i < 2; i++)
		start_and_read();
	rmdir(directory);
	return testing_end();
}
