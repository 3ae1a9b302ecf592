/* SPDX-License-Identifier: MIT */
/*
 * Which hook set and which options a probe opens with, if some of them fail.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/daemon.h"

#include "plugin/probe/trial.h"

#include <errno.h>
#include <string.h>

#define T(set) (1U << (set))
#define A 1U
#define B 2U
#define C 4U
#define NONE UINT32_MAX
#define NO_KPROBES_TEXT "the kernel is built without kprobes (CONFIG_KPROBE_EVENTS)"

/* A kernel that refuses some hook sets altogether, and options in some hook sets. */
struct fake_kernel {
	uint32_t hook_sets, refused_in[3];
	bool without_kernel; /* the engine refuses */
	const char *cause;   /* for which it refuses hook sets, or NULL */
	unsigned opened;
	uint32_t options; /* of the open probe; NONE: not open */
};

static int fake_open(struct trial *trial, unsigned hook_set, uint32_t options, struct error *error)
{
	struct fake_kernel *kernel = trial->opener;

	CHECK_UINT(kernel->options, NONE);
	trial->refused = !kernel->without_kernel;
	if (!(kernel->hook_sets >> hook_set & 1))
		return error_set(error, -EINVAL, "no set %u%s%s", hook_set,
				 kernel->cause ? "; " : "", kernel->cause ?: "");
	for (size_t i = 0; i < 3; i++)
		if (options & kernel->refused_in[i] && i + 1 == hook_set)
			return error_set(error, -EPERM, "no option of %#x in set %u; grant it",
					 options & kernel->refused_in[i], hook_set);
	kernel->opened = hook_set;
	kernel->options = options;
	return 0;
}

static void fake_close(struct trial *trial)
{
	struct fake_kernel *kernel = trial->opener;

	CHECK_INT(kernel->options != NONE, 1);
	kernel->options = NONE;
}

static const struct {
	const char *what;
	struct fake_kernel kernel;
	uint32_t hook_sets, needed_by_a;
	size_t options;
	int want;
	unsigned want_hook_set;
	uint32_t want_options;
	const char *messages[3];
} CASES[] = {
	{ "all is well",
	  { .hook_sets = T(1) | T(2) },
	  T(1) | T(2),
	  0,
	  3,
	  0,
	  1,
	  A | B | C,
	  { NULL } },
	{ "the next hook set has all options",
	  { .hook_sets = T(1) | T(2), .refused_in = { B } },
	  T(1) | T(2),
	  0,
	  3,
	  0,
	  2,
	  A | B | C,
	  { "probe own: hook set 1 is unavailable, trying the next: no option of 0x2 in set 1" } },
	{ "an option fails",
	  { .hook_sets = T(1), .refused_in = { B } },
	  T(1),
	  0,
	  3,
	  0,
	  1,
	  A | C,
	  { "probe own: ignoring Option \"b\": no option of 0x2 in set 1; grant it" } },
	{ "two options fail, one of them the last",
	  { .hook_sets = T(1), .refused_in = { A | C } },
	  T(1),
	  0,
	  3,
	  0,
	  1,
	  B,
	  { "probe own: ignoring Option \"a\": ", "probe own: ignoring Option \"c\": " } },
	{ "an option fails in all hook sets, and the first fails without it, too",
	  { .hook_sets = T(2), .refused_in = { 0, C } },
	  T(1) | T(2),
	  0,
	  3,
	  0,
	  2,
	  A | B,
	  { "probe own: hook set 1 is unavailable, trying the next: no set 1",
	    "probe own: ignoring Option \"c\": " } },
	{ "a hook set that needs the option goes first, and another option fails",
	  { .hook_sets = T(1), .refused_in = { B } },
	  T(1),
	  T(1),
	  2,
	  0,
	  1,
	  A,
	  { "probe own: ignoring Option \"b\": " } },
	{ "the option that the hook set needs fails",
	  { .hook_sets = T(1), .refused_in = { A } },
	  T(1),
	  T(1),
	  2,
	  -EPERM,
	  0,
	  NONE,
	  { NULL } },
	{ "the engine refuses an option",
	  { .hook_sets = T(1), .refused_in = { A }, .without_kernel = true },
	  T(1),
	  0,
	  2,
	  0,
	  1,
	  B,
	  { "probe own: ignoring Option \"a\": " } },
	{ "nothing opens",
	  { .hook_sets = 0 },
	  T(1) | T(2),
	  0,
	  3,
	  -EINVAL,
	  0,
	  NONE,
	  { "probe own: hook set 1 is unavailable, trying the next: no set 1" } },
	{ "two hook sets fail for one cause of the machine",
	  { .hook_sets = T(3), .cause = NO_KPROBES_TEXT },
	  T(1) | T(2) | T(3),
	  0,
	  0,
	  0,
	  3,
	  0,
	  { "hook set 1 is unavailable, trying the next: no set 1; " NO_KPROBES_TEXT,
	    "hook set 2 is unavailable, trying the next: for the same reason as hook set 1 of probe own" } },
	{ "two hook sets fail for a cause of their own",
	  { .hook_sets = T(3), .cause = "the running kernel lacks this hook" },
	  T(1) | T(2) | T(3),
	  0,
	  0,
	  0,
	  3,
	  0,
	  { "hook set 1 is unavailable, trying the next: no set 1",
	    "hook set 2 is unavailable, trying the next: no set 2" } },
	{ "no options", { .hook_sets = 0 }, T(1), 0, 0, -EINVAL, 0, NONE, { NULL } },
};

static void test_trial(size_t i)
{
	static char a[] = "a", b[] = "b", c[] = "c";
	struct usable_options options = { .name = { a, b, c }, .count = CASES[i].options };
	struct fake_kernel kernel = CASES[i].kernel;
	struct causes_logged logged = { .of = { "" } };
	struct trial trial = { .probe = "own",
			       .hook_sets = CASES[i].hook_sets,
			       .options = &options,
			       .logged = &logged,
			       .open = fake_open,
			       .close = fake_close,
			       .opener = &kernel };
	struct error error = { "" };
	size_t messages = 0;

	CASE("%s", CASES[i].what);
	options.needed_by[0] = CASES[i].needed_by_a;
	kernel.options = NONE;
	daemon_clear();
	CHECK_INT(trial_run(&trial, &error), CASES[i].want);
	CHECK_UINT(kernel.opened, CASES[i].want_hook_set);
	CHECK_UINT(kernel.options, CASES[i].want_options);
	while (messages < COUNT_OF(CASES[i].messages) && CASES[i].messages[messages])
		messages++;
	CHECK_UINT(daemon_messages(), messages);
	for (size_t m = 0; m < messages; m++)
		CHECK_HAS(daemon_message(m), CASES[i].messages[m]);
}

int main(void)
{
	message_to(daemon_record);
	for (size_t i = 0; i < COUNT_OF(CASES); i++)
		test_trial(i);
	daemon_clear();
	return testing_end();
}
