/* SPDX-License-Identifier: MIT */
#ifndef OCONFIG_TEXT_H
#define OCONFIG_TEXT_H

#include <liboconfig/oconfig.h>

/* The tree of a text in collectd's syntax: options and blocks, one a line.
 * What is no syntax is left out. To be freed with oconfig_free(). */
oconfig_item_t *oconfig_read(const char *text);

#endif
