/* SPDX-License-Identifier: MIT */
#ifndef EBPF_MATCH_H
#define EBPF_MATCH_H

#include "config/config.h"
#include "description.h"

#include "bpf/lib/services/group.h"

#include <stdbool.h>
#include <stdint.h>

/* Do Unit options apply to it (a unit or a user), and not Container options? */
bool group_is_unit(const struct group_key *key);

/* Does an option fit? Unit: nginx.service or nginx, user-alice.slice, user-1000, php-fpm@*.service.
 * Container: a name; NAMESPACE_POD_CONTAINER, with the pod's whole name or the one that series have; an id, or
 * at least its first 12 digits. user-alice:NAME, with the user's name or number, for a container of a user,
 * which no other option fits. All with the wildcards of glob.h. */
bool group_option_fits(const char *option, const struct group_key *key,
		       const struct group_description *description);

/* Does an option of this block fit? */
bool group_matches(const struct service_config *service, const struct group_key *key,
		   const struct group_description *description);

/* The key that an option without wildcards stands for: a Unit option for GROUP_UNIT and GROUP_USER, a
 * Container option for the kinds of containers. false: the kernel cannot compare it by a key of this
 * kind. */
bool group_rule_key(const char *option, enum group_kind kind, struct group_key *ret_key);

/* The row of the first block that fits, or 0. */
uint32_t group_row(const struct config *config, const struct group_key *key,
		   const struct group_description *description);

/* The sources for which a block needs the name of a group, which is not part of its key: bits of enum
 * service_source. */
unsigned groups_need_names(const struct config *config);

/* Are the containers of users services of their own, or may a block have some? */
bool groups_have_user_containers(const struct config *config);

#endif
