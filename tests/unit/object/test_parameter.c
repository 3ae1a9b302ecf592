/* SPDX-License-Identifier: MIT */
/*
 * Parameters of tests/bpf/parameters.bpf.o, and the errors for those that cannot be set. Nothing is
 * loaded.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/daemon.h"

#include "plugin/object/parameter.h"
#include "plugin/util/message.h"

#define LIST "it has \"on\", \"u8_most\", \"s8_least\", \"u16_most\", \"s16_least\", \"u32_most\", "

static struct file_helper files;

/* A message is the reason why a value is refused; without one, the variable has the bits. */
static const struct plan {
	const char *name, *value;
	size_t size;
	uint64_t bits;
	const char *message;
} PLANS[] = {
	{ "on", "false", 1, 0, NULL },
	{ "on", "1", 1, 1, NULL },
	{ "on", "2", 1, 1, "probe own: ignoring Parameter \"on\" 2: it takes true or false" },
	{ "on", "-1", 1, 1, "ignoring Parameter \"on\" -1: it takes true or false" },
	{ "u8_most", "200", 1, 200, NULL },
	{ "u8_most", "201", 1, 1, "\"u8_most\" 201: it takes a whole number from 0 to 200" },
	{ "u8_most", "true", 1, 1, "\"u8_most\" true: it takes a whole number from 0 to 200" },
	{ "s8_least", "-128", 1, 0x80, NULL },
	{ "s8_least", "-129", 1, 0xff, "it takes a whole number from -128 to 127" },
	{ "s8_least", "128", 1, 0xff, "it takes a whole number from -128 to 127" },
	{ "u16_most", "65535", 2, 0xffff, NULL },
	{ "u16_most", "-1", 2, 1, "it takes a whole number from 0 to 65535" },
	{ "s16_least", "-32768", 2, 0x8000, NULL },
	{ "s16_least", "32768", 2, 0xffff, "it takes a whole number from -32768 to 32767" },
	{ "u32_most", "0xffffffff", 4, 0xffffffff, NULL },
	{ "u32_most", "4294967296", 4, 1, "it takes a whole number from 0 to 4294967295" },
	{ "s32_least", "-2147483648", 4, 0x80000000, NULL },
	{ "s32_least", "2147483648", 4, 0xffffffff, "from -2147483648 to 2147483647" },
	{ "u64_most", "18446744073709551615", 8, UINT64_MAX, NULL },
	{ "u64_most", "-1", 8, 1, "it takes a whole number from 0 to 18446744073709551615" },
	{ "s64_least", "-9223372036854775808", 8, 1ULL << 63, NULL },
	{ "s64_least", "6", 8, UINT64_MAX, "from -9223372036854775808 to 5" },
	{ "color", "1", 4, 1, NULL },
	{ "badly", "3", 4, 1, "its RANGE, \"5..1\", is not LOW..HIGH within its type" },
	{ "wide", "3", 1, 1, "its RANGE, \"0..256\", is not LOW..HIGH within its type" },
	{ "service_rows", "5", 4, 1, "ignoring Parameter \"service_rows\" 5: the plugin itself" },
	{ "option_extra", "true", 1, 0, "use Option \"extra\"" },
	{ "many", "5", 0, 0, "it is an array, and only integers and bools can be set" },
	{ "pair", "5", 0, 0, "it is a struct or union, and" },
	{ "huge", "5", 16, 0, "it is an integer of more than 8 bytes, and" },
	{ "pointer", "5", 8, 0, "it is a pointer, and" },
	{ "written", "5", 4, 1, "it is not const volatile" },
	{ "u8_mosst", "5", 0, 0, "probe own: ignoring Parameter \"u8_mosst\" 5: " LIST },
	{ "", "5", 0, 0, "\"color\", \"badly\", \"wide\"" },
	{ "LICENSE", "5", 0, 0, "it is an array" },
	{ "parameters", "5", 0, 0, "it is a struct or union" },
};

static void read_value(const char *text, struct parameter_config *parameter)
{
	const char *end;

	parameter->is_boolean = !strcmp(text, "true") || !strcmp(text, "false");
	if (parameter->is_boolean)
		parameter->value.magnitude = !strcmp(text, "true");
	else
		CHECK_INT(number_parse(text, &parameter->value, &end), true);
}

static void test_plan(const struct plan *plan)
{
	struct parameter_config parameter = { .name = (char *)plan->name };
	struct probe_config block = { .parameters = &parameter, .parameter_count = 1 };
	struct error error = { "" };
	struct object object;
	uint64_t bits = 0;
	void *at;

	CASE("%s %s", plan->name, plan->value);
	daemon_clear();
	read_value(plan->value, &parameter);
	CHECK_INT(object_open(&object, testing_built("tests/bpf/parameters.bpf.o"), &files, &error),
		  0);
	parameters_check(&object, "own", &block);
	CHECK_UINT(daemon_messages(), plan->message != NULL);
	if (plan->message && daemon_messages()) {
		CHECK_HAS(daemon_message(0), plan->message);
		CHECK_INT(daemon_severity(0), LOG_ERR);
	}
	parameters_set(&object, &block);
	at = plan->size && plan->size <= sizeof(bits)
		     ? object_variable(&object, plan->name, plan->size)
		     : NULL;
	if (at)
		memcpy(&bits, at, plan->size);
	CHECK_UINT(bits, plan->bits);
	CHECK_UINT(daemon_messages(), plan->message != NULL);
	object_done(&object);
}

static void test_without(void)
{
	struct parameter_config parameter = { .name = (char[]){ "x" } };
	struct probe_config block = { .parameters = &parameter, .parameter_count = 1 };
	struct error error = { "" };
	struct object object;

	CASE("an object without parameters");
	daemon_clear();
	CHECK_INT(object_open(&object, testing_built("tests/bpf/mistakes.bpf.o"), &files, &error),
		  0);
	parameters_check(&object, "own", NULL);
	CHECK_UINT(daemon_messages(), 0);
	parameters_check(&object, "own", &block);
	CHECK_UINT(daemon_messages(), 1);
	CHECK_HAS(daemon_message(0), "ignoring Parameter \"x\" 0: it has no parameters");
	object_done(&object);
}

int main(void)
{
	file_helper_init(&files);
	message_to(daemon_record);
	for (size_t i = 0; i < COUNT_OF(PLANS); i++)
		test_plan(&PLANS[i]);
	test_without();
	daemon_clear();
	file_helper_done(&files);
	return testing_end();
}
