/* SPDX-License-Identifier: MIT */
#ifndef EBPF_OPEN_H
#define EBPF_OPEN_H

#include "probe.h"

#include <errno.h>

/* The kernel permits no hook set without an option, which the error names. */
#define PROBE_NEEDS_OPTION (-ECANCELED)
/* Its object is off by default, and no Probe block has Enable true. */
#define PROBE_NOT_ENABLED (-EADV) /* no other error has this value */

/* Opens the object with the first hook set that loads and attaches, and takes a first reading, from
 * which later ones count. path is copied; block (NULL: there is none) and services must outlive the
 * probe. Errors: PROBE_NEEDS_OPTION, PROBE_NOT_ENABLED, or a negative errno of the step that failed
 * with the last hook set. */
int probe_open(struct probe *probe, const char *name, const char *path, double interval_s,
	       const struct probe_config *block, struct services *services, type_lookup *lookup,
	       struct error *error);

void probe_done(struct probe *probe);

#endif
