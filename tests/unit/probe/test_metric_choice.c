/* SPDX-License-Identifier: MIT */
/*
 * Collect and Ignore of a Probe block, with tests/bpf/selection.bpf.o: which tables are read, and
 * the messages about lines that select nothing. Nothing is loaded.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/daemon.h"

#include "plugin/daemon/dispatch.h"
#include "plugin/object/hook_set_parts.h"
#include "plugin/probe/metric_choice.h"
#include "plugin/table/table.h"
#include "plugin/util/message.h"

#define GLOBS_MAX 3
#define MESSAGES_MAX 3
#define P(text) ((char[]){ text })

static struct file_helper files;
static struct config config = { .percentiles = { 50 }, .percentile_count = 1 };

#define HAS                                                                               \
	"it has \"derive-renames\", \"derive-quiet\", \"percent-share\", \"gauge-gap\", " \
	"\"latency-length\", \"gauge-load\", \"derive-named-*\""

static const struct plan {
	const char *name;
	char *collect[GLOBS_MAX], *ignore[GLOBS_MAX];
	const char *option;
	const char *tables; /* map:number of its metrics */
	const char *messages[MESSAGES_MAX];
	bool has_loads; /* whether that map is created */
} PLANS[] = {
	{ .name = "by default", .tables = "rows:2 loads:1 names:1 " },
	{ .name = "some",
	  .collect = { P("derive-*") },
	  .ignore = { P("derive-quiet") },
	  .tables = "rows:1 names:1 " },
	{ .name = "as documents have it",
	  .collect = { P("derive-named-*") },
	  .tables = "names:1 " },
	{ .name = "all", .collect = { P("*") }, .tables = "rows:5 loads:1 names:1 " },
	{ .name = "all, with the option",
	  .collect = { P("*") },
	  .option = "extra",
	  .tables = "rows:5 extras:1 loads:1 names:1 " },
	{ .name = "nothing", .ignore = { P("*") }, .tables = "" },
	{ .name = "default and one more",
	  .collect = { P("default"), P("gauge-gap-cv") },
	  .tables = "rows:3 loads:1 names:1 " },
	{ .name = "a typing error, and what there is",
	  .collect = { P("derive-rename"), P("gauge-load") },
	  .tables = "loads:1 ",
	  .messages = { "probe own: ignoring Collect \"derive-rename\": unknown metric; is "
			"\"derive-renames\" meant? " HAS } },
	{ .name = "Collect that fits nothing",
	  .collect = { P("latency-length-percentile-99") },
	  .tables = "rows:2 loads:1 names:1 ",
	  .messages = { "ignoring Collect \"latency-length-percentile-99\": unknown metric; " HAS } },
	{ .name = "Ignore that fits nothing",
	  .ignore = { P("default"), P("derive-named-sh"), P("gauge-load") },
	  .tables = "rows:2 names:1 ",
	  .messages = { "ignoring Ignore \"default\": unknown metric; " HAS,
			"ignoring Ignore \"derive-named-sh\": unknown metric; " } },
	{ .name = "what needs an option",
	  .collect = { P("derive-extra") },
	  .tables = "rows:2 loads:1 names:1 ",
	  .messages = { "ignoring Collect \"derive-extra\": these metrics need Option \"extra\" in "
			"its Probe block" } },
};

static size_t count_of(char *const *globs)
{
	size_t count = 0;

	while (count < GLOBS_MAX && globs[count])
		count++;
	return count;
}

/* The maps that a probe opens as tables. */
static void print_tables(char *text, size_t size, const struct object *object,
			 const struct probe_config *block, const struct selection *selection)
{
	struct bpf_map *map;

	text[0] = '\0';
	bpf_object__for_each_map(map, object->bpf)
	{
		struct error error = { "" };
		struct table table;
		int status = table_open(&table, map, bpf_object__btf(object->bpf), NULL,
					dispatch_type, selection, &error);

		CHECK_TEXT(error.text, "");
		if (status > 0 && (block->options.count || strcmp(table.name, "extras") != 0))
			snprintf(text + strlen(text), size - strlen(text), "%s:%zu ", table.name,
				 table.schema.metric_count);
		if (!strcmp(bpf_map__name(map), "loads"))
			CHECK_INT(bpf_map__autocreate(map), status > 0);
		if (status > 0)
			table_done(&table);
	}
}

static void test_plan(const struct plan *plan)
{
	struct probe_config block = {
		.collect = { (char **)plan->collect, count_of(plan->collect) },
		.ignore = { (char **)plan->ignore, count_of(plan->ignore) },
		.options = { (char **)&plan->option, plan->option != NULL },
	};
	struct error error = { "" };
	struct selection selection;
	struct object object;
	size_t messages = 0;
	char got[256];

	CASE("%s", plan->name);
	daemon_clear();
	CHECK_INT(object_open(&object, testing_built("tests/bpf/selection.bpf.o"), &files, &error),
		  0);
	metric_choice_read(&selection, &object, "own", &block, &config, dispatch_type);
	for (; messages < MESSAGES_MAX && plan->messages[messages]; messages++) {
		CHECK_HAS(daemon_message(messages), plan->messages[messages]);
		CHECK_INT(daemon_severity(messages), LOG_ERR);
	}
	CHECK_UINT(daemon_messages(), messages);
	CHECK_INT(metric_choice_is_possible(&object, &block, &config, dispatch_type), true);
	CHECK_INT(object_is_off_by_default(&object), false); /* some of its metrics are on */
	print_tables(got, sizeof(got), &object, &block, &selection);
	CHECK_TEXT(got, plan->tables);
	object_done(&object);
}

static void test_none(void)
{
	char *glob = P("x");
	struct probe_config block = { .collect = { &glob, 1 } };
	struct error error = { "" };
	struct selection selection;
	struct object object;

	CASE("an object without metrics");
	daemon_clear();
	CHECK_INT(object_open(&object, testing_built("bpf/engine/service.bpf.o"), &files, &error),
		  0);
	metric_choice_read(&selection, &object, "own", &block, &config, dispatch_type);
	CHECK_UINT(daemon_messages(), 1);
	CHECK_HAS(daemon_message(0), "ignoring Collect \"x\": unknown metric; it has none");
	CHECK_INT(metric_choice_is_possible(&object, &block, &config, dispatch_type), false);
	object_done(&object);
}

int main(void)
{
	message_to(daemon_record);
	file_helper_init(&files);
	for (size_t i = 0; i < COUNT_OF(PLANS); i++)
		test_plan(&PLANS[i]);
	test_none();
	daemon_clear();
	file_helper_done(&files);
	return testing_end();
}
