/* SPDX-License-Identifier: MIT */
/*
 * The grammar of the tag METRIC.
 */
#include "tests/unit/testing.h"

#include "plugin/schema/schema.h"

#include <errno.h>
#include <stdlib.h>

#define X16 "0123456789abcdef"
#define X127 X16 X16 X16 X16 X16 X16 X16 "0123456789abcde"
#define BIGGEST "18446744073709551615" /* 2^64 - 1 */
#define TOO_BIG "18446744073709551616"

/* TYPE|INSTANCE|SOURCE|rate|A/B|active, and for some |frequency, |rank, |least or |per */
static const struct {
	const char *text, *want;
} good[] = {
	{ "total_requests", "total_requests|||0|1/1|0" },
	{ "ps_cputime:user", "ps_cputime||user|0|1/1|0" },
	{ "latency-response", "latency|response||0|1/1|0" },
	{ "delay_rate-delay-cpu", "delay_rate|delay-cpu||0|1/1|0" },
	{ "ps_count-x-y:threads", "ps_count|x-y|threads|0|1/1|0" },
	{ "type:source-with-dash", "type||source-with-dash|0|1/1|0" },
	{ "gauge rate", "gauge|||1|1/1|0" },
	{ "gauge scale=1/1000", "gauge|||0|1/1000|0" },
	{ "gauge frequency", "gauge|||0|1/1|0|frequency" },
	{ "bytes least scale=512/1", "bytes|||0|512/1|0|least" },
	{ "gauge per=all", "gauge|||0|1/1|0|all" },
	{ "gauge of=all", "gauge|||0|1/1|0|all" },
	{ "gauge scale=100/1 per=" X127 " active=2", "gauge|||0|100/1|2|" X127 },
	{ "gauge rank", "gauge|||0|1/1|0|rank" },
	{ "gauge tail=most", "gauge|||0|1/1|0|tail most" },
	{ "gauge per=a tail=" X127, "gauge|||0|1/1|0|a|tail " X127 },
	{ "gauge tail=a of=b", "gauge|||0|1/1|0|b|tail a" },
	{ "gauge rank rate rank", "gauge|||1|1/1|0|rank" },
	{ "gauge active=5", "gauge|||0|1/1|5" },
	{ "gauge rate scale=3/7 active=9", "gauge|||1|3/7|9" },
	{ "gauge active=9 scale=3/7 rate", "gauge|||1|3/7|9" },
	{ "  gauge   rate  ", "gauge|||1|1/1|0" },
	{ "\tgauge\trate\t", "gauge|||1|1/1|0" },
	{ "gauge scale=" BIGGEST "/" BIGGEST, "gauge|||0|" BIGGEST "/" BIGGEST "|0" },
	{ "gauge active=" BIGGEST, "gauge|||0|1/1|" BIGGEST },
	{ "gauge scale=007/08", "gauge|||0|7/8|0" },
	{ X127, X127 "|||0|1/1|0" },
	{ "a-" X127 ":" X127, "a|" X127 "|" X127 "|0|1/1|0" },
};

