/* SPDX-License-Identifier: MIT */
/*
 * Where in a program or library the code of functions and markers (USDT) is. The helper opens the
 * file, see file_helper.c; the program ebpf-symbols, which has no privileges, reads it.
 */
#ifndef EBPF_SYMBOL_LOCATION_H
#define EBPF_SYMBOL_LOCATION_H

#include "symbol_file.h"
#include "symbol_result.h"

/* Finds all of them in one pass. Returns 0 if the file could be read: each of ret_found then has
 * its own status, for symbol_found_done(), and the error is empty or says why a separate file of
 * symbols was not used. Or returns a negative errno, and the error says why: -EBADMSG: ebpf-symbols
 * crashed or sent no valid reply; -E2BIG: too many are wanted; -EAGAIN: there was no reply in time,
 * or the program could not be run; another try may succeed. */
int symbol_find(struct file_helper *files, const struct symbol_file *file,
		const struct symbol_wanted *wanted, size_t count, struct symbol_found *ret_found,
		struct error *error);

#endif
