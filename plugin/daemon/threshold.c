/* SPDX-License-Identifier: MIT */
/*
 * Recognizes notifications of the plugin threshold about values of this host.
 *
 * The contents of a notification prove nothing: anybody who can send one through the network, a
 * socket (unixsock) or a program (exec) chooses them. No sender chooses which plugin's code
 * dispatches it. The daemon keeps that plugin's name for each thread, and does not change it while
 * it calls the receivers of notifications. It is "threshold" where a written value was compared
 * with its limits.
 */
#include "threshold.h"

#include <collectd.h>

#include <globals.h>
#include <plugin.h>

#include <string.h>
#include <strings.h>

#define PLUGIN_NAME "ebpf"
#define CHECKER "threshold"
#define VALUE "CurrentValue"
#define FROM_NETWORK "network:received"

static bool has_meta(const notification_t *n, const char *name)
{
	for (const notification_meta_t *meta = n->meta; meta; meta = meta->next)
		if (!strcmp(meta->name, name))
			return true;
	return false;
}

static bool is_by_threshold(void)
{
	const char *name = plugin_get_ctx().name;

	return name && !strcasecmp(name, CHECKER);
}

bool threshold_has_sent(const notification_t *n)
{
	return !strcmp(n->plugin, PLUGIN_NAME) && !strcasecmp(n->host, hostname_g) &&
	       has_meta(n, VALUE) && !has_meta(n, FROM_NETWORK) && is_by_threshold();
}
