/* SPDX-License-Identifier: MIT */
/*
 * Which programs of an object are loaded for which functions, and the error for a function that no
 * program fits. Nothing is loaded.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/daemon.h"

#include "plugin/attach/attachment_list.h"
#include "plugin/attach/function_program.h"

static struct file_helper files;

static void open_object(struct object *object)
{
	struct error error = { "" };

	CHECK_INT(object_open(object, testing_built("tests/bpf/function_links.bpf.o"), &files,
			      &error),
		  0);
}

static bool is_loaded(const struct object *object, const char *name)
{
	const struct bpf_program *program = bpf_object__find_program_by_name(object->bpf, name);

	return program && bpf_program__autoload(program);
}

static void test_programs(void)
{
	static const struct {
		const char *text;
		bool at_entry, at_return;
		bool call, returns; /* are loaded */
		const char *said;
	} cases[] = {
		{ "uprobe:/x:f", true, false, true, false, NULL },
		{ "uprobe:/x:f", true, true, true, true, NULL },
		{ "uprobe:/x:f", false, true, false, true, NULL },
		{ "uprobe:service:web:f", true, false, true, false, NULL },
		{ "usdt:/x:p:n", true, false, true, false, NULL },
		{ "uprobe:/x:f", false, false, false, false, NULL },
		{ "fentry:f", true, false, false, false,
		  "probe own: ignoring Function \"work\": there are more functions for fentry" },
		{ "fentry:f", true, true, false, false,
		  "probe own: ignoring Function \"work\": there are more functions for fentry" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct traced_function function = { .name = "work",
						    .at_entry = cases[i].at_entry,
						    .at_return = cases[i].at_return };
		struct error error = { "" };
		struct object object;
		struct hook hook;
		char why[256];

		CASE("%s, %d %d", cases[i].text, cases[i].at_entry, cases[i].at_return);
		daemon_clear();
		CHECK_INT(hook_parse(cases[i].text, &hook, why, sizeof(why)), true);
		function.hook = &hook;
		open_object(&object);
		CHECK_INT(function_programs_prepare(&object, "own", &function, 1, &error), 0);
		CHECK_INT(is_loaded(&object, "links_call"), cases[i].call);
		CHECK_INT(is_loaded(&object, "links_return"), cases[i].returns);
		CHECK_INT(is_loaded(&object, "links_kernel_call"), false);
		CHECK_INT(is_loaded(&object, "links_kernel_calls"), false);
		CHECK_INT(attachments_any(&object), cases[i].call || cases[i].returns);
		CHECK_UINT(daemon_messages(), cases[i].said != NULL);
		if (cases[i].said && daemon_messages())
			CHECK_HAS(daemon_message(0), cases[i].said);
		object_done(&object);
		hook_done(&hook);
	}
}

/* All functions are in one message. */
static void test_refused(void)
{
	struct traced_function traced[200];
	char names[COUNT_OF(traced)][16], why[256];
	struct error error = { "" };
	struct object object;
	struct hook hook;

	CASE("200 functions that are refused");
	daemon_clear();
	CHECK_INT(hook_parse("fentry:f", &hook, why, sizeof(why)), true);
	for (size_t i = 0; i < COUNT_OF(traced); i++) {
		snprintf(names[i], sizeof(names[i]), "f%zu", i);
		traced[i] = (struct traced_function){
			.name = names[i], .hook = &hook, .at_entry = true, .at_return = true
		};
	}
	open_object(&object);
	CHECK_INT(function_programs_prepare(&object, "own", traced, COUNT_OF(traced), &error), 0);
	CHECK_UINT(daemon_messages(), 1);
	CHECK_HAS(daemon_message(0),
		  "probe own: ignoring Function \"f0\" and 199 others: there are");
	object_done(&object);
	hook_done(&hook);
}

int main(void)
{
	file_helper_init(&files);
	message_to(daemon_record);
	test_programs();
	test_refused();
	daemon_clear();
	file_helper_done(&files);
	return testing_end();
}
