/* SPDX-License-Identifier: MIT */
#ifndef EBPF_OPEN_H
#define EBPF_OPEN_H

#include "probe.h"

#include <errno.h>

/* Unavailable on this kernel without an option, which the error names. */
#define PROBE_NEEDS_OPTION (-ECANCELED)
/* Its object is off by default, and no Probe block says Enable true. */
#define PROBE_NOT_ENABLED (-EADV) /* used by nothing else */

/* Opens the object, in the first tier that loads and attaches, and takes the first reading, from
 * which everything counts. path is copied; block (NULL: there is none) and services stay the
 * caller's. Errors: PROBE_NEEDS_OPTION, PROBE_NOT_ENABLED, or a negative errno of the step that
 * has failed in the last tier that was tried. */
int probe_open(struct probe *probe, const char *name, const char *path, double interval_s,
	       const struct probe_config *block, struct services *services, type_lookup *lookup,
	       struct error *error);

void probe_done(struct probe *probe);

#endif