/* A part of the error that names the mistake. */
static const struct {
	const char *text, *want;
} bad[] = {
	{ "", "\"\" is not TYPE" },
	{ " \t ", "\"\" is not TYPE" },
	{ "-instance", "\"-instance\" is not TYPE" },
	{ ":source", "\":source\" is not TYPE" },
	{ "type-", "\"type-\" is not TYPE" },
	{ "type:", "\"type:\" is not TYPE" },
	{ "type-:source", "\"type-:source\" is not TYPE" },
	{ "type-instance:", "\"type-instance:\" is not TYPE" },
	{ "type:a:b", "\"type:a:b\" is not TYPE" },
	{ "type-a/b", "\"type-a/b\" is not TYPE" },
	{ "type-a\nb", "\" is not TYPE" },
	{ "type-a\xff", "\" is not TYPE" },
	{ "type-.", "\"type-.\" is not TYPE" },
	{ "type- rate", "\"type-\" is not TYPE" },
	{ X127 "x", "x\" is not TYPE" },
	{ "type-" X127 "x", "x\" is not TYPE" },
	{ "type:" X127 "x", "x\" is not TYPE" },
	{ "gauge ranked", "unknown word \"ranked\"" },
	{ "gauge rank=1", "unknown word \"rank=1\"" },
	{ "gauge rates", "unknown word \"rates\"" },
	{ "gauge rat", "unknown word \"rat\"" },
	{ "gauge Rate", "unknown word \"Rate\"" },
	{ "gauge rate=1", "unknown word \"rate=1\"" },
	{ "gauge rate,", "unknown word \"rate,\"" },
	{ "gauge rate nonsense rate", "unknown word \"nonsense\"" },
	{ "gauge total_requests", "unknown word \"total_requests\"" },
	{ "gauge scale", "unknown word \"scale\"" },
	{ "gauge scale=", "unknown word \"scale=\"" },
	{ "gauge scale=/", "unknown word \"scale=/\"" },
	{ "gauge scale=1", "unknown word \"scale=1\"" },
	{ "gauge scale=1/", "unknown word \"scale=1/\"" },
	{ "gauge scale=/2", "unknown word \"scale=/2\"" },
	{ "gauge scale=0/1", "unknown word \"scale=0/1\"" },
	{ "gauge scale=1/0", "unknown word \"scale=1/0\"" },
	{ "gauge scale=-1/2", "unknown word \"scale=-1/2\"" },
	{ "gauge scale=1/-2", "unknown word \"scale=1/-2\"" },
	{ "gauge scale=+1/2", "unknown word \"scale=+1/2\"" },
	{ "gauge scale=1.5/2", "unknown word \"scale=1.5/2\"" },
	{ "gauge scale=1/2/3", "unknown word \"scale=1/2/3\"" },
	{ "gauge scale=1/2x", "unknown word \"scale=1/2x\"" },
	{ "gauge scale=0x1/2", "unknown word \"scale=0x1/2\"" },
	{ "gauge scale= 1/2", "unknown word \"scale=\"" },
	{ "gauge scale=1/ 2", "unknown word \"scale=1/\"" },
	{ "gauge scale=" TOO_BIG "/1", "unknown word \"scale=" TOO_BIG "/1\"" },
	{ "gauge scale=1/" TOO_BIG, "unknown word \"scale=1/" TOO_BIG "\"" },
	{ "gauge frequency=1", "unknown word \"frequency=1\"" },
	{ "bytes least=1", "unknown word \"least=1\"" },
	{ "gauge per", "unknown word \"per\"" },
	{ "gauge per=", "unknown word \"per=\"" },
	{ "gauge of=", "unknown word \"of=\"" },
	{ "gauge per=a of=b", "unknown word \"of=b\"" },
	{ "gauge per=" X127 "x", "unknown word \"per=" },
	{ "gauge tail", "unknown word \"tail\"" },
	{ "gauge tail=", "unknown word \"tail=\"" },
	{ "gauge tail=a tail=b", "unknown word \"tail=b\"" },
	{ "gauge tail=" X127 "x", "unknown word \"tail=" },
	{ "gauge active", "unknown word \"active\"" },
	{ "gauge active=", "unknown word \"active=\"" },
	{ "gauge active=0", "unknown word \"active=0\"" },
	{ "gauge active=-5", "unknown word \"active=-5\"" },
	{ "gauge active=5s", "unknown word \"active=5s\"" },
	{ "gauge active=" TOO_BIG, "unknown word \"active=" TOO_BIG "\"" },
};

static void test_good(void)
{
	for (size_t i = 0; i < COUNT_OF(good); i++) {
		struct error error = { "" };
		struct tag tag = { 0 };
		char got[1024];

		CASE("%.60s", good[i].text);
		CHECK_INT(tag_parse(good[i].text, &tag, &error), 0);
		snprintf(got, sizeof(got),
			 "%s|%s|%s|%d|%" PRIu64 "/%" PRIu64 "|%" PRIu64 "%s%s%s%s%s%s%s", tag.type,
			 tag.instance, tag.source, tag.rate, tag.numerator, tag.denominator,
			 tag.active_growth, tag.frequency ? "|frequency" : "",
			 tag.rank ? "|rank" : "", tag.least ? "|least" : "", tag.per[0] ? "|" : "",
			 tag.per, tag.tail[0] ? "|tail " : "", tag.tail);
		CHECK_TEXT(got, good[i].want);
		CHECK_TEXT(error.text, "");
	}
}

