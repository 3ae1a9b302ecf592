/* SPDX-License-Identifier: MIT */
/*
 * Function blocks: from the configuration to the maps that the programs of the probe read.
 */
#include "function.h"

#include "attachment_list.h"
#include "bpf/lib/services/service.h"
#include "config/mistake.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS_MAP "functions"
#define LOCATIONS_MAP "argument_locations"
#define RUNS_MAP "function_runs"
#define CALLS_MAP "calls"
#define LATENCIES_MAP "latencies"
#define ROWS_MAX 16384 /* of a table */

static void ignore_in_block(const struct functions *functions, const struct function_config *block,
			    const char *what, const char *name, const char *why)
{
	message(LOG_ERR, "probe %s: ignoring %s%s%s%s in <Function \"%s\">: %s", functions->probe,
		what, name ? " \"" : "", name ?: "", name ? "\"" : "", block->text, why);
}

/* --- services --- */

static bool find_service(const struct config *config, const char *name, size_t *ret_number)
{
	for (size_t i = 0; i < config->service_count; i++)
		if (!strcmp(config->services[i].name, name)) {
			*ret_number = i;
			return true;
		}
	return false;
}

/* Returns the name of a Service block that was probably meant, or NULL. */
static const char *near_service(const struct config *config, const char *name)
{
	const char *names[CONFIG_SERVICES_MAX + 1] = { NULL };

	for (size_t i = 0; i < config->service_count; i++)
		names[i] = config->services[i].name;
	return mistake_near(name, names);
}

static void ignore_service(const struct functions *functions, const struct function_config *block,
			   const struct config *config, const char *name, bool any)
{
	const char *near = near_service(config, name);
	char why[256];

	snprintf(why, sizeof(why), "no Service block has this name%s%s%s%s",
		 any ? "" : ", and so the function is not counted", near ? "; is \"" : "",
		 near ?: "", near ? "\" meant?" : "");
	ignore_in_block(functions, block, "Service", name, why);
}

static void ignore_services(const struct functions *functions, const struct function_config *block,
			    const struct config *config, bool any)
{
	const struct strings *names = &block->services;
	size_t number;

	for (size_t i = 0; i < names->count; i++)
		if (!find_service(config, names->item[i], &number))
			ignore_service(functions, block, config, names->item[i], any);
}

/* Returns whether the function is counted for any service. */
static bool set_services(const struct functions *functions, const struct function_config *block,
			 const struct config *config, struct function_block *function)
{
	const struct strings *names = &block->services;
	bool any = !names->count;
	size_t number;

	if (any)
		function->flags |= FUNCTION_EVERY_SERVICE;
	for (size_t i = 0; i < names->count; i++)
		if (find_service(config, names->item[i], &number)) {
			function->services[number / 64] |= 1ULL << number % 64;
			any = true;
		}
	ignore_services(functions, block, config, any);
	return any;
}

/* --- arguments --- */

static bool is_of_kernel(const struct function_config *block)
{
	const enum hook_kind kind = block->attaches[0].hook.kind;

	return kind == HOOK_FENTRY || kind == HOOK_KPROBE;
}

static bool is_of_marker(const struct function_config *block)
{
	return block->attaches[0].hook.kind == HOOK_USDT;
}

static void set_argument(const struct functions *functions, const struct function_config *block,
			 struct function_block *function)
{
	char why[512];

	if (!block->argument.use)
		return;
	if (!function_argument_find(block, &function->argument, why, sizeof(why))) {
		ignore_in_block(functions, block, "Argument",
				block->argument.name[0] ? block->argument.name : NULL, why);
		return;
	}
	function->flags |= block->argument.use;
	if (block->argument.is_returned)
		function->flags |= FUNCTION_RETURNED;
}

/* --- locations of marker arguments --- */

/* Logged once per block: a marker has many locations. */
static void ignore_argument(struct functions *functions, const struct function_config *block,
			    const char *why)
{
	if (functions->logged != block)
		ignore_in_block(functions, block, "Argument", NULL, why);
	functions->logged = block;
}

/* Returns the part of a cookie that says where the argument is. */
static uint64_t argument_cookie(struct functions *functions, const struct function_config *block,
				const struct symbol_location *location)
{
	uint32_t number;
	char why[256];

	if (!block->argument.use)
		return 0;
	number = argument_locations_find(&functions->locations, block, location->arguments, why,
					 sizeof(why));
	if (!number)
		ignore_argument(functions, block, why);
	return (uint64_t)number << ARGUMENT_LOCATION_SHIFT;
}

