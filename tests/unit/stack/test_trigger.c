/* SPDX-License-Identifier: MIT */
/*
 * Profiles that thresholds start: one for each service in ten minutes, of the configured length.
 */
#include "tests/unit/testing.h"

#include "plugin/stack/trigger.h"
#include "plugin/util/clock.h"

#define S NS_PER_S
#define T (1000 * S)

static void test_one_service(void)
{
	struct trigger trigger = { .length_ns = 60 * S };

	CHECK_INT(trigger_any(&trigger, T), false);
	CHECK_INT(trigger_start(&trigger, "web", T), true);
	CHECK_INT(trigger_start(&trigger, "web", T + 59 * S), false);
	CHECK_INT(trigger_has(&trigger, "web", T + 59 * S), true);
	CHECK_INT(trigger_has(&trigger, "db", T + 59 * S), false);
	CHECK_INT(trigger_any(&trigger, T + 60 * S), false);
	CHECK_INT(trigger_has(&trigger, "web", T + 60 * S), false);
	CHECK_INT(trigger_start(&trigger, "web", T + 599 * S), false);
	CHECK_INT(trigger_start(&trigger, "web", T + 600 * S), true);
	CHECK_INT(trigger_has(&trigger, "web", T + 659 * S), true);
}

static void test_many(void)
{
	struct trigger trigger = { .length_ns = 60 * S };
	char name[32];

	for (unsigned i = 0; i < TRIGGER_SERVICES_MAX; i++) {
		snprintf(name, sizeof(name), "service%u", i);
		CHECK_INT(trigger_start(&trigger, name, T + i), true);
	}
	CHECK_INT(trigger_start(&trigger, "one more", T + S), false);
	CHECK_INT(trigger_start(&trigger, "one more", T + 600 * S), true);
	CHECK_INT(trigger_start(&trigger, "and another", T + 600 * S), false);
}

int main(void)
{
	test_one_service();
	test_many();
	return testing_end();
}
