/* SPDX-License-Identifier: MIT */
#ifndef OCONFIG_TEXT_H
#define OCONFIG_TEXT_H

#include <liboconfig/oconfig.h>

/* Parses text in collectd's syntax, with one option or block a line; lines that are no syntax
 * are left out. To be freed with oconfig_free(). */
oconfig_item_t *oconfig_read(const char *text);

#endif
