/* SPDX-License-Identifier: MIT */
/*
 * Services: the engine's own object and what works on it. The kernel gives every process the row of
 * its service, by the rules of the configuration; where that needs files the resolver helps.
 */
#include "service.h"

#include "bpf/lib/service.h"
#include "object/attach.h"
#include "object/image.h"
#include "object/share.h"
#include "rule.h"
#include "subject/process_row.h"
#include "system/clock.h"

#include <errno.h>
#include <string.h>

/* Before load. */
static int prepare(struct services *services, double interval_s, struct error *error)
{
	const struct config *config = services->config;
	struct lifecycle *lifecycle = &services->lifecycle;
	int status = lifecycle_prepare(lifecycle, config, &services->object, interval_s, error);

	status = status ?: process_rows_prepare(lifecycle, error);
	if (status)
		return status;
	object_set(&services->object, "command_names", config_command_names(config));
	object_set(&services->object, "service_rows", lifecycle->row_count);
	return rules_prepare(config, &services->object, error);
}

static int load(struct services *services, struct error *error)
{
	struct demand demand = { 0 };
	int status;

	demand_add_maps(&demand, &services->object, false);
	status = budget_take(&services->budget, &demand, error);
	status = status ?: object_load(&services->object, error);
	if (status)
		return status;
	services->counters =
		object_variable(&services->object, "service_counters", sizeof(*services->counters));
	return services->counters ? 0 : error_set(error, -ENOENT, "cannot find its counters");
}

static int start(struct services *services, struct error *error)
{
	int status = lifecycle_start(&services->lifecycle, error);

	status = status ?: process_rows_start(&services->lifecycle, error);
	status = status ?: rules_fill(services->config, &services->object, error);
	return status ?: attach_sections(&services->object, error);
}

static int resolve(struct services *services, struct file_reader *files, struct error *error)
{
	struct resolver *resolver = &services->resolver;

	resolver->config = services->config;
	resolver->object = &services->object;
	resolver->counters = services->counters;
	resolver->room = &services->lifecycle.room;
	resolver->files = files;
	return resolver_start(resolver, error);
}

int services_open(struct services *services, const struct config *config, double interval_s,
		  struct file_reader *files, struct error *error)
{
	int status;

	*services = (struct services){ .config = config };
	pthread_mutex_init(&services->lock, NULL);
	pthread_mutex_init(&services->resolver.lock, NULL);
	services->budget.limit = config->max_memory_mib * BUDGET_MIB;
	status = image_open(&services->object, error);
	status = status ?: prepare(services, interval_s, error);
	status = status ?: load(services, error);
	status = status ?: start(services, error);
	status = status ?: resolve(services, files, error);
	if (status) {
		services_done(services);
		return status;
	}
	services_refresh(services, clock_ns());
	lifecycle_accept(&services->lifecycle);
	return 0;
}

int services_share(const struct services *services, struct object *object, struct error *error)
{
	int status = share_maps(&services->object, object, error);

	if (status)
		return status;
	object_set(object, "service_rows", services->lifecycle.row_count);
	object_set(object, "process_rows_max", services->lifecycle.process_row_count);
	object_set(object, "watch_other", config_command_names(services->config));
	return 0;
}

void services_refresh(struct services *services, uint64_t now_ns)
{
	lifecycle_refresh(&services->lifecycle, now_ns);
	process_rows_refresh(&services->lifecycle, now_ns);
}

void services_done(struct services *services)
{
	lifecycle_done(&services->lifecycle);
	object_done(&services->object);
	resolver_done(&services->resolver);
	registry_done(&services->registry);
	pthread_mutex_destroy(&services->resolver.lock);
	pthread_mutex_destroy(&services->lock);
	*services = (struct services){ 0 };
}
