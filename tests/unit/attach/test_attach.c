/* SPDX-License-Identifier: MIT */
/*
 * Which program of an object an Attach line selects, and the errors for lines that select none.
 * Nothing is loaded.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/daemon.h"

#include "plugin/attach/attach.h"

#include <errno.h>

static struct file_helper files;

static const struct {
	const char *object, *text, *program, *want; /* want: NULL: it fits */
} LINES[] = {
	{ "attach", "uprobe:/x:f", "attach_call", NULL },
	{ "attach", "kprobe:f", "attach_call", NULL },
	{ "attach", "uretprobe:/x:f", NULL, NULL },
	{ "attach", "usdt:/x:p:n", NULL, NULL },
	{ "attach", "usdt:/x:p:n", "attach_call", NULL },
	{ "attach", "kprobe:f", NULL, NULL },
	{ "attach", "kretprobe:f", NULL, NULL },
	{ "attach", "tracepoint:a:b", NULL, NULL },
	{ "attach", "perf:cpu-clock:frequency=1", NULL, NULL },
	{ "attach", "uprobe:/x:f", NULL,
	  "probe own: ignoring Attach \"uprobe:/x:f\": which program? name one after it: "
	  "\"attach_call\", \"attach_other\"" },
	{ "attach", "uprobe:/x:f", "attach_cal",
	  "ignoring Attach \"uprobe:/x:f\" \"attach_cal\": it has no program of this name, but "
	  "\"attach_call\", \"attach_other\", \"attach_return\"" },
	{ "attach", "tracepoint:a:b", "attach_call", "the program is SEC(\"uprobe\")" },
	{ "attach", "perf:cpu-clock:frequency=1", "attach_tracepoint",
	  "the program is SEC(\"tracepoint\")" },
	{ "attach_section", "uprobe:/x:f", NULL, NULL },
	{ "attach_section", "uretprobe:/x:f", NULL, "it has no program SEC(\"uretprobe\")" },
	{ "mistakes", "uprobe:/x:f", NULL, "it has no program SEC(\"uprobe\")" },
	{ "mistakes", "uprobe:/x:f", "mistakes_count", "is SEC(\"raw_tp/task_rename\")" },
};

static void open_object(struct object *object, const char *name)
{
	struct error error = { "" };
	char path[128];

	snprintf(path, sizeof(path), "tests/bpf/%s.bpf.o", name);
	CHECK_INT(object_open(object, testing_built(path), &files, &error), 0);
}

static void test_lines(void)
{
	for (size_t i = 0; i < COUNT_OF(LINES); i++) {
		struct attach_config line = { .text = (char *)LINES[i].text,
					      .program = (char *)LINES[i].program };
		struct probe_config block = { .attaches = &line, .attach_count = 1 };
		struct object object;
		char why[256];

		CASE("%s: %s", LINES[i].object, LINES[i].text);
		daemon_clear();
		CHECK_INT(hook_parse(line.text, &line.hook, why, sizeof(why)), true);
		open_object(&object, LINES[i].object);
		attach_lines_check(&object, "own", NULL);
		attach_lines_check(&object, "own", &block);
		CHECK_UINT(daemon_messages(), LINES[i].want != NULL);
		if (LINES[i].want && daemon_messages())
			CHECK_HAS(daemon_message(0), LINES[i].want);
		object_done(&object);
		hook_done(&line.hook);
	}
}

/* Programs that libbpf must not attach by itself, or cannot. */
static void test_own(void)
{
	static const struct {
		const char *object;
		bool want;
	} cases[] = { { "attach", true },
		      { "attach_section", true },
		      { "mistakes", false },
		      { "sample", false },
		      { "iter_map", false } };

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct bpf_program *program;
		struct object object;

		CASE("programs of %s", cases[i].object);
		open_object(&object, cases[i].object);
		bpf_object__for_each_program(program, object.bpf)
			CHECK_INT(program_is_attached_by_engine(program), cases[i].want);
		object_done(&object);
	}
}

/* Programs with arguments that a hook of this kind does not have: they would all be 0. */
static void test_arguments(void)
{
	char path[] = "/none", name[] = "a:b", what[] = "Attach";
	struct hook hook = { .kind = HOOK_USDT, .path = path, .name = name };
	struct attachment attachment = { .hook = &hook, .what = what };
	struct error error = { "" };
	struct object object;

	CASE("a program for markers that wants their arguments");
	open_object(&object, "attach_arguments");
	CHECK_INT(attachments_add(&object, &attachment, &error), -EOPNOTSUPP);
	CHECK_HAS(error.text, "arguments of markers are not supported");
	CHECK_INT(attachments_any(&object), false);
	object_done(&object);
}

int main(void)
{
	file_helper_init(&files);
	message_to(daemon_record);
	test_lines();
	test_own();
	test_arguments();
	daemon_clear();
	file_helper_done(&files);
	return testing_end();
}
