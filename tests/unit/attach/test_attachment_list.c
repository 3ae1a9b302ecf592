/* SPDX-License-Identifier: MIT */
/*
 * Which attachments are opened again when CPUs come online or go offline. The kernel is played: a
 * link is the attachment that it was opened for.
 */
#include "tests/unit/testing.h"

#include "plugin/attach/attach.h"
#include "plugin/attach/kernel.h"
#include "plugin/attach/periodic.h"

#include <string.h>

static char opened[256], closed[256];

int __wrap_kernel_links_open(struct object *object, struct attachment *const *items, size_t count,
			     struct error *error);
int __wrap_kernel_links_open(struct object *object, struct attachment *const *items, size_t count,
			     struct error *error)
{
	for (size_t i = 0; i < count; i++) {
		strcat(opened, items[i]->what);
		CHECK_INT(object_add_link(object, (struct bpf_link *)items[i], error), 0);
	}
	return 0;
}

int __wrap_bpf_link__destroy(struct bpf_link *link);
int __wrap_bpf_link__destroy(struct bpf_link *link)
{
	strcat(closed, ((const struct attachment *)link)->what);
	return 0;
}

static void check_links(const char *want_closed, const char *want_opened)
{
	CHECK_TEXT(closed, want_closed);
	CHECK_TEXT(opened, want_opened);
	closed[0] = opened[0] = '\0';
}

int main(void)
{
	static const struct hook hooks[] = {
		{ .kind = HOOK_KPROBE, .name = (char *)"f" },
		{ .kind = HOOK_PERF, .name = (char *)"cycles" },
		{ .kind = HOOK_PERF, .name = (char *)"page-faults" },
		{ .kind = HOOK_TRACEPOINT, .name = (char *)"a:b" },
	};
	const struct file_finder finder = { .files = NULL };
	char online[PERIODIC_CPUS_MAX], what[] = "1 ";
	struct object object = { 0 };
	struct error error = { "" };

	for (size_t i = 0; i < COUNT_OF(hooks); i++) {
		struct attachment attachment = { .hook = &hooks[i], .what = what };

		CHECK_INT(attachments_add(&object, &attachment, &error), 0);
		what[0]++;
	}
	CASE("start");
	CHECK_INT(attachments_attach(&object, "own", &finder, &error), 4);
	check_links("", "1 2 3 4 ");
	CASE("the same CPUs");
	periodic_list_online(online);
	CHECK_INT(attach_follow_cpus(&object, "own", online, &error), 0);
	check_links("", "");
	CASE("other CPUs");
	CHECK_INT(attach_follow_cpus(&object, "own", "0-4000", &error), 0);
	check_links("3 2 ", "2 3 ");
	CHECK_INT(attach_follow_cpus(&object, "own", "0-4000", &error), 0);
	check_links("", "");
	CASE("paused");
	attach_undo(&object);
	check_links("4 1 3 2 ", "");
	CHECK_INT(attach_follow_cpus(&object, "own", "0-4001", &error), 0);
	check_links("", "");
	object_done(&object);
	return testing_end();
}
