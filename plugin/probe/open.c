/* SPDX-License-Identifier: MIT */
/*
 * Opens a probe: an object file whose tags say what it counts. No probe is known by name here.
 */
#include "open.h"

#include "attach/attach.h"
#include "attach/periodic.h"
#include "metric_choice.h"
#include "object/annotation.h"
#include "object/budget.h"
#include "object/hook_set.h"
#include "object/hook_set_parts.h"
#include "object/iter_map.h"
#include "object/parameter.h"
#include "object/sample.h"
#include "online_cpus.h"
#include "pause.h"
#include "probe_mistake.h"
#include "reading.h"
#include "table/table_series.h"
#include "table_mistake.h"
#include "trial.h"
#include "util/clock.h"
#include "util/kernel_file.h"
#include "util/lock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How many rows tables get. The object gets the number of shards. */
static struct row_counts count_rows(struct probe *probe)
{
	struct row_counts counts = {
		.services = probe->services->lifecycle.row_count,
		.processes = probe->services->lifecycle.process_row_count,
		.slots = probe->block->rows ?: CONFIG_ROWS,
		.by_grant = object_variable(&probe->object, "slots_open", sizeof(uint32_t)),
		.shards = rows_shards(libbpf_num_possible_cpus()),
		.keys = probe->block->rows,
		.config = probe->services->config,
		.cgroup_rows = &probe->services->cgroup_rows,
		.service_cgroups = config_needs_groups(probe->services->config)
					   ? &probe->services->service_cgroups
					   : NULL,
	};

	object_set(&probe->object, "shards", counts.shards);
	return counts;
}

/* Gives the table that was found last its size and its maps, which no other table may use. */
static int size_table(struct probe *probe, const struct row_counts *counts, struct error *error)
{
	struct table *table = &probe->tables[probe->table_count - 1];
	int status = table_resize(table, counts, probe->object.bpf, error);

	table->asks_for_other = object_variable(&probe->object, "watch_other", sizeof(bool));
	labels_use_names(&table->schema.labels, &probe->services->names.labels);
	table->keys.choice = label_choice_of(probe->block, &table->schema.labels);
	if (status == 0 && labels_name_functions(&table->schema.labels, probe->block->functions,
						 probe->block->function_count))
		status = error_set(error, -ENOMEM, "no memory");
	for (const struct table *other = probe->tables; other < table && status == 0; other++)
		if (rows_have_common_map(&table->rows, &other->rows))
			status = error_set(error, -EINVAL,
					   "map %s: shares a map with %s, but a table needs "
					   "maps of its own",
					   table->name, other->name);
	return status;
}

static void set_slot_counts(struct probe *probe)
{
	uint32_t most = 1;

	for (size_t i = 0; i < probe->table_count; i++) {
		const struct table *table = &probe->tables[i];

		if (table->schema.subject.via[0] && table->rows.count > most)
			most = table->rows.count;
		if (!table->rows.by_grant)
			continue;
		object_set(&probe->object, "slots_reserved", table->rows.reserved);
		object_set(&probe->object, "slots_open", table->rows.user_first);
	}
	object_set(&probe->object, "slots_max", most);
}

/* Sets the object's variables that say what is collected: collects_MAP, and collects_MAP_MEMBER of
 * each member. */
static void set_collected(struct object *object, const struct bpf_map *map,
			  const struct schema *schema)
{
	const struct btf *btf = bpf_object__btf(object->bpf);
	int type = btf__resolve_type(btf, bpf_map__btf_value_type_id(map));
	const struct btf_type *row = type < 0 ? NULL : btf__type_by_id(btf, (uint32_t)type);
	char name[256];

	snprintf(name, sizeof(name), "collects_%s", bpf_map__name(map));
	object_set(object, name, true);
	for (size_t i = 0; i < schema->column_count && row && btf_is_struct(row); i++) {
		const struct btf_member *member = &btf_members(row)[schema->columns[i].member];

		snprintf(name, sizeof(name), "collects_%s_%s", bpf_map__name(map),
			 annotation_name(btf, member->name_off));
		object_set(object, name, true);
	}
}

