/* SPDX-License-Identifier: MIT */
/*
 * Every allocation of the engine fails once. Each failure must be an error without a crash, and
 * what is half built must be freed, descriptors included. The linker replaces the allocator's
 * functions by those of this file (--wrap).
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/daemon.h"
#include "tests/unit/fake/oconfig.h"
#include "tests/unit/fake/row.h"
#include "tests/unit/fake/snapshot.h"

#include "bpf/lib/hist.h"
#include "bpf/lib/services/service.h"
#include "plugin/config/config.h"
#include "plugin/daemon/dispatch.h"
#include "plugin/probe/open.h"
#include "plugin/schema/schema_tags.h"
#include "plugin/util/clock.h"
#include "plugin/util/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#define S(seconds) ((seconds)*NS_PER_S)
#define NEVER SIZE_MAX

static size_t allocations, failing = NEVER;

static bool fails(void)
{
	if (failing == NEVER || allocations++ != failing)
		return false;
	errno = ENOMEM;
	return true;
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size)
{
	return fails() ? NULL : __real_realloc(memory, size);
}

void *__real_reallocarray(void *memory, size_t count, size_t size);
void *__wrap_reallocarray(void *memory, size_t count, size_t size);
void *__wrap_reallocarray(void *memory, size_t count, size_t size)
{
	return fails() ? NULL : __real_reallocarray(memory, count, size);
}

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

int __wrap_asprintf(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **text, const char *format, ...)
{
	va_list args;
	int length;

	if (fails())
		return -1;
	va_start(args, format);
	length = vasprintf(text, format, args);
	va_end(args);
	return length;
}

/* Runs with the first, second, ... allocation failing, until a run has fewer allocations than
 * that. A run that returns 0 after a failed allocation did not need it. */
static void try_all(const char *name, int (*run)(struct error *error), bool must_fail)
{
	unsigned files = testing_open_files();

	for (size_t i = 0;; i++) {
		struct error error = { "" };
		int status;

		CASE("%s, allocation %zu", name, i);
		allocations = 0;
		failing = i;
		status = run(&error);
		failing = NEVER;
		CHECK_INT(testing_open_files() <= files, 1);
		if (allocations <= i) {
			CHECK_INT(status, 0);
			CHECK_INT(i > 0, 1);
			return;
		}
		if (must_fail)
			CHECK_INT(status, -ENOMEM);
		CHECK_INT(status == 0 || error.text[0], 1);
	}
}

static int read_config(struct error *error)
{
	static const char text[] = "ObjectDirectory \"/other\"\n"
				   "Percentile 50 90\n"
				   "<Probe \"a\">\n"
				   "  Object \"/a\"\n"
				   "  Option \"b\"\n"
				   "</Probe>\n"
				   "<Service \"a\">\n"
				   "  Process \"a\"\n"
				   "  ProcessMatch \"a\"\n"
				   "  Cgroup \"a\"\n"
				   "  PidFile \"/a\"\n"
				   "</Service>\n"
				   "<Service \"b\">\n"
				   "  Process \"b\"\n"
				   "</Service>\n";
	size_t keep = failing;
	oconfig_item_t *block;
	struct config config;
	int status;

	failing = NEVER;
	block = oconfig_read(text);
	failing = keep;
	config_init(&config);
	status = config_read(&config, block) ? -ENOMEM : 0;
	status = status ?: config_set_paths(&config, "/a", "/b", "/c");
	config_done(&config);
	oconfig_free(block);
	return status ? error_set(error, status, "config") : 0;
}

static const struct row_member members[] = {
	MEMBER("a", U64, 0, "ps_cputime:user"), MEMBER("b", U64, 8, "ps_cputime:syst"),
	MEMBER("c", MOMENTS, 16, "latency"),    MEMBER("d", HIST, 56, "response_time tail=e"),
	MEMBER("e", U64, 56 + HIST_SIZE, NULL),
};

#define ROW_SIZE (64 + HIST_SIZE)

