/* SPDX-License-Identifier: MIT */
/*
 * Threads that live for known times, one after the other. On "go", COUNT of them: eight of ten live 5 ms,
 * the others 15 and 40 ms; then one line tells of each when it ended and how long it lived, from before its
 * creation to its last instruction:
 *   lives     [[NS, NS], ...]
 *
 * load_lives COUNT
 */
#include "load.h"
#include <pthread.h>

#define COUNT_MAX 1000

static uint64_t end_ns;

static void *live(void *ms)
{
	sleep_ns(*(unsigned *)ms * 1000000ULL);
	end_ns = clock_ns(CLOCK_REALTIME);
	return NULL;
}

int main(int argc, char **argv)
{
	static unsigned ms[] = { 5, 5, 5, 5, 15, 5, 5, 5, 5, 40 };
	static char reply[COUNT_MAX * 48 + 64];
	int count = argc > 1 ? atoi(argv[1]) : 0;
	size_t length;
	char line[16];

	if (count < 1 || count > COUNT_MAX)
		errx(2, "usage: load_lives COUNT, up to %d", COUNT_MAX);
	die_with_parent();
	hear(line, sizeof(line));
	length = sprintf(reply, "{\"lives\": [");
	for (int i = 0; i < count; i++) {
		uint64_t begin_ns = clock_ns(CLOCK_REALTIME);
		pthread_t thread;

		if (pthread_create(&thread, NULL, live, &ms[i % 10]))
			errx(1, "pthread_create");
		pthread_join(thread, NULL);
		length += sprintf(reply + length, "%s[%lu, %lu]", i ? ", " : "", end_ns,
				  end_ns - begin_ns);
	}
	sprintf(reply + length, "]}\n");
	say(reply);
	hear(line, sizeof(line));
	return 0;
}