/* A tag that fails to parse is unchanged. */
static void test_bad(void)
{
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct error error = { "" };
		struct tag tag = { .type = "untouched", .numerator = 5 };

		CASE("%.60s", bad[i].text);
		CHECK_INT(tag_parse(bad[i].text, &tag, &error), -EINVAL);
		CHECK_HAS(error.text, bad[i].want);
		CHECK_TEXT(tag.type, "untouched");
		CHECK_UINT(tag.numerator, 5);
	}
}

/* A text of any length has an error that fits its buffer. */
static void test_overlong(void)
{
	static const char *const starts[] = { "", "type-", "type:", "gauge ", "gauge scale=1" };
	struct error error;
	struct tag tag;
	char text[5000];

	for (size_t i = 0; i < COUNT_OF(starts); i++) {
		CASE("overlong after \"%s\"", starts[i]);
		memset(text, '1', sizeof(text));
		memcpy(text, starts[i], strlen(starts[i]));
		text[sizeof(text) - 1] = '\0';
		CHECK_INT(tag_parse(text, &tag, &error), -EINVAL);
		CHECK_INT(strlen(error.text) > 100 && strlen(error.text) < sizeof(error.text), 1);
	}
}

/* KIND|sharded|via|owners, or a part of the error. */
static void test_subjects(void)
{
	static const struct {
		const char *text, *want, *error;
	} cases[] = {
		{ "service", "1|0||", "" },
		{ "process", "3|0||", "" },
		{ "probe", "2|0||", "" },
		{ "probe sharded", "2|1||", "" },
		{ "service sharded", "1|1||", "" },
		{ " sharded\tservice ", "1|1||", "" },
		{ "process sharded", "3|1||", "" },
		{ "service via=a owners=b", "1|0|a|b", "" },
		{ "owners=b sharded via=a service", "1|1|a|b", "" },
		{ "process via=a owners=b", "3|0|a|b", "" },
		{ "service via=" X127 " owners=b", "1|0|" X127 "|b", "" },
		{ "key", "8|0||", "" },
		{ "key cpu label=signal", "8|0||", "" },
		{ "key sharded", "8|1||", "" },
		{ "probe cpu", NULL, "cpu and label=WORD go with key" },
		{ "service label=cpu", NULL, "cpu and label=WORD go with key" },
		{ "key label=", NULL, "unknown word \"label=\"" },
		{ "key via=a owners=b", NULL, "and with service" },
		{ "key service", NULL, "one of service, process, probe and key" },
		{ "", NULL, "a subject is one of service, process, probe and key" },
		{ " ", NULL, "a subject is one of service, process, probe and key" },
		{ "sharded", NULL, "a subject is one of service, process, probe and key" },
		{ "probe service", NULL, "a subject is one of service, process, probe and key" },
		{ "disk", NULL, "unknown word \"disk\"" },
		{ "services", NULL, "unknown word \"services\"" },
		{ "service via", NULL, "unknown word \"via\"" },
		{ "service via= owners=b", NULL, "unknown word \"via=\"" },
		{ "service via=" X127 "x owners=b", NULL, "unknown word \"via=" },
		{ "service process", NULL, "one of service, process, probe and key" },
		{ "service via=a", NULL, "via=MAP and owners=MAP go together" },
		{ "service owners=a", NULL, "via=MAP and owners=MAP go together" },
		{ "probe via=a owners=b", NULL, "and with service" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct error error = { "" };
		struct subject_tag tag = { .via = "untouched" };
		char got[512];

		CASE("subject \"%.60s\"", cases[i].text);
		CHECK_INT(subject_parse(cases[i].text, &tag, &error), cases[i].want ? 0 : -EINVAL);
		snprintf(got, sizeof(got), "%d|%d|%s|%s", tag.kind, tag.sharded, tag.via,
			 tag.owners);
		CHECK_TEXT(got, cases[i].want ? cases[i].want : "0|0|untouched|");
		CHECK_HAS(error.text, cases[i].error);
	}
}

int main(void)
{
	test_subjects();
	test_good();
	test_bad();
	test_overlong();
	return testing_end();
}
