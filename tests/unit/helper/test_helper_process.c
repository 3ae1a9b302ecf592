/* SPDX-License-Identifier: MIT */
/*
 * A helper process ends at a request that the table does not allow, and replies to others.
 */
#include "tests/unit/testing.h"

#include "plugin/helper/descriptor.h"
#include "plugin/helper/helper_message.h"
#include "plugin/helper/helper_process.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define LOCATION (3 * (uint32_t)sizeof(uint64_t))
#define LINK ((uint32_t)sizeof(struct link_request))
#define TEST_MAX_S 120

/* Sends a request whose path is "//..." and whose payload is zeros. Returns what the helper sends
 * first, 0: it ends instead. */
static ssize_t serve(const struct helper_request *head)
{
	static char path[2 * HELPER_PATH_MAX], payload[4096];
	int32_t status;
	ssize_t got;
	pid_t pid;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		abort();
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		helper_serve(ends[1]);
	}
	close(ends[1]);
	memset(path, '/', sizeof(path));
	/* The helper may have ended before it has received all. */
	send(ends[0], head, sizeof(*head), MSG_NOSIGNAL);
	if (head->path_length <= sizeof(path))
		send(ends[0], path, head->path_length, MSG_NOSIGNAL);
	for (uint32_t i = 0; i < head->descriptor_count; i++)
		descriptor_send(ends[0], "", 1, 0, 0);
	if (head->payload_size <= sizeof(payload))
		send(ends[0], payload, head->payload_size, MSG_NOSIGNAL);
	got = recv(ends[0], &status, sizeof(status), MSG_WAITALL);
	close(ends[0]);
	if (waitpid(pid, NULL, 0) != pid)
		abort();
	return got < 0 ? 0 : got; /* a reset if not all was received */
}

int main(void)
{
	static const struct {
		const char *name;
		struct helper_request head;
		bool allowed;
	} cases[] = {
		{ "read", { HELPER_READ, 1, 0, sizeof(struct read_request) }, true },
		{ "read, no path", { HELPER_READ, 0, 0, sizeof(struct read_request) }, true },
		{ "read, the longest path",
		  { HELPER_READ, HELPER_PATH_MAX, 0, sizeof(struct read_request) },
		  true },
		{ "read, a longer path",
		  { HELPER_READ, HELPER_PATH_MAX + 1, 0, sizeof(struct read_request) },
		  false },
		{ "read, a descriptor", { HELPER_READ, 1, 1, sizeof(struct read_request) }, false },
		{ "read, a short payload",
		  { HELPER_READ, 1, 0, sizeof(struct read_request) - 1 },
		  false },
		{ "read, no payload", { HELPER_READ, 1, 0, 0 }, false },
		{ "read, a long payload",
		  { HELPER_READ, 1, 0, sizeof(struct read_request) + LOCATION },
		  false },
		{ "open", { HELPER_OPEN, 1, 0, sizeof(struct open_request) }, true },
		{ "open, a descriptor", { HELPER_OPEN, 1, 1, sizeof(struct open_request) }, false },
		{ "symbols", { HELPER_SYMBOLS, 1, 2, 0 }, true },
		{ "symbols, separate file", { HELPER_SYMBOLS, 1, 3, 0 }, true },
		{ "symbols, no file", { HELPER_SYMBOLS, 1, 1, 0 }, false },
		{ "symbols, more files", { HELPER_SYMBOLS, 1, 4, 0 }, false },
		{ "symbols, a payload", { HELPER_SYMBOLS, 1, 2, LOCATION }, false },
		{ "event", { HELPER_UPROBE_EVENT, 0, 1, sizeof(struct event_request) }, true },
		{ "event, a path",
		  { HELPER_UPROBE_EVENT, 1, 1, sizeof(struct event_request) },
		  false },
		{ "event, no file",
		  { HELPER_UPROBE_EVENT, 0, 0, sizeof(struct event_request) },
		  false },
		{ "link", { HELPER_UPROBE_MULTI, 0, 2, LINK + LOCATION }, true },
		{ "link, no program", { HELPER_UPROBE_MULTI, 0, 1, LINK + LOCATION }, false },
		{ "link, no locations", { HELPER_UPROBE_MULTI, 0, 2, LINK }, false },
		{ "link, half a location",
		  { HELPER_UPROBE_MULTI, 0, 2, LINK + LOCATION / 2 },
		  false },
		{ "link, more locations",
		  { HELPER_UPROBE_MULTI, 0, 2, LINK + LOCATION * (UPROBE_MULTI_MAX + 1) },
		  false },
		{ "no such kind", { HELPER_KINDS, 0, 0, 0 }, false },
		{ "a negative kind", { (enum helper_kind) - 1, 0, 0, 0 }, false },
	};

	alarm(TEST_MAX_S); /* a helper that waits for more fails */
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("%s", cases[i].name);
		CHECK_INT(serve(&cases[i].head), cases[i].allowed ? sizeof(int32_t) : 0);
	}
	return testing_end();
}
