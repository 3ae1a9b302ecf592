/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The classes by which the responses of each service are counted, in a map of the service object.
 */
#ifndef SERVICE_RESPONSE_BPF_H
#define SERVICE_RESPONSE_BPF_H

#include "requests/response.h"
#include "service.bpf.h"

const volatile bool responses_wanted = false; /* a Service block has Response; set before load */

/* Indexed by service_task.row; one entry if no Service block has Response. */
ARRAY(service_responses, struct response_rules, 1) SHARED(1);

static __always_inline struct response_rules *service_responses_of(u32 row)
{
	return responses_wanted ? bpf_map_lookup_elem(&service_responses, &row) : NULL;
}

static __always_inline bool service_has_responses(u32 row)
{
	struct response_rules *rules = service_responses_of(row);

	return rules && rules->count;
}

#endif
