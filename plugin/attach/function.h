/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FUNCTION_H
#define EBPF_FUNCTION_H

#include "bpf/lib/function.h"
#include "config/config.h"
#include "function_argument.h"
#include "function_program.h"
#include "object/object.h"
#include "util/message.h"

#include <stdbool.h>
#include <stddef.h>

/* The Function blocks of a probe and the object that counts them, which has a map `functions`, see
 * bpf/lib/function.h. */
struct functions {
	struct function_block *item; /* values of the map, in the order of the blocks */
	size_t count;
	const struct function_config *blocks;
	const char *probe; /* for messages */
	struct traced_function *traced;
	size_t traced_count;
	struct argument_locations locations;
	int map, run_map;
	const struct function_config *logged; /* whose argument was logged last as unusable */
};

/* Does the object count functions? */
bool functions_are_of(const struct object *object);

/* For an opened object: computes the values of its maps and selects the programs to load. Parts of
 * a block that cannot be used are logged and ignored. Configuration and probe name outlive the
 * result. If the object counts no functions, *ret_functions is NULL. -ENOENT: no block names a
 * function that can be counted; -ENOMEM. */
int functions_open(struct functions **ret_functions, struct object *object, const char *probe,
		   const struct probe_config *block, const struct config *config,
		   struct error *error);

/* Fills the maps, after load and before attaching. `functions` may be NULL. */
int functions_fill(struct functions *functions, const struct object *object, struct error *error);

/* The part (see struct attachment) of the block's attachments, if the block has its own limit. */
unsigned functions_part(uint32_t number);

/* MaxOverhead of the block in percent of all CPUs, 0: none. */
double functions_limit(const struct functions *functions, uint32_t number);

/* To be called before a paused function is attached again: calls that started before now_ns
 * (CLOCK_MONOTONIC) have no latency. Returns 0 or a negative errno. */
int functions_restart(struct functions *functions, uint32_t number, uint64_t now_ns);

/* For a function with a limit: how often programs have run at its calls and at its returns. Returns
 * 0 or a negative errno. */
int functions_runs(const struct functions *functions, uint32_t number, uint64_t ret_runs[2]);

/* After the object is closed. */
void functions_done(struct functions *functions);

#endif
