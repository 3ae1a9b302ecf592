/* SPDX-License-Identifier: MIT */
/*
 * Lines of Service blocks that fit no process: which are logged after ten readings, how many, and
 * which are withdrawn. Maps and iterators are played.
 */
#include "tests/unit/fake/blocks.h"
#include "tests/unit/fake/daemon.h"
#include "tests/unit/messages.h"

#include "plugin/util/message.h"

#define LINES                                                                            \
	"<Service \"a\">\nProcess \"ngnix\"\nProcessMatch \"^/opt/ngnix\"\n</Service>\n" \
	"<Service \"b\">\nUnit \"ngnix.service\"\nContainer \"wbe-*\"\nCgroup \"x/y\"\n" \
	"</Service>"

static void read_once(struct fixture *f)
{
	maps_iterate(NULL, 0);
	resolver_run(&f->services.resolver, 1);
	resolver_log_fits(&f->services.resolver);
}

static void read_times(struct fixture *f, int times)
{
	for (int i = 0; i < times; i++)
		read_once(f);
}

static void start(struct fixture *f, const char *text)
{
	CHECK_INT(fixture_init(f, text), 0);
	/* A played map exists from the first call on. */
	bpf_map__fd(object_map(&f->services.object, "service_groups"));
	maps_iterate(NULL, 0);
	daemon_clear();
}

/* The kernel discovers a process with this key. */
static void discover_key(uint32_t kind, const char *text)
{
	struct service_name name = { .fitted = 1 };
	struct group_key key = { .kind = kind };

	strcpy(key.text, text);
	maps_get("service_names", &key, &name);
	name.fitted = 1;
	CHECK_INT(maps_put("service_names", &key, &name), true);
}

/* The kernel discovers a process in this directory below another one. */
static uint32_t discover_directory(uint32_t parent, const char *directory)
{
	struct cgroup_step step = { .parent = parent };
	struct cgroup_node node = { 0 };

	strcpy(step.name, directory);
	CHECK_INT(maps_get("service_cgroups", &step, &node), true);
	node.fitted = 1;
	CHECK_INT(maps_put("service_cgroups", &step, &node), true);
	return node.node;
}

static void discover_group(struct fixture *f, uint32_t kind, const char *text)
{
	const struct group_id id = { .number = 1 };
	struct service_group group = { .key.kind = kind, .is_pending = 1 };

	strcpy(group.key.text, text);
	CHECK_INT(maps_put("service_groups", &id, &group), true);
	add_cgroup(f);
}

static const char *const lines[] = { "Process \"ngnix\"", "ProcessMatch \"^/opt/ngnix\"",
				     "Unit \"ngnix.service\"", "Container \"wbe-*\"",
				     "Cgroup \"x/y\"" };

/* Each kind is logged once, at the tenth reading. */
static void test_logged(void)
{
	struct fixture f;

	start(&f, LINES);
	CASE("nine readings");
	read_times(&f, FITS_READINGS - 1);
	CHECK_UINT(daemon_messages(), 0);
	CASE("ten readings");
	read_once(&f);
	CHECK_UINT(messages_with("no process has fitted "), COUNT_OF(lines));
	for (size_t i = 0; i < COUNT_OF(lines); i++) {
		CASE("ten readings, %s", lines[i]);
		CHECK_UINT(messages_with(lines[i]), 1);
		CHECK_INT(severity_with(lines[i]), LOG_WARNING);
	}
	CHECK_HAS(daemon_message(0), "<Service \"a\">: no process has fitted Process \"ngnix\" "
				     "since the start: ps -e -o comm shows command names");
	CASE("later");
	read_times(&f, FITS_READINGS);
	CHECK_UINT(daemon_messages(), COUNT_OF(lines));
	fixture_done(&f);
}

/* Lines that fit before are not logged, those that fit later are withdrawn, each once. */
static void test_fitted(void)
{
	for (int later = 0; later < 2; later++) {
		struct fixture f;

		CASE("fitted %s", later ? "later" : "before");
		start(&f, LINES);
		if (later)
			read_times(&f, FITS_READINGS);
		CHECK_UINT(daemon_messages(), later ? COUNT_OF(lines) : 0);
		daemon_clear();
		discover_key(GROUP_COMMAND, "ngnix");
		discover_key(GROUP_UNIT, "ngnix");
		discover_directory(discover_directory(0, "x"), "y");
		discover_group(&f, GROUP_LXC, "wbe-1");
		CHECK_UINT(fits_line(&f.services.resolver.fits, "/opt/ngnix -x"), SERVICE_FIRST);
		read_times(&f, 2 * FITS_READINGS);
		CHECK_UINT(messages_with("a process fits "), later ? COUNT_OF(lines) : 0);
		CHECK_UINT(daemon_messages(), later ? COUNT_OF(lines) : 0);
		for (size_t i = 0; i < COUNT_OF(lines) && later; i++)
			CHECK_INT(severity_with(lines[i]), LOG_NOTICE);
		fixture_done(&f);
	}
}

