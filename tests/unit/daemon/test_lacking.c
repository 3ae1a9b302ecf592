/* SPDX-License-Identifier: MIT */
/*
 * Types that the daemon lacks, or has with other data sources: what takes their place, what is
 * dispatched, and what is logged.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/daemon.h"

#include "plugin/daemon/dispatch.h"
#include "plugin/daemon/lacking.h"
#include "plugin/schema/stock_type.h"
#include "plugin/util/message.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static char logged[2048];
static unsigned messages;

static void keep_message(__attribute__((unused)) int severity, const char *text)
{
	size_t length = strlen(logged);

	messages++;
	snprintf(logged + length, sizeof(logged) - length, "%s\n", text);
}

static size_t dispatched(const char *type)
{
	const struct dispatch dispatch = { 0 };

	daemon_clear();
	dispatch_gauge(&dispatch, "web", type, "", 1);
	return daemon_dispatched();
}

static void log_again(void)
{
	logged[0] = '\0';
	messages = 0;
	lacking_log();
}

static void test_lookup(void)
{
	struct metric_type type = { 0 };

	CASE("a type that is there");
	CHECK_INT(dispatch_type_or_stock("gauge", &type), 0);
	CHECK_UINT(type.source_count, 1);
	CHECK_INT(lacking_has("gauge"), false);
	CHECK_UINT(dispatched("gauge"), 1);
	CASE("one of the stock types.db alone");
	CHECK_INT(dispatch_type_or_stock("disk_ops", &type), 0);
	CHECK_UINT(type.source_count, 2);
	CHECK_TEXT(type.source[1].name, "write");
	CHECK_INT(type.source[1].kind, SOURCE_DERIVE);
	CHECK_INT(lacking_has("disk_ops"), true);
	CHECK_UINT(dispatched("disk_ops"), 0);
	CASE("one that nobody knows");
	CHECK_INT(dispatch_type_or_stock("moon", &type), 0);
	CHECK_UINT(type.source_count, 0);
	CHECK_UINT(dispatched("moon"), 0);
	CASE("one with too many data sources");
	CHECK_INT(dispatch_type_or_stock("nine", &type), -E2BIG);
}

static void test_log(void)
{
	CASE("no series needs them");
	log_again();
	CHECK_UINT(messages, 0);
	CASE("series need them");
	lacking_need("disk_ops");
	lacking_need("moon");
	lacking_need("gauge");
	log_again();
	CHECK_UINT(messages, 2);
	CHECK_HAS(logged, ":\ndisk_ops read:DERIVE:0:U, write:DERIVE:0:U\n");
	CHECK_HAS(logged, ": moon\n");
	CASE("after a restart");
	lacking_done();
	log_again();
	CHECK_UINT(messages, 0);
	CHECK_INT(lacking_has("moon"), false);
}

static void test_bounds(void)
{
	struct metric_type type;
	char name[16];
	int status = 0;

	CASE("many types");
	for (int i = 0; i < 128 && status == 0; i++) {
		snprintf(name, sizeof(name), "moon%d", i);
		status = dispatch_type_or_stock(name, &type);
		lacking_need(name);
	}
	CHECK_INT(status, 0);
	CHECK_INT(dispatch_type_or_stock("mars", &type), -ENOENT);
	log_again();
	CHECK_UINT(messages, 2);
	CHECK_HAS(logged, " moon127\n");
	lacking_done();
}

static void test_fits(void)
{
	static const struct metric_type stock = {
		2, { { "rx", SOURCE_DERIVE }, { "tx", SOURCE_DERIVE } }
	};
	static const struct metric_type swapped = {
		2, { { "tx", SOURCE_DERIVE }, { "rx", SOURCE_DERIVE } }
	};
	static const struct metric_type gauge = {
		2, { { "rx", SOURCE_DERIVE }, { "tx", SOURCE_GAUGE } }
	};
	static const struct metric_type named = {
		2, { { "rx", SOURCE_DERIVE }, { "out", SOURCE_DERIVE } }
	};
	static const struct metric_type single = { 1, { { "rx", SOURCE_DERIVE } } };
	static const struct metric_type value = { 1, { { "value", SOURCE_DERIVE } } };

	CASE("data sources");
	CHECK_INT(stock_type_fits(&stock, &swapped), true);
	CHECK_INT(stock_type_fits(&stock, &gauge), false);
	CHECK_INT(stock_type_fits(&stock, &named), false);
	CHECK_INT(stock_type_fits(&stock, &single), false);
	CHECK_INT(stock_type_fits(&single, &value), true);
}

int main(void)
{
	message_to(keep_message);
	test_lookup();
	test_log();
	test_bounds();
	test_fits();
	return testing_end();
}
