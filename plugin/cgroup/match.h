/* SPDX-License-Identifier: MIT */
#ifndef EBPF_MATCH_H
#define EBPF_MATCH_H

#include "config/config.h"
#include "description.h"

#include "bpf/lib/group.h"

#include <stdbool.h>
#include <stdint.h>

/* Is it a unit or a user, for Unit options, not Container ones? */
bool group_is_unit(const struct group_key *key);

/* Does such an option fit? Unit: nginx.service or nginx, user-alice.slice,
 * user-1000, php-fpm@*.service. Container: a name, NAMESPACE_POD_CONTAINER with the pod's whole
 * name or as series have it, an id or 12 digits of it or more. All with the wildcards of glob.h. */
bool group_option_fits(const char *option, const struct group_key *key,
		       const struct group_description *description);

/* Does one of this block? */
bool group_matches(const struct service_config *service, const struct group_key *key,
		   const struct group_description *description);

/* The key of this kind that an option without wildcards stands for; Unit for GROUP_UNIT and
 * GROUP_USER, Container for those of containers. false: of this kind the kernel cannot compare it. */
bool group_rule_key(const char *option, enum group_kind kind, struct group_key *ret_key);

/* The row of the first block that fits, 0: none does. */
uint32_t group_row(const struct config *config, const struct group_key *key,
		   const struct group_description *description);

/* Of which sources a block may have some by their names alone, which no key is: bits of enum
 * service_source. */
unsigned groups_need_names(const struct config *config);

#endif
