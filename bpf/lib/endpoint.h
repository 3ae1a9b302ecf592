/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The first byte of a text label that is an address and a port instead of text, see
 * LABEL("endpoint"). Included by the BPF side and by the engine.
 */
#ifndef ENDPOINT_H
#define ENDPOINT_H

#define ENDPOINT_IPV4 4
#define ENDPOINT_IPV6 6

#endif
