/* SPDX-License-Identifier: MIT */
#ifndef CONFIGURATION_H
#define CONFIGURATION_H

#include "daemon.h"
#include "oconfig.h"
#include "tests/unit/testing.h"

#include "plugin/config/config.h"
#include "plugin/util/message.h"

#include <stdlib.h>

/* Reads a configuration; returns how many mistakes it has. */
static inline unsigned read_text(struct config *config, const char *text)
{
	oconfig_item_t *block = oconfig_read(text);
	unsigned mistakes;

	daemon_clear();
	config_init(config);
	mistakes = config_read(config, block);
	mistakes += config_finish(config);
	CHECK_INT(config_set_paths(config, "/objects", "/symbols", "/base"), 0);
	oconfig_free(block);
	return mistakes;
}

static inline void check_strings(const struct strings *list, const char *want)
{
	char got[1024] = "";

	for (size_t i = 0; i < list->count; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s;", list->item[i]);
	CHECK_TEXT(got, want);
}

static inline void check_percentiles(const struct config *config, const char *want)
{
	char got[256] = "";

	for (size_t i = 0; i < config->percentile_count; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%g ",
			 config->percentiles[i]);
	CHECK_TEXT(got, want);
}

#endif
