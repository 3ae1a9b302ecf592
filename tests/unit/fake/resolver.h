/* SPDX-License-Identifier: MIT */
/*
 * The resolver of services that are opened, not started: only this file sets its members.
 */
#ifndef FAKE_RESOLVER_H
#define FAKE_RESOLVER_H

#include "plugin/service/service.h"

/* As services_open() leaves it, without the helper and the rules. */
static inline void resolver_of(struct services *services, const struct config *config,
			       struct service_counters *counters)
{
	struct resolver *resolver = &services->resolver;

	services->config = config;
	services->counters = counters;
	resolver->config = config;
	resolver->object = &services->object;
	resolver->counters = counters;
	resolver->free_rows = &services->lifecycle.free_rows;
}

/* The kernel's rows, which are the caller's. */
static inline void rows_of(struct services *services, const struct service *rows, uint32_t count)
{
	services->resolver.cgroup_rules.rows = rows;
	services->resolver.cgroup_rules.row_count = count;
}

/* The caller owns the helpers: of what the resolver reads, and of objects and attachments. */
static inline void helpers_of(struct services *services, struct file_helper *files,
			      struct file_helper *probe_files)
{
	services->resolver.files = files;
	services->probe_files = probe_files;
}

/* A walk that has not inspected all processes, or has not moved all. */
static inline void set_unfinished(struct services *services, bool unfinished)
{
	services->resolver.unfinished = unfinished;
}

#endif
