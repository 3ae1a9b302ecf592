/* SPDX-License-Identifier: MIT */
/*
 * Which hook sets of an object are tried, and the errors for a hook set or an Option that the
 * object does not have.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/daemon.h"

#include "plugin/object/hook_set.h"
#include "plugin/util/message.h"

#define T(set) (1U << (set))

static struct file_helper files;

/* costly.bpf.o has hook set 1, hook set 2 with the option costly, and the option extra;
 * sample.bpf.o the hook sets 1 to 3 and the option optional; service.bpf.o has none. */
static const struct plan {
	const char *object;
	const char *options[3];
	unsigned set; /* 0: no such line */
	uint32_t want;
	const char *want_options;
	const char *messages[2];
} PLANS[] = {
	{ "tests/bpf/costly.bpf.o", { NULL }, 0, T(1), "Option \"costly\"", { NULL } },
	{ "tests/bpf/costly.bpf.o", { "costly" }, 0, T(1) | T(2), "", { NULL } },
	{ "tests/bpf/costly.bpf.o", { "extra" }, 0, T(1), "Option \"costly\"", { NULL } },
	{ "tests/bpf/costly.bpf.o", { "extra", "costly" }, 2, T(2), "", { NULL } },
	{ "tests/bpf/costly.bpf.o",
	  { "cosltly", "costly" },
	  0,
	  T(1) | T(2),
	  "",
	  { "probe own: ignoring Option \"cosltly\": it has \"extra\", \"costly\"" } },
	{ "tests/bpf/costly.bpf.o",
	  { "a", "b" },
	  0,
	  T(1),
	  "Option \"costly\"",
	  { "ignoring Option \"a\": it has", "ignoring Option \"b\": it has" } },
	{ "tests/bpf/costly.bpf.o",
	  { NULL },
	  2,
	  T(1),
	  "Option \"costly\"",
	  { "probe own: ignoring HookSet 2: it needs Option \"costly\", too" } },
	{ "tests/bpf/costly.bpf.o",
	  { "costly" },
	  3,
	  T(1) | T(2),
	  "",
	  { "probe own: ignoring HookSet 3: it has hook sets 1, 2" } },
	{ "tests/bpf/sample.bpf.o", { "optional" }, 3, T(3), "", { NULL } },
	{ "tests/bpf/sample.bpf.o",
	  { "costly" },
	  16,
	  T(1) | T(2) | T(3),
	  "",
	  { "ignoring Option \"costly\": it has \"optional\"",
	    "ignoring HookSet 16: it has hook sets 1, 2, 3" } },
	{ "bpf/engine/service.bpf.o",
	  { "x" },
	  1,
	  T(0),
	  "",
	  { "ignoring Option \"x\": it has no options",
	    "ignoring HookSet 1: it has no hook sets" } },
};

/* If a hook set needs one of two options, both are in the message. */
static void test_two_options(void)
{
	struct probe_config block = { .hook_set = 2 };
	struct error error = { "" };
	struct object object;
	char options[64];

	CASE("two options");
	daemon_clear();
	CHECK_INT(
		object_open(&object, testing_built("tests/bpf/two_options.bpf.o"), &files, &error),
		0);
	CHECK_UINT(hook_sets_find(&object, "own", &block, options, sizeof(options)), 0);
	CHECK_TEXT(options, "Option \"more\" and Option \"costly\"");
	CHECK_TEXT(daemon_message(0), "probe own: ignoring HookSet 2: it needs Option \"more\" and "
				      "Option \"costly\", too");
	object_done(&object);
}

static void test_plan(const struct plan *plan)
{
	struct probe_config block = { .hook_set = plan->set };
	char *names[COUNT_OF(plan->options)], options[64] = "before";
	struct error error = { "" };
	struct object object;
	size_t messages = 0;

	block.options.item = names;
	for (size_t i = 0; i < COUNT_OF(plan->options) && plan->options[i]; i++)
		names[block.options.count++] = (char *)plan->options[i];
	daemon_clear();
	CHECK_INT(object_open(&object, testing_built(plan->object), &files, &error), 0);
	CHECK_UINT(hook_sets_find(&object, "own", &block, options, sizeof(options)), plan->want);
	CHECK_TEXT(options, plan->want_options);
	for (; messages < COUNT_OF(plan->messages) && plan->messages[messages]; messages++) {
		CHECK_HAS(daemon_message(messages), plan->messages[messages]);
		CHECK_INT(daemon_severity(messages), LOG_ERR);
	}
	CHECK_UINT(daemon_messages(), messages);
	object_done(&object);
}

static void test_no_block(void)
{
	struct error error = { "" };
	struct object object;
	char options[64];

	CASE("no block");
	CHECK_INT(object_open(&object, testing_built("tests/bpf/costly.bpf.o"), &files, &error), 0);
	CHECK_UINT(hook_sets_find(&object, "own", NULL, options, sizeof(options)), T(1));
	CHECK_TEXT(options, "Option \"costly\"");
	object_done(&object);
}

int main(void)
{
	file_helper_init(&files);
	message_to(daemon_record);
	for (size_t i = 0; i < COUNT_OF(PLANS); i++) {
		CASE("plan %zu", i);
		test_plan(&PLANS[i]);
	}
	test_two_options();
	test_no_block();
	daemon_clear();
	file_helper_done(&files);
	return testing_end();
}