static int read_schema(struct error *error)
{
	struct schema schema;
	size_t keep = failing;
	struct btf *btf;
	uint32_t row;
	int status;

	failing = NEVER;
	btf = row_btf(members, COUNT_OF(members), ROW_SIZE, false, &row);
	failing = keep;
	status = schema_read(&schema, btf, "rows", row, dispatch_type, error);
	schema_done(&schema);
	btf__free(btf);
	return status;
}

/* Services and processes appear, and a table is read. */
static int read_table(enum subject_kind kind, struct error *error)
{
	struct fake_snapshot services;
	size_t keep = failing;
	struct table table;
	int status = 0;

	failing = NEVER;
	row_table(&table, members, COUNT_OF(members), ROW_SIZE, 3, kind);
	failing = keep;
	snapshot_init(&services, 3, 3);
	for (uint32_t i = 0; i < 2 && status >= 0; i++)
		status = show_row(&services, i, SUBJECT_SERVICE, i ? "web" : "other");
	for (uint32_t i = 1; i < 3 && status >= 0; i++)
		status = show_process(&services, i, i == 1 ? "web-1" : "web-2", S(1));
	if (status < 0)
		error_set(error, status, "subjects");
	for (uint64_t i = 1; i < 3 && status >= 0; i++)
		status = table_read(&table, &services.snapshot, S(i), error);
	table_done(&table);
	snapshot_done(&services);
	return status;
}

static int read_services_table(struct error *error)
{
	return read_table(SUBJECT_SERVICE, error);
}

static int read_processes_table(struct error *error)
{
	return read_table(SUBJECT_PROCESS, error);
}

static int add_subscribers(struct error *error)
{
	struct services services = { 0 };
	int status = 0;

	for (int i = 0; i < 3 && status >= 0; i++)
		status = subscribers_add(&services.lifecycle.subscribers, 10, NULL, NULL);
	free(services.lifecycle.subscribers.item);
	return status < 0 ? error_set(error, status, "subscribers") : 0;
}

/* Services and a probe in the kernel; the services are opened once, for all runs of the probe. */
static struct config config;
static struct file_helper files;
static struct services services;

static void read_block(void)
{
	char text[8192];
	oconfig_item_t *block;

	snprintf(text, sizeof(text),
		 "ObjectDirectory \"%s\"\n"
		 "ServicesFrom \"commands\"\n"
		 "<Service \"a\">\n"
		 "  Process \"none\"\n"
		 "  PerProcess true\n"
		 "</Service>\n",
		 testing_built("bpf"));
	block = oconfig_read(text);
	config_init(&config);
	config_read(&config, block);
	oconfig_free(block);
	file_helper_init(&files);
}

static int run_services(struct error *error)
{
	int status = services_open(&services, &config, 10, &files, &files, error);

	services_done(&services);
	return status;
}

static int run_probe(struct error *error)
{
	static struct probe probe;
	int status = probe_open(&probe, "sample", testing_built("tests/bpf/sample.bpf.o"), 10,
				config_probe(&config, "sample"), &services, dispatch_type, error);

	probe_done(&probe);
	return status;
}

static void try_kernel(void)
{
	unsigned before = testing_open_files();
	struct error error = { "" };

	read_block();
	try_all("services", run_services, false);
	/* From its first probe on, the services keep descriptors of maps. */
	CHECK_INT(services_open(&services, &config, 10, &files, &files, &error), 0);
	CHECK_INT(run_probe(&error), 0);
	try_all("probe", run_probe, false);
	services_done(&services);
	file_helper_done(&files);
	config_done(&config);
	CHECK_UINT(testing_open_files(), before);
}

int main(void)
{
	message_to(NULL);
	try_all("configuration", read_config, true);
	try_all("schema", read_schema, true);
	try_all("table of services", read_services_table, true);
	try_all("table of processes", read_processes_table, false);
	try_all("subscribers", add_subscribers, true);
	if (geteuid() == 0)
		try_kernel();
	else
		printf("without services and a probe, which need root\n");
	daemon_clear();
	return testing_end();
}
