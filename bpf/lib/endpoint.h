/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * How a text says that it is an address and a port instead, see LABEL("endpoint"). Included by both
 * sides.
 */
#ifndef ENDPOINT_H
#define ENDPOINT_H

#define ENDPOINT_IPV4 4
#define ENDPOINT_IPV6 6

#endif
