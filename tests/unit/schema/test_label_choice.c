/* SPDX-License-Identifier: MIT */
/*
 * plugin/schema/label_choice.c: which names have series by the Label lines of a Probe block, and
 * the messages about lines without effect.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/daemon.h"
#include "tests/unit/fake/label.h"

#include "plugin/schema/label_choice.h"

static char recvfrom_[] = "recvfrom", sending[] = "send*", mistyped[] = "recvfrm",
	    number[] = "syscall_500", any[] = "x?";
static char *calls[] = { recvfrom_, sending, mistyped, number, any };
static char web[] = "web";
static char *services[] = { web };
static const char *const words[] = { "syscall", "service", "device" };
static char syscall_word[] = "syscall", service_word[] = "service", mistyped_word[] = "sycall";

static struct label_config lines[] = {
	{ syscall_word, { calls, COUNT_OF(calls) } },
	{ service_word, { services, 1 } },
	{ mistyped_word, { calls, 1 } },
};

static struct labels labels_with(size_t first, size_t count)
{
	struct labels labels = labels_none(0, NO_LABEL);

	for (size_t i = 0; i < count; i++)
		labels_add(&labels, label_of(words[first + i], 0, 0));
	return labels;
}

static void test_fits(void)
{
	static const struct {
		size_t label;
		const char *name;
		bool want;
	} cases[] = {
		{ 0, "recvfrom", true }, { 0, "sendto", true }, { 0, "sendmsg", true },
		{ 0, "recvmsg", false }, { 0, "recv", false },  { 0, "", false },
		{ 1, "web", true },      { 1, "web-1", false }, { 1, "other", false },
	};
	const struct probe_config block = { .labels = lines, .label_count = 2 };
	const struct labels labels = labels_with(0, 2);
	struct label_choice choice = label_choice_of(&block, &labels);

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("label %zu, %s", cases[i].label, cases[i].name);
		CHECK_INT(label_choice_fits(&choice, cases[i].label, cases[i].name), cases[i].want);
	}
}

static void test_none(void)
{
	const struct probe_config none = { .enable = true },
				  block = { .labels = lines + 2, .label_count = 1 };
	const struct labels labels = labels_with(0, 2);
	struct label_choice choice = label_choice_of(&none, &labels);

	CASE("without a line");
	CHECK_INT(label_choice_fits(&choice, 0, "read"), true);
	CASE("with a line for another label");
	choice = label_choice_of(&block, &labels);
	CHECK_INT(label_choice_fits(&choice, 0, "read"), true);
}

static void test_mistakes(void)
{
	const struct probe_config block = { .labels = lines, .label_count = COUNT_OF(lines) };
	const struct labels first = labels_with(0, 2), second = labels_with(2, 1);
	const struct labels *all[] = { &first, &second };

	CASE("labels and names that there are not");
	daemon_clear();
	label_choice_check(&block, all, 2, "a");
	CHECK_HAS(daemon_message(0),
		  "probe a: ignoring \"recvfrm\" of Label \"syscall\": there is no such "
		  "syscall on this machine; see syscalls(2)");
	CHECK_HAS(daemon_message(1),
		  "probe a: ignoring Label \"sycall\": its rows have no such label, but "
		  "\"syscall\", \"service\", \"device\"");
	CHECK_TEXT(daemon_message(2), "");
	CASE("no rows of keys");
	daemon_clear();
	label_choice_check(&block, all, 0, "a");
	CHECK_HAS(daemon_message(0),
		  "probe a: ignoring Label \"syscall\": it has no rows that are named by keys");
	CHECK_HAS(daemon_message(2), "ignoring Label \"sycall\": it has no rows");
	daemon_clear();
}

int main(void)
{
	message_to(daemon_record);
	test_fits();
	test_none();
	test_mistakes();
	return testing_end();
}