/* Finds the tables of the object and sizes them. */
static int find_tables(struct probe *probe, struct error *error)
{
	struct row_counts counts = count_rows(probe);
	const struct btf *btf = bpf_object__btf(probe->object.bpf);
	struct bpf_map *map;

	bpf_object__for_each_map(map, probe->object.bpf)
	{
		struct table *grown =
			reallocarray(probe->tables, probe->table_count + 1, sizeof(*grown));
		struct table *table;
		int status;

		if (!grown)
			return error_set(error, -ENOMEM, "no memory");
		probe->tables = grown;
		if (!object_map_is_enabled(&probe->object, map, &probe->options))
			continue;
		table = &grown[probe->table_count];
		status = table_open(table, map, btf, config_table(probe->block, bpf_map__name(map)),
				    probe->lookup, &probe->selection, error);
		if (status < 0)
			return status;
		if (status == 0)
			continue;
		probe->table_count++;
		set_collected(&probe->object, map, &table->schema);
		status = size_table(probe, &counts, error);
		if (status)
			return status;
	}
	set_slot_counts(probe);
	return 0;
}

static int check_not_empty(const struct probe *probe, struct error *error)
{
	if (probe->table_count || probe->events.count || probe->views.count)
		return 0;
	if (metric_choice_is_possible(&probe->object, probe->block, probe->services->config,
				      probe->lookup))
		return error_set(error, -ENOENT, "there is nothing to read: %s",
				 probe->block->ignore.count
					 ? "Collect and Ignore in its Probe block leave no metric"
					 : "its metrics are off by default; Collect in its Probe "
					   "block switches them on");
	return error_set(
		error, -ENOENT,
		"no map of %s has METRIC, EVENT or STACKS tags, nor a Table block in its Probe "
		"block, so there is nothing to read; see collectd-ebpf-objects(7)",
		probe->path);
}

/* Registers the names of all series, which no other probe may have. */
static int register_series(struct probe *probe, struct error *error)
{
	struct services *services = probe->services;
	int status = 0;

	lock_acquire(&services->lock);
	for (size_t i = 0; i < probe->table_count && status == 0; i++)
		status = table_register(&services->registry, &services->lifecycle.subjects, probe,
					probe->name, &probe->tables[i], probe->services->config,
					error);
	lock_release(&services->lock);
	return status;
}

static void unregister_series(struct probe *probe)
{
	struct services *services = probe->services;

	if (!probe->table_count)
		return;
	lock_acquire(&services->lock);
	registry_remove(&services->registry, probe);
	lock_release(&services->lock);
}

static void close_tables(struct probe *probe)
{
	unregister_series(probe);
	for (size_t i = 0; i < probe->table_count; i++)
		table_done(&probe->tables[i]);
	free(probe->tables);
	probe->tables = NULL;
	probe->table_count = 0;
}

static void close_probe(struct probe *probe)
{
	close_tables(probe);
	events_done(&probe->events);
	views_done(&probe->views);
	if (probe->object.bpf)
		walk_remove(&probe->services->walk, &probe->object);
	run_counters_done(&probe->run_counters);
	object_done(&probe->object);
	functions_done(probe->functions);
	probe->functions = NULL;
	if (probe->memory)
		budget_release(&probe->services->budget, probe->memory);
	probe->memory = 0;
}

/* Reserves memory in the budget that all probes share. */
static int reserve_memory(struct probe *probe, struct error *error)
{
	struct demand demand = { 0 };
	int status;

	demand_add_maps(&demand, &probe->object, true);
	for (size_t i = 0; i < probe->table_count; i++)
		demand_add(&demand, probe->tables[i].name, table_memory(&probe->tables[i]));
	status = budget_reserve(&probe->services->budget, &demand, error);
	if (status == 0)
		probe->memory = demand.bytes;
	return status;
}

/* ns that a busy CPU may go without a scheduler's tick. Where ticks are stopped (nohz_full), the
 * kernel runs one a second. Twice that, as ticks may be late. */
static uint64_t tick_ns_max(void)
{
	char list[4096];
	ssize_t length = kernel_file_read("/sys/devices/system/cpu/nohz_full", list, sizeof(list));
	struct timespec tick;

	/* The coarse clocks advance at ticks. */
	if (length == -ENOENT || (length > 0 && !kernel_file_cpus_end(list, (size_t)length)))
		if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0 && tick.tv_sec == 0)
			return 2 * (uint64_t)tick.tv_nsec;
	return 2 * NS_PER_S;
}

/* Objects of ObjectDirectory, which the start has listed, do not hang, but a disk may be slow at boot:
 * the start's limit is for those that the configuration names. */