/* A process in a directory above the configured one. */
static void test_cgroup_above(void)
{
	struct fixture f;

	CASE("a cgroup above");
	start(&f, "<Service \"a\">\nCgroup \"x/y\"\n</Service>");
	discover_directory(0, "x");
	read_times(&f, FITS_READINGS);
	CHECK_UINT(messages_with("no process has fitted Cgroup \"x/y\""), 1);
	fixture_done(&f);
}

/* If another line of the same block fits, the block may be as intended. */
static void test_alternative(void)
{
	struct fixture f;

	CASE("another line fits");
	start(&f, "<Service \"a\">\nProcess \"httpd\"\nProcess \"apache2\"\n</Service>");
	discover_key(GROUP_COMMAND, "apache2");
	read_times(&f, FITS_READINGS);
	CHECK_UINT(daemon_messages(), 1);
	CHECK_INT(severity_with("no process has fitted Process \"httpd\""), LOG_NOTICE);
	fixture_done(&f);
}

/* The line of a second service for the same command line fits, too. */
static void test_second_match(void)
{
	struct fixture f;

	CASE("two lines fit");
	start(&f, "<Service \"a\">\nProcessMatch \"^x\"\n</Service>\n"
		  "<Service \"b\">\nProcessMatch \"y$\"\n</Service>");
	CHECK_UINT(fits_line(&f.services.resolver.fits, "xy"), SERVICE_FIRST);
	CHECK_UINT(fits_line(&f.services.resolver.fits, "z"), 0);
	read_times(&f, FITS_READINGS);
	CHECK_UINT(daemon_messages(), 0);
	CHECK_UINT(fits_line(&f.services.resolver.fits, "y"), SERVICE_FIRST + 1);
	fixture_done(&f);
}

static void test_many(void)
{
	char text[4096] = "<Service \"a\">\n";
	struct fixture f;

	for (int i = 0; i < 12; i++)
		sprintf(text + strlen(text), "Process \"none%d\"\n", i);
	strcat(text, "</Service>");
	CASE("many");
	start(&f, text);
	read_times(&f, FITS_READINGS);
	CHECK_UINT(daemon_messages(), 6);
	CHECK_HAS(daemon_message(5), "that no process has fitted since the start: 7");
	daemon_clear();
	CASE("a process without the name");
	discover_key(GROUP_COMMAND, "none8");
	read_once(&f);
	CHECK_UINT(daemon_messages(), 0);
	fixture_done(&f);
}

/* Readings that did not inspect all processes, and those that searched none, do not count. */
static void test_unfinished(void)
{
	struct fixture f;

	CASE("unfinished");
	start(&f, "<Service \"a\">\nProcess \"x\"\n</Service>");
	read_times(&f, FITS_READINGS - 1);
	resolver_log_fits(&f.services.resolver);
	CHECK_UINT(daemon_messages(), 0);
	set_unfinished(&f.services, true);
	read_once(&f);
	CHECK_UINT(daemon_messages(), 0);
	set_unfinished(&f.services, false);
	read_once(&f);
	CHECK_UINT(daemon_messages(), 1);
	fixture_done(&f);
}

/* A pid file names no process; if it cannot be read, there is a message about that instead. */
static void test_pid_files(void)
{
	char path[] = "/tmp/test_fit.XXXXXX", text[256];
	int fd = mkstemp(path);
	struct fixture f;

	CASE("pid files");
	if (fd < 0 || write(fd, "4190002\n", 8) != 8)
		abort();
	snprintf(text, sizeof(text),
		 "<Service \"a\">\nPidFile \"/none/of/these.pid\"\nPidFile \"%s\"\n</Service>",
		 path);
	start(&f, text);
	read_times(&f, FITS_READINGS);
	CHECK_UINT(daemon_messages(), 1);
	CHECK_HAS(daemon_message(0), path);
	CASE("pid files, a process");
	daemon_clear();
	if (pwrite(fd, "4190003\n", 8, 0) != 8)
		abort();
	list(4190003, 1, SERVICE_OTHER);
	resolve(&f);
	CHECK_UINT(assignments[0].row, SERVICE_FIRST);
	resolver_log_fits(&f.services.resolver);
	CHECK_UINT(messages_with("a process fits PidFile"), 1);
	fixture_done(&f);
	close(fd);
	unlink(path);
}

int main(void)
{
	message_to(daemon_record);
	test_logged();
	test_fitted();
	test_cgroup_above();
	test_alternative();
	test_second_match();
	test_many();
	test_unfinished();
	test_pid_files();
	daemon_clear();
	return testing_end();
}
