/* SPDX-License-Identifier: MIT */
/*
 * ebpf-symbols: reads the file that is open as SYMBOL_FD_FILE for the plugin, and replies where
 * functions and markers are in a program or library, or how code at offsets is named. The file may
 * be hostile, so the process has no privileges, see sandbox.c and plugin/helper/confined_program.c. It
 * serves one request and exits.
 */
#include "exchange.h"
#include "sandbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool serve_request(const struct symbol_request *request)
{
	struct symbol_reply version = { .version = SYMBOL_VERSION };

	if (request->version == SYMBOL_VERSION && request->kind == SYMBOL_REQUEST_FIND)
		return exchange_find(request);
	if (request->version == SYMBOL_VERSION && request->kind <= SYMBOL_REQUEST_NAME_MADE)
		return exchange_name(request);
	exchange_write(&version, sizeof(version));
	return true;
}

int main(void)
{
	struct symbol_request request = { 0 };
	struct stat socket;

	if (fstat(SYMBOL_FD_SOCKET, &socket) != 0 || !S_ISSOCK(socket.st_mode)) {
		fputs("ebpf-symbols is started by collectd's plugin ebpf, see collectd-ebpf(5)\n",
		      stderr);
		return EXIT_FAILURE;
	}
	if (sandbox_enter() || !exchange_read(&request, sizeof(request)))
		return EXIT_FAILURE;
	if (!serve_request(&request))
		return EXIT_FAILURE;
	/* The exit frees all memory. */
	_exit(EXIT_SUCCESS);
}
