/* SPDX-License-Identifier: MIT */
/*
 * Every probe on machines of few and of many possible CPUs, without options and with all: it opens,
 * needs no more than MaxMemory, and has rows by CPU only in the tables that are meant to. Nothing
 * is loaded.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/daemon.h"
#include "tests/unit/fake/oconfig.h"

#include "contrib/describe/types.h"
#include "plugin/object/engine_object.h"
#include "plugin/object/hook_set_parts.h"
#include "plugin/probe/open.h"
#include "plugin/service/process_row.h"
#include "plugin/table/keys.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

static int cpus;
static struct config config;
static struct file_helper files;
static struct services services;
static struct probe probe;
static uint64_t memory; /* of the probe, in the hook set that needs most */

int __wrap_libbpf_num_possible_cpus(void);
int __wrap_libbpf_num_possible_cpus(void)
{
	return cpus;
}

int __wrap_bpf_map__reuse_fd(struct bpf_map *map, int fd);
int __wrap_bpf_map__reuse_fd(__attribute__((unused)) struct bpf_map *map,
			     __attribute__((unused)) int fd)
{
	return 0;
}

/* Tables of the probes with all options that have rows by CPU. */
static bool is_by_cpu(const char *table)
{
	static const char *const by_cpu[] = { "hardirqs", "sched_cpus", "softirqs",
					      "softirq_latencies" };

	for (size_t i = 0; i < COUNT_OF(by_cpu) && probe.block->options.count; i++)
		if (!strcmp(by_cpu[i], table))
			return true;
	return false;
}

/* If the names that an array or the CPUs can have are limited, all of them have series. */
static uint32_t names_wanted(const struct table *table)
{
	uint32_t all = !strcmp(table->name, "frequencies") ? (uint32_t)cpus
		       : table->rows.each_cpu && rows_stay(&table->rows)
			       ? table->rows.count * (uint32_t)cpus
			       : 0;

	return all > CONFIG_NAMES ? all : CONFIG_NAMES;
}

/* Tables without rows by CPU need as much memory as on a machine with one CPU. */
static void check_table(const struct table *table, const char *of)
{
	struct table of_one = *table;

	of_one.rows.cpus = 1;
	CASE("%s, map %s", of, table->name);
	CHECK_INT(table->rows.each_cpu, is_by_cpu(table->name));
	CHECK_INT(keys_memory(table) == keys_memory(&of_one) || table->rows.each_cpu, 1);
	CHECK_INT(rows_most(&table->rows) <= ROWS_MAX, 1);
	CHECK_UINT(table->keys.shown_max, names_wanted(table));
}

/* Replaces the load: sizes are final there, and nothing is loaded. */
int __wrap_object_load(struct object *object, struct error *error);
int __wrap_object_load(__attribute__((unused)) struct object *object, struct error *error)
{
	char of[sizeof(testing_case)];

	memcpy(of, testing_case, sizeof(of));
	for (size_t i = 0; i < probe.table_count; i++)
		check_table(&probe.tables[i], of);
	memcpy(testing_case, of, sizeof(of));
	memory = probe.memory > memory ? probe.memory : memory;
	return error_set(error, -EPERM, "all is sized");
}

static void write_options(FILE *text, const char *path)
{
	const char *options[OBJECT_OPTIONS_MAX];
	struct error error = { "" };
	struct object object;
	size_t count;

	CHECK_INT(object_open(&object, path, &files, &error), 0);
	count = object_options(&object, options);
	for (size_t i = 0; i < count; i++)
		fprintf(text, "  Option \"%s\"\n", options[i]);
	object_done(&object);
}

/* With a block of the probe that has this object, or without one for NULL. */
static void read_config(const char *path, bool all)
{
	char *text;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	oconfig_item_t *block;

	fprintf(stream, "<Service \"all\">\n  Process \"all\"\n</Service>\n<Probe \"one\">\n"
			"  Enable true\n");
	if (path && all)
		write_options(stream, path);
	if (path && strstr(path, "/functions."))
		fprintf(stream,
			"  <Function \"load\">\n    Attach \"uprobe:libc.so.6:getloadavg\"\n"
			"    Latency true\n  </Function>\n");
	fprintf(stream, "%s</Probe>\n", all ? "  Collect \"*\"\n" : "");
	fclose(stream);
	config_done(&config);
	config_init(&config);
	block = oconfig_read(text);
	CHECK_UINT(config_read(&config, block), 0);
	oconfig_free(block);
	free(text);
}

/* Opens and sizes the engine's own object. */
static void services_size(void)
{
	struct error error = { "" };
	struct demand demand = { 0 };

	read_config(NULL, false);
	services = (struct services){ .config = &config,
				      .lock = PTHREAD_MUTEX_INITIALIZER,
				      .budget.limit = config.max_memory_mib * BUDGET_MIB,
				      .probe_files = &files };
	name_tables_init(&services.names);
	CHECK_INT(engine_object_open(&services.object, &error), 0);
	CHECK_INT(lifecycle_prepare(&services.lifecycle, &config, &services.object, 10, &error), 0);
	CHECK_INT(process_rows_prepare(&services.lifecycle, &error), 0);
	demand_add_maps(&demand, &services.object, false);
	CHECK_INT(budget_reserve(&services.budget, &demand, &error), 0);
	CHECK_TEXT(error.text, "");
}

static void services_forget(void)
{
	registry_done(&services.registry);
	name_tables_done(&services.names);
	lifecycle_done(&services.lifecycle);
	object_done(&services.object);
}

/* Opens a probe and closes it; returns its memory. */
static uint64_t try_probe(const char *path, bool all)
{
	struct error error = { "" };

	CASE("%d CPUs, %s, %s", cpus, strrchr(path, '/') + 1, all ? "all options" : "no option");
	daemon_clear();
	read_config(path, all);
	memory = 0;
	probe_open(&probe, "one", path, 10, config_probe(&config, "one"), &services, types_lookup,
		   &error);
	CHECK_HAS(error.text, "all is sized");
	return memory;
}

static void try_probes(const glob_t *objects, bool all)
{
	uint64_t sum = services.budget.used;

	for (size_t i = 0; i < objects->gl_pathc; i++)
		sum += try_probe(objects->gl_pathv[i], all);
	CASE("%d CPUs, all probes, %s", cpus, all ? "all options" : "no option");
	printf("%s: %.1f MiB\n", testing_case, (double)sum / BUDGET_MIB);
	CHECK_INT(sum <= services.budget.limit, 1);
}

int main(void)
{
	static const int numbers[] = { 1, 2, 17, 64, 240, 512 };
	glob_t objects;

	if (types_open(TYPES_DB)) {
		printf("there is no " TYPES_DB "\n");
		return TESTING_SKIPPED;
	}
	message_to(daemon_record);
	file_helper_init(&files);
	CASE("objects");
	CHECK_INT(glob(testing_built("bpf/*.bpf.o"), 0, NULL, &objects), 0);
	CHECK_INT(objects.gl_pathc >= 18, 1);
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		cpus = numbers[i];
		CASE("%d CPUs", cpus);
		services_size();
		try_probes(&objects, false);
		try_probes(&objects, true);
		services_forget();
	}
	globfree(&objects);
	config_done(&config);
	file_helper_done(&files);
	daemon_clear();
	return testing_end();
}
