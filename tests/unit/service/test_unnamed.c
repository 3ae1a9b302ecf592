/* SPDX-License-Identifier: MIT */
/*
 * plugin/service/unnamed.c: when containers without a name are logged, and with which words.
 */
#include "tests/unit/testing.h"

#include "tests/unit/messages.h"

#include "plugin/cgroup/runtime.h"
#include "plugin/cgroup/state.h"
#include "plugin/service/unnamed.h"
#include "plugin/util/message.h"

#define IDS "containers are named by their ids"

static struct runtimes runtimes;
static struct unnamed unnamed;

static size_t log_at(uint64_t s)
{
	daemon_clear();
	unnamed_log(&unnamed, &runtimes, s * NS_PER_S);
	return messages_with(IDS);
}

static void test_period(void)
{
	CASE("nothing to say");
	CHECK_UINT(log_at(1), 0);
	CASE("the first one");
	unnamed_add(&unnamed, "0123456789ab");
	CHECK_UINT(log_at(2), 1);
	CHECK_HAS(message_with(IDS), "(0123456789ab)");
	CHECK_HAS(message_with(IDS), state_is_readable() ? "ContainerState" : "libjansson");
	CHECK_UINT(log_at(2), 0);
	CASE("more within an hour");
	for (int i = 0; i < 7; i++)
		unnamed_add(&unnamed, (char[]){ 'i', 'd', (char)('0' + i), '\0' });
	CHECK_UINT(log_at(3601), 0);
	CHECK_UINT(log_at(3602), 1);
	CHECK_HAS(message_with(IDS), "(id0, id1, id2, id3, id4 and 2 more)");
	CHECK_UINT(log_at(9999), 0);
}

static void test_directories(void)
{
	struct state_file files[] = {
		{ .before = (char[]){ "/a/vfs-containers/containers.json" } },
		{ .before = (char[]){ "/a/vfs-containers/" }, .after = "/x" },
		{ .before = (char[]){ "/b/containers/" }, .after = "/x", .view = { .pid = 7 } },
	};
	char text[64], small[16];

	CASE("directories");
	runtimes.state = (struct state_files){ files, COUNT_OF(files) };
	runtimes_text(&runtimes, text, sizeof(text));
	CHECK_TEXT(text, "/a/vfs-containers, /proc/7/root/b/containers");
	runtimes_text(&runtimes, small, sizeof(small));
	CHECK_TEXT(small, "/a/vfs-conta...");
}

int main(void)
{
	message_to(daemon_record);
	test_period();
	test_directories();
	return testing_end();
}
