/* SPDX-License-Identifier: MIT */
/*
 * Which notifications are thresholds of this host.
 *
 * What a notification says of itself anybody can say who sends one by the network, by a socket (unixsock), or as a
 * program (exec). What none of them can choose is whose code has handed it to collectd: the daemon keeps that for each thread,
 * and does not change it while it calls those who take notifications. Of the plugin threshold it
 * is "threshold", in which a value that was written is compared.
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

static bool has(const notification_t *n, const char *name)
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

const char *threshold_subject(const notification_t *n)
{
	if (n->severity != NOTIF_WARNING && n->severity != NOTIF_FAILURE)
		return NULL;
	if (strcmp(n->plugin, PLUGIN_NAME) != 0 || strcasecmp(n->host, hostname_g) != 0)
		return NULL;
	return has(n, VALUE) && !has(n, FROM_NETWORK) && is_by_threshold() ? n->plugin_instance
									   : NULL;
}