static uint64_t location_cookie(void *with, const struct traced_function *traced,
				const struct symbol_location *location)
{
	struct functions *functions = with;
	const struct function_config *block = &functions->blocks[traced->cookie];
	uint64_t cookie = traced->cookie;

	if (is_of_marker(block))
		cookie |= argument_cookie(functions, block, location);
	if (location->flags & SYMBOL_NO_RETURNS)
		cookie |= FUNCTION_CALLS_ONLY;
	if (location->flags & SYMBOL_GO)
		cookie |= FUNCTION_OF_GO;
	return cookie;
}

/* --- maps and programs --- */

static void add_traced_functions(struct functions *functions, uint32_t number)
{
	const struct function_config *block = &functions->blocks[number];

	for (size_t i = 0; i < block->attach_count; i++)
		functions->traced[functions->traced_count++] = (struct traced_function){
			.hook = &block->attaches[i].hook,
			.name = block->name,
			.cookie = number,
			.at_entry = true,
			.at_return =
				block->latency || block->has_errors || block->argument.is_returned,
			.replaces = block->replaces,
			.part = block->max_overhead > 0 ? functions_part(number) : 0,
			.location_cookie = location_cookie,
			.with = functions,
		};
}

static void set_function(struct functions *functions, uint32_t number, const struct config *config)
{
	const struct function_config *block = &functions->blocks[number];
	struct function_block *function = &functions->item[number];

	if (!set_services(functions, block, config, function))
		return;
	if (block->latency)
		function->flags |= FUNCTION_LATENCY;
	if (block->has_errors)
		function->flags |= FUNCTION_ERRORS;
	if (block->max_overhead > 0)
		function->flags |= FUNCTION_LIMITED;
	if (block->replaces || is_of_kernel(block))
		function->flags |= FUNCTION_REPLACED;
	function->comparison = block->comparison;
	function->error_value = block->error_value;
	function->error_type = block->error_type;
	set_argument(functions, block, function);
	add_traced_functions(functions, number);
}

static size_t count_hooks(const struct probe_config *block)
{
	size_t count = 0;

	for (size_t i = 0; i < block->function_count; i++)
		count += block->functions[i].attach_count;
	return count;
}

static struct functions *make(const char *probe, const struct probe_config *block)
{
	struct functions *functions = calloc(1, sizeof(*functions));

	if (!functions)
		return NULL;
	functions->probe = probe;
	functions->blocks = block->functions;
	functions->count = block->function_count;
	functions->item = calloc(functions->count + 1, sizeof(*functions->item));
	functions->traced = calloc(count_hooks(block) + 1, sizeof(*functions->traced));
	if (functions->item && functions->traced)
		return functions;
	functions_done(functions);
	return NULL;
}

bool functions_are_of(const struct object *object)
{
	const struct bpf_map *map = object_map(object, FUNCTIONS_MAP),
			     *locations = object_map(object, LOCATIONS_MAP),
			     *runs = object_map(object, RUNS_MAP);

	return map && locations && runs &&
	       bpf_map__value_size(map) == sizeof(struct function_block) &&
	       bpf_map__max_entries(runs) == FUNCTION_RUNS_MAX &&
	       bpf_map__value_size(runs) == sizeof(uint64_t) &&
	       bpf_map__max_entries(map) == FUNCTIONS_MAX &&
	       bpf_map__value_size(locations) == sizeof(struct function_argument) &&
	       bpf_map__max_entries(locations) == ARGUMENT_LOCATIONS_MAX;
}

/* How many values of its argument each function has rows for: enough that every value that has
 * series also has a row. */
static uint32_t values_of_each(size_t labelled, unsigned shown)
{
	size_t room = labelled ? (ROWS_MAX - FUNCTION_ROWS) / labelled : 0;

	return (uint32_t)(room < 2 * shown ? room : 2 * shown);
}

/* A function has at most one row per service. */
static uint32_t count_function_rows(const struct functions *functions, const struct config *config)
{
	size_t services = SERVICE_FIRST + config->service_count + config->max_services;
	size_t rows = functions->count * services;

	return rows < FUNCTION_ROWS ? (uint32_t)rows : FUNCTION_ROWS;
}

static int set_map_entries(const struct object *object, const char *name, size_t entries,
			   struct error *error)
{
	struct bpf_map *map = object_map(object, name);
	int status = map ? bpf_map__set_max_entries(map, (uint32_t)entries) : 0;

