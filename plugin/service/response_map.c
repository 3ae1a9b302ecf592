/* SPDX-License-Identifier: MIT */
/*
 * Classes of responses by service, as a map of the kernel. Without Response options the map has no room, and
 * no program inspects responses.
 */
#include "response_map.h"

#include "bpf/lib/services/service.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#define RESPONSES_MAP "service_responses"

int responses_prepare(const struct config *config, struct object *object, struct error *error)
{
	uint32_t rows = SERVICE_FIRST + (uint32_t)config->service_count;
	int status;

	if (!config_has_responses(config))
		return 0;
	status = bpf_map__set_max_entries(object_map(object, RESPONSES_MAP), rows);
	return status ? error_set(error, status, "cannot size the classes of responses: %s",
				  strerror(-status))
		      : 0;
}

int responses_fill(const struct config *config, struct object *object, struct error *error)
{
	for (size_t i = 0; i < config->service_count; i++) {
		const struct response_rules *rules = &config->services[i].responses;
		uint32_t row = SERVICE_FIRST + (uint32_t)i;

		if (rules->count &&
		    bpf_map_update_elem(bpf_map__fd(object_map(object, RESPONSES_MAP)), &row, rules,
					BPF_ANY) != 0)
			return error_set(error, -errno,
					 "cannot hand the classes of responses to the kernel: %s",
					 strerror(errno));
	}
	return 0;
}
