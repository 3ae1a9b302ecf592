/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FUNCTION_H
#define EBPF_FUNCTION_H

#include "bpf/lib/function.h"
#include "config/config.h"
#include "function_link.h"
#include "object/object.h"
#include "util/message.h"

#include <stdbool.h>
#include <stddef.h>

/* Function blocks of a probe, and the object that counts them: one that has the map `functions`, see
 * bpf/lib/function.h. */
struct functions {
	struct function *item; /* as the map has them, in the order of the blocks */
	size_t count;
	const struct function_config *blocks;
	const char *probe; /* its name, for messages */
	struct function_target *traced;
	size_t traced_count;
	struct function_argument locations[FUNCTION_PLACES_MAX]; /* from 1; as the map has them */
	uint32_t location_count;
	int map, location_map, run_map;
	const struct function_config *logged; /* what is wrong with its argument, last */
};

/* Does the object count functions? */
bool functions_are_of(const struct object *object);

/* Of an object that is opened: what its maps are to hold, and which of its programs are loaded. What a
 * block says that cannot be had is told, and ignored. The configuration and the probe's name
 * outlive it. Of another object nothing is done; ret_functions is NULL then. -ENOENT: the block
 * names no function that can be counted; -ENOMEM. */
int functions_open(struct functions **ret_functions, struct object *object, const char *probe,
		   const struct probe_config *block, const struct config *config,
		   struct error *error);

/* Once the object is loaded, before it is attached: fills the maps. NULL: nothing to do. */
int functions_fill(struct functions *functions, const struct object *object, struct error *error);

/* Those of the block of this number among the attachments of the object, where it has a limit of its
 * own. */
unsigned functions_part(uint32_t number);

/* MaxOverhead of the block, in percent of all CPUs, 0: it has none. */
double functions_limit(const struct functions *functions, uint32_t number);

/* Before a function is attached again: calls that began before now_ns (of CLOCK_MONOTONIC) have no
 * latency. 0 or a negative errno. */
int functions_restart(struct functions *functions, uint32_t number, uint64_t now_ns);

/* Of a function with a limit: how often programs have run at its calls, and at their returns. 0 or a
 * negative errno. */
int functions_runs(const struct functions *functions, uint32_t number, uint64_t ret_runs[2]);

/* After the object is closed. */
void functions_done(struct functions *functions);

#endif