static int open_probe_object(struct probe *probe, struct error *error)
{
	struct file_helper *files = probe->services->probe_files;
	uint64_t patience_ns = files->patience_ns;
	int status;

	if (!probe->block->object)
		files->patience_ns = UINT64_MAX;
	status = object_open(&probe->object, probe->path, files, error);
	if (!probe->block->object)
		files->patience_ns = patience_ns;
	return status;
}

/* All steps that do not depend on what the kernel permits. */
static int prepare_hook_set(struct probe *probe, unsigned hook_set, struct error *error)
{
	struct error why;
	int status = open_probe_object(probe, error);

	if (status)
		return status;
	status = hook_set_select(&probe->object, hook_set, &probe->options, error);
	if (status)
		return status;
	status = functions_open(&probe->functions, &probe->object, probe->name, probe->block,
				probe->services->config, error);
	if (status)
		return status;
	parameters_set(&probe->object, probe->block);
	object_set(&probe->object, "page_size", (uint64_t)sysconf(_SC_PAGESIZE));
	object_set(&probe->object, "tick_ns_max", tick_ns_max());
	object_set(&probe->object, "cpus_possible", (uint64_t)libbpf_num_possible_cpus());
	status = iter_map_check(&probe->object, &why);
	status = status ?: sample_check(&probe->object, &why);
	status = status ?: periodic_prepare(&probe->object, &why);
	status = status ?: run_counters_check(&probe->object, &why);
	status = status ?: find_tables(probe, &why);
	status = status
			 ?: events_find(&probe->events, &probe->object, &probe->options,
					probe->lookup, &why);
	status = status ?: views_find(&probe->views, &probe->object, &probe->options, &why);
	status = status ?: register_series(probe, &why);
	if (status)
		return error_set(error, status, "%s: %s", probe->path, why.text);
	status = check_not_empty(probe, error);
	status = status ?: reserve_memory(probe, error);
	/* After the tags are read: sharing a map changes its BTF types. */
	return status ?: services_prepare_object(probe->services, &probe->object, error);
}

static int attach_configured_hooks(struct probe *probe, struct error *error)
{
	struct file_finder finder = probe_file_finder(probe);

	return attach_hooks(&probe->object, probe->name, probe->block, &finder, error);
}

static int load_hook_set(struct probe *probe, struct error *error)
{
	int status;

	attach_prepare(&probe->object, probe->block);
	status = object_load(&probe->object, error);
	status = status ?: functions_fill(probe->functions, &probe->object, error);
	status = status ?: attach_sections(&probe->object, error);
	status = status ?: walk_add(&probe->services->walk, &probe->object, error);
	status = status ?: attach_configured_hooks(probe, error);
	if (status)
		return status;
	probe_void_state(probe);
	status = run_counters_open(&probe->run_counters, &probe->object);
	return status ? error_set(error, -ENOMEM, "no memory") : 0;
}

/* Finds the hook sets to be tried, as bits, the options in use, and those that would permit more hook
 * sets, or "". -ENOENT: there is no hook set. */
static int find_hook_sets(struct probe *probe, uint32_t *ret_hook_sets,
			  struct usable_options *ret_options, char *more, size_t size,
			  struct error *error)
{
	int status = open_probe_object(probe, error);

	if (status)
		return status;
	probe_mistake_version(&probe->object, probe->path, &probe->services->version_logged);
	probe->is_off_by_default = object_is_off_by_default(&probe->object);
	if (probe->is_off_by_default && !probe->block->enable_set && !probe->on_threshold &&
	    !probe->block->function_count) {
		status = error_set(error, PROBE_NOT_ENABLED,
				   functions_are_of(&probe->object)
					   ? "it is off by default; a Function block in its Probe "
					     "block that can be used switches it on"
					   : "it is off by default; Enable true in its Probe block "
					     "switches it on");
		object_done(&probe->object);
		return status;
	}
	*ret_hook_sets = hook_sets_find(&probe->object, probe->name, probe->block, more, size);
	usable_options_find(ret_options, &probe->object, probe->block);
	metric_choice_read(&probe->selection, &probe->object, probe->name, probe->block,
			   probe->services->config, probe->lookup);
	parameters_check(&probe->object, probe->name, probe->block);
	attach_lines_check(&probe->object, probe->name, probe->block);
	object_done(&probe->object);
	return *ret_hook_sets ? 0 : error_set(error, -ENOENT, "none of its hooks is on by default");
}

