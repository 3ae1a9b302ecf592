/* SPDX-License-Identifier: MIT */
/*
 * ebpf-symbols: reads a program or library that is open as SYMBOL_FD_FILE for the plugin, and says
 * where in it functions and markers are. The file may be anyone's: this process has no privileges,
 * see sandbox.c and plugin/system/reader.c, answers once and ends.
 */
#include "find.h"
#include "found.h"
#include "image.h"
#include "sandbox.h"

#include "plugin/system/symbol_message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_all(void *to, size_t size)
{
	for (char *at = to; size;) {
		ssize_t got = read(SYMBOL_FD_SOCKET, at, size);

		if (got <= 0)
			return false;
		at += got;
		size -= (size_t)got;
	}
	return true;
}

static void write_all(const void *from, size_t size)
{
	for (const char *at = from; size;) {
		ssize_t put = write(SYMBOL_FD_SOCKET, at, size);

		/* The plugin has gone. */
		if (put <= 0)
			_exit(EXIT_FAILURE);
		at += put;
		size -= (size_t)put;
	}
}

static bool read_wanted(struct symbol_wanted *wanted)
{
	struct symbol_request_name name;
	char *text;

	if (!read_all(&name, sizeof(name)) || name.length > SYMBOL_NAME_MAX)
		return false;
	text = calloc(1, name.length + 1);
	if (!text || !read_all(text, name.length))
		return false;
	*wanted = (struct symbol_wanted){
		.kind = name.kind == SYMBOL_MARKER ? SYMBOL_MARKER : SYMBOL_FUNCTION,
		.name = name.length ? text : NULL,
		.offset = name.offset,
		.returns = name.returns,
	};
	return true;
}

static void write_found(const struct symbol_found *found)
{
	size_t reason = strnlen(found->error.text, SYMBOL_TEXT_MAX - 1);
	struct symbol_answer_name answer = { .status = found->status,
					     .reason_length = (uint32_t)reason,
					     .count = (uint32_t)found->count };

	write_all(&answer, sizeof(answer));
	write_all(found->error.text, reason);
	for (size_t i = 0; i < found->count; i++) {
		const char *arguments =
			found->places[i].arguments ? found->places[i].arguments : "";
		struct symbol_answer_place place = {
			.offset = found->places[i].offset,
			.semaphore = found->places[i].semaphore,
			.flags = found->places[i].flags,
			.arguments_length = (uint32_t)strnlen(arguments, SYMBOL_TEXT_MAX - 1),
		};

		write_all(&place, sizeof(place));
		write_all(arguments, place.arguments_length);
	}
}

/* Of a file that is none, all that are wanted are told so. */
static int find_all(int debug_fd, const struct symbol_wanted *wanted, size_t count,
		    struct symbol_answer *answer, struct symbol_found *found)
{
	struct image image;
	int status = image_open(&image, SYMBOL_FD_FILE, debug_fd);

	for (size_t i = 0; i < count && status; i++)
		found_refuse(&found[i], status,
			     "it is no 64-bit program or library of this machine");
	if (status)
		return 0;
	answer->build_id_size =
		(uint32_t)image_build_id(&image, answer->build_id, sizeof(answer->build_id));
	return symbols_find(&image, wanted, count, found);
}

static bool answer_find(const struct symbol_request *request)
{
	struct symbol_answer answer = { .version = SYMBOL_VERSION };
	size_t count = request->count <= SYMBOL_WANTED_MAX ? request->count : 0;
	struct symbol_wanted *wanted = calloc(count, sizeof(*wanted));
	struct symbol_found *found = calloc(count, sizeof(*found));

	if (!wanted || !found)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!read_wanted(&wanted[i]))
			return false;
	if (find_all(request->has_debug ? SYMBOL_FD_DEBUG : -1, wanted, count, &answer, found))
		return false;
	write_all(&answer, sizeof(answer));
	for (size_t i = 0; i < count; i++)
		write_found(&found[i]);
	return true;
}

int main(void)
{
	struct symbol_answer answer = { .version = SYMBOL_VERSION };
	struct symbol_request request = { 0 };
	struct stat socket;

	if (fstat(SYMBOL_FD_SOCKET, &socket) != 0 || !S_ISSOCK(socket.st_mode)) {
		fputs("ebpf-symbols is started by collectd's plugin ebpf, see collectd-ebpf(5)\n",
		      stderr);
		return EXIT_FAILURE;
	}
	if (sandbox_enter() || !read_all(&request, sizeof(request)))
		return EXIT_FAILURE;
	if (request.version != SYMBOL_VERSION || request.kind != SYMBOL_REQUEST_FIND)
		write_all(&answer, sizeof(answer));
	else if (!answer_find(&request))
		return EXIT_FAILURE;
	/* All memory goes with the process. */
	_exit(EXIT_SUCCESS);
}
