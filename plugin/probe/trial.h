/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TRIAL_H
#define EBPF_TRIAL_H

#include "object/cause.h"
#include "object/hook_set.h"
#include "util/message.h"

#include <stdbool.h>
#include <stdint.h>

/* What a probe may be opened with. Sets of options are bits of their indices. */
struct trial {
	const char *probe;
	uint32_t hook_sets; /* as bits */
	const struct usable_options *options;
	struct causes_logged *logged;
	/* Opens the probe. After a failure nothing is open, and `refused` says whether it was the
	 * kernel that refused. */
	int (*open)(struct trial *trial, unsigned hook_set, uint32_t options, struct error *error);
	void (*close)(struct trial *trial);
	void *opener;
	bool refused;
};

/* Opens the probe with all options and the first hook set with which that succeeds. If it succeeds
 * with none, opens it with the first hook set that needs fewer: an option with which it fails is
 * logged and left out. Hook sets that the kernel has refused before are logged, too. Returns the
 * error of the last hook set, or -ENOMEM. */
int trial_run(struct trial *trial, struct error *error);

#endif