	return status ? error_set(error, status, "map %s: cannot set its size: %s", name,
				  strerror(-status))
		      : 0;
}

/* Each function with a label gets its own share of the tables. */
static int set_table_sizes(struct functions *functions, const struct object *object,
			   const struct config *config, unsigned shown, struct error *error)
{
	size_t labelled = 0, values;
	int status;

	for (uint32_t i = 0; i < functions->count; i++)
		labelled += (functions->item[i].flags & FUNCTION_LABEL) != 0;
	values = values_of_each(labelled, shown);
	for (uint32_t i = 0; i < functions->count; i++)
		functions->item[i].values_max = (uint32_t)values;
	values *= labelled;
	status = set_map_entries(object, CALLS_MAP, count_function_rows(functions, config) + values,
				 error);
	return status
		       ?: set_map_entries(object, LATENCIES_MAP,
					  FUNCTION_LATENCIES + values / FUNCTION_LATENCY_DIVISOR,
					  error);
}

static int open_functions(struct functions *functions, struct object *object,
			  const struct config *config, unsigned shown, struct error *error)
{
	int status;

	for (uint32_t i = 0; i < functions->count; i++)
		set_function(functions, i, config);
	if (!functions->traced_count && functions->count)
		return attachments_none(error);
	if (!functions->traced_count)
		return error_set(
			error, -ENOENT,
			"there is nothing to count: its Probe block needs a Function block "
			"that names one, see collectd-ebpf(5)");
	status = set_table_sizes(functions, object, config, shown, error);
	status = status
			 ?: function_programs_prepare(object, functions->probe, functions->traced,
						      functions->traced_count, error);
	if (status == 0 && !attachments_any(object))
		status = attachments_none(error);
	return status;
}

int functions_open(struct functions **ret_functions, struct object *object, const char *probe,
		   const struct probe_config *block, const struct config *config,
		   struct error *error)
{
	struct functions *functions;
	int status;

	*ret_functions = NULL;
	if (!functions_are_of(object)) {
		if (block->function_count)
			message(LOG_ERR,
				"probe %s: ignoring its Function block%s: this probe counts no "
				"functions, but <Probe \"functions\"> does",
				probe, block->function_count > 1 ? "s" : "");
		return 0;
	}
	functions = make(probe, block);
	if (!functions)
		return error_set(error, -ENOMEM, "no memory");
	status = open_functions(functions, object, config, block->rows ?: CONFIG_NAMES, error);
	if (status)
		functions_done(functions);
	else
		*ret_functions = functions;
	return status;
}

int functions_fill(struct functions *functions, const struct object *object, struct error *error)
{
	int map;

	if (!functions)
		return 0;
	map = functions->map = bpf_map__fd(object_map(object, FUNCTIONS_MAP));
	functions->locations.map = bpf_map__fd(object_map(object, LOCATIONS_MAP));
	functions->run_map = bpf_map__fd(object_map(object, RUNS_MAP));
	for (uint32_t i = 0; i < functions->count; i++)
		if (bpf_map_update_elem(map, &i, &functions->item[i], BPF_ANY))
			return error_set(error, -errno, "cannot set what its programs count: %s",
					 strerror(errno));
	return 0;
}

unsigned functions_part(uint32_t number)
{
	return number + 1;
}

double functions_limit(const struct functions *functions, uint32_t number)
{
	return functions->blocks[number].max_overhead;
}

int functions_restart(struct functions *functions, uint32_t number, uint64_t now_ns)
{
	functions->item[number].since_ns = now_ns;
	if (bpf_map_update_elem(functions->map, &number, &functions->item[number], BPF_ANY))
		return -errno;
	return 0;
}

int functions_runs(const struct functions *functions, uint32_t number, uint64_t ret_runs[2])
{
	size_t cpus = (size_t)libbpf_num_possible_cpus();
	uint64_t *of_cpus = calloc(cpus, sizeof(*of_cpus)), runs[2] = { 0 };
	int status = of_cpus ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < 2 && status == 0; i++) {
		uint32_t index = 2 * number + i;

		status = bpf_map_lookup_elem(functions->run_map, &index, of_cpus) ? -errno : 0;
		for (size_t cpu = 0; cpu < cpus && status == 0; cpu++)
			runs[i] += of_cpus[cpu];
	}
	if (status == 0)
		memcpy(ret_runs, runs, sizeof(runs));
	free(of_cpus);
	return status;
}

void functions_done(struct functions *functions)
{
	if (!functions)
		return;
	free(functions->item);
	free(functions->traced);
	free(functions);
}