/* The remaining hook sets cost too much to be used unless the configuration asks for them. */
static int needs_options(const char *options, struct error *error)
{
	struct error why = *error;

	return error_set(error, PROBE_NEEDS_OPTION,
			 "%.700s; %s in its Probe block would use other hooks; "
			 "collectd-ebpf(5) says what they cost",
			 why.text, options);
}

static void use_options(struct probe *probe, const struct usable_options *from, uint32_t bits)
{
	probe->options.count = 0;
	for (size_t i = 0; i < from->count; i++)
		if (bits >> i & 1)
			probe->options.item[probe->options.count++] = from->name[i];
}

static int open_hook_set(struct trial *trial, unsigned hook_set, uint32_t options,
			 struct error *error)
{
	struct probe *probe = trial->opener;
	int status;

	use_options(probe, trial->options, options);
	status = prepare_hook_set(probe, hook_set, error);
	trial->refused = status == 0;
	status = status ?: load_hook_set(probe, error);
	if (status)
		close_probe(probe);
	return status;
}

static void close_hook_set(struct trial *trial)
{
	close_probe(trial->opener);
}

static int open_object(struct probe *probe, struct error *error)
{
	struct usable_options options = { .count = 0 };
	struct trial trial = { .probe = probe->name,
			       .options = &options,
			       .logged = &probe->services->causes_logged,
			       .open = open_hook_set,
			       .close = close_hook_set,
			       .opener = probe };
	char more[256] = "";
	int status = find_hook_sets(probe, &trial.hook_sets, &options, more, sizeof(more), error);

	if (status == PROBE_NOT_ENABLED)
		return status;
	trial.refused = !trial.hook_sets;
	if (status == 0)
		status = trial_run(&trial, error);
	return status && trial.refused && more[0] ? needs_options(more, error) : status;
}

static int start_tables_of(struct probe *probe, bool have_files, struct error *error)
{
	int status = 0;

	for (size_t i = 0; i < probe->table_count && status == 0; i++)
		if (table_has_files(&probe->tables[i]) == have_files)
			status = table_start(&probe->tables[i], error);
	return status;
}

/* Files are read before the walk, which others wait for. */
static int start_tables(struct probe *probe, struct error *error)
{
	struct online_cpus cpus;
	int status = start_tables_of(probe, true, error);

	if (status)
		return status;
	online_cpus_read(&cpus);
	online_cpus_set(probe, &cpus);
	status = reading_walk(probe, 0, error);
	if (status)
		return status;
	status = start_tables_of(probe, false, error);
	reading_end_walk(probe);
	return status;
}

int probe_open(struct probe *probe, const char *name, const char *path, double interval_s,
	       const struct probe_config *block, struct services *services, type_lookup *lookup,
	       struct error *error)
{
	static const struct probe_config none = { .enable = true };
	int status;

	*probe = (struct probe){
		.block = block ?: &none,
		.services = services,
		.lookup = lookup,
		.interval_s = interval_s,
		.subscriber = -1,
		.reading = PTHREAD_MUTEX_INITIALIZER,
	};
	strncpy(probe->name, name, sizeof(probe->name) - 1);
	probe->on_threshold = config_on_threshold(services->config, name);
	probe->path = strdup(path);
	probe->options.item = calloc(OBJECT_OPTIONS_MAX, sizeof(*probe->options.item));
	if (!probe->path || !probe->options.item) {
		probe_done(probe);
		return error_set(error, -ENOMEM, "no memory");
	}
	status = open_object(probe, error);
	ksyms_refresh(&services->names.ksyms, services->probe_files, clock_ns());
	status = status ?: start_tables(probe, error);
	status = status ?: reading_subscribe(probe, error);
	if (status) {
		probe_done(probe);
		return status;
	}
	table_mistakes_log(probe);
	reading_log_troubles(probe);
	probe->read_ns = object_variable(&probe->object, "read_ns", sizeof(*probe->read_ns));
	probe->refused = object_variable(&probe->object, "refused", sizeof(*probe->refused));
	probe->events_dropped =
		object_variable(&probe->object, "events_dropped", sizeof(*probe->events_dropped));
	return 0;
}

void probe_done(struct probe *probe)
{
	reading_unsubscribe(probe);
	close_probe(probe);
	free(probe->path);
	probe->path = NULL;
	free(probe->options.item);
	probe->options = (struct strings){ 0 };
}
