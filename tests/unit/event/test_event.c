/* SPDX-License-Identifier: MIT */
/*
 * From the tags of a ring buffer to the text of a record's notification, and mistakes in the tags.
 */
#include "tests/unit/testing.h"

#include "plugin/daemon/dispatch.h"
#include "plugin/event/event.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>

#define X16 "0123456789abcdef"
#define X64 X16 X16 X16 X16

struct record {
	char comm[16];
	uint64_t bytes;
	uint32_t pid;
	uint32_t service;
	int16_t change;
	uint8_t small;
	uint8_t pad;
	uint32_t color;
	uint64_t wide;
	uint64_t wrong; /* its type differs by case */
};

/* Types of the last member. */
enum wrong { WRONG_U64, WRONG_POINTER, WRONG_STRUCT, WRONG_WORDS, WRONG_LONG, WRONG_EMPTY };

struct source {
	const char *event;   /* NULL: no tag */
	const char *label;   /* of `service` */
	const char *another; /* label of `pid` */
	enum wrong wrong;
	bool bits;     /* the last member is a bit field */
	uint32_t size; /* of the record, 0: as it is */
	bool scalar;   /* the ring's type is an integer */
};

static int wrong_type(struct btf *btf, enum wrong wrong, int u8, int u64)
{
	switch (wrong) {
	case WRONG_POINTER:
		return btf__add_ptr(btf, u64);
	case WRONG_STRUCT:
		return btf__add_struct(btf, "other", 8);
	case WRONG_WORDS:
		return btf__add_array(btf, u64, u64, 1);
	case WRONG_LONG:
		return btf__add_array(btf, u64, u8, 257);
	case WRONG_EMPTY:
		return btf__add_array(btf, u64, u8, 0);
	default:
		return u64;
	}
}

#define FIELD(member, type) \
	btf__add_field(btf, #member, type, 8 * (uint32_t)offsetof(struct record, member), 0)

static struct btf *make(const struct source *source, uint32_t *ret_type)
{
	struct btf *btf = btf__new_empty();
	int u8 = btf__add_int(btf, "char", 1, BTF_INT_SIGNED), u32, u64, s16, color, wide, wrong;
	int array, row, var;
	char text[1024];

	u32 = btf__add_int(btf, "u32", 4, 0);
	u64 = btf__add_int(btf, "u64", 8, 0);
	s16 = btf__add_int(btf, "s16", 2, BTF_INT_SIGNED);
	array = btf__add_array(btf, u32, u8, 16);
	color = btf__add_enum(btf, "color", 4);
	btf__add_enum_value(btf, "DARK_RED", 1);
	btf__add_enum_value(btf, "below", -1);
	wide = btf__add_enum64(btf, "wide", 8, false);
	btf__add_enum64_value(btf, "FAR_OFF", 1ULL << 40);
	wrong = wrong_type(btf, source->wrong, u8, u64);
	row = btf__add_struct(btf, "record", source->size ?: sizeof(struct record));
	FIELD(comm, array);
	FIELD(bytes, u64);
	FIELD(pid, u32);
	FIELD(service, u32);
	FIELD(change, s16);
	FIELD(small, u8);
	FIELD(color, color);
	FIELD(wide, wide);
	btf__add_field(btf, "wrong", wrong, 8 * (uint32_t)offsetof(struct record, wrong),
		       source->bits ? 3 : 0);
	var = btf__add_var(btf, "ring", BTF_VAR_GLOBAL_ALLOCATED, row);
	if (source->event) {
		snprintf(text, sizeof(text), "event:%s", source->event);
		btf__add_decl_tag(btf, text, var, -1);
	}
	if (source->label) {
		snprintf(text, sizeof(text), "label:%s", source->label);
		btf__add_decl_tag(btf, text, row, 3);
	}
	if (source->another) {
		snprintf(text, sizeof(text), "label:%s", source->another);
		btf__add_decl_tag(btf, text, row, 2);
	}
	*ret_type = (uint32_t)(source->scalar ? u64 : row);
	return btf;
}

static int open_event(struct event *event, const struct source *source, struct btf **ret_btf,
		      struct error *error)
{
	uint32_t type;

	*ret_btf = make(source, &type);
	*error = (struct error){ "" };
	return event_read(event, *ret_btf, "ring", type, dispatch_type, error);
}

/* --- records --- */

static const struct record one = {
	.comm = "nginx",
	.bytes = 1536 * 1024,
	.pid = 4711,
	.service = 3,
	.change = -5,
	.small = 7,
	.color = 1,
	.wide = 1ULL << 40,
	.wrong = 12,
};

static void check_text(const char *template, const struct record *record, const char *want)
{
	struct source source = { .label = "service" };
	char text[EVENT_TEXT_MAX], tag[512];
	struct event event;
	struct error error;
	uint32_t row = 99;
	struct btf *btf;

	CASE("%s", template);
	snprintf(tag, sizeof(tag), "warning total_events-x %s", template);
	source.event = tag;
	CHECK_INT(open_event(&event, &source, &btf, &error), 1);
	CHECK_TEXT(error.text, "");
	CHECK_INT(event.health, HEALTH_WARNING);
	CHECK_TEXT(event.tag.type, "total_events");
	CHECK_TEXT(event.tag.instance, "x");
	CHECK_UINT(event.record_size, sizeof(*record));
	CHECK_INT(event_row(&event, record, &row), true);
	CHECK_UINT(row, record->service);
	event_text(&event, record, "web", text, sizeof(text));
	CHECK_TEXT(text, want);
	event_done(&event);
	event_done(&event);
	btf__free(btf);
}

static void test_texts(void)
{
	struct record other = one;

	check_text("plain", &one, "plain");
	check_text("  spaces  within ", &one, "spaces  within ");
	check_text("{comm} ({pid}) of {service}", &one, "nginx (4711) of web");
	check_text("{change} {small} {wrong}", &one, "-5 7 12");
	check_text("{bytes:bytes}, {pid:bytes}, {wrong:bytes}", &one, "1.5 MiB, 4.6 KiB, 12 bytes");
	check_text("{color}{wide}", &one, "dark redfar off");
	other.bytes = UINT64_MAX;
	other.color = (uint32_t)-1;
	other.wide = 5;
	check_text("{bytes:bytes} {bytes} {color} {wide}", &other,
		   "16.0 EiB 18446744073709551615 below 5");
	other.color = 2;
	check_text("{color}", &other, "2");
}

/* Strings in a record may be hostile. */
static void test_hostile(void)
{
	static const struct {
		char comm[17];
		const char *want;
	} names[] = {
		{ "0123456789abcdef", "0123456789abcdef" }, /* no NUL */
		{ "", "_" },
		{ "<b>$(id)`'\"&\\;|", "_b__(id)_______" },
		{ "a b\nc\td/e\x7f\x1b[", "a_b_c_d_e__[" },
		{ "%s%n{pid}", "%s%n_pid_" },
		{ "\xff\xc3(\xe2\x82", "__(__" },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "123456789012345\xc3", "123456789012345_" },
		{ "..", "_." },
		/* Invisible letters that change the direction of text or end the line. */
		{ "a\xe2\x80\xae(b\xe2\x81\xa6", "a_(b_" },
		{ "\xe2\x80\x8b\xe2\x80\xa8\xef\xbb\xbf\xd8\x9c\xc2\xad", "_____" },
		{ "\xe2\x80\x90\xe2\x80\xa7\xe2\x82\xac\xd8\x9b",
		  "\xe2\x80\x90\xe2\x80\xa7\xe2\x82\xac\xd8\x9b" },
	};

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		struct record record = one;

		memcpy(record.comm, names[i].comm, sizeof(record.comm));
		check_text("{comm}", &record, names[i].want);
	}
}

static void check_cut(const char *service, size_t want)
{
	struct source source = { .event = "okay gauge " X64 X64 X64 "{service}",
				 .label = "service" };
	char text[EVENT_TEXT_MAX];
	struct event event;
	struct error error;
	struct btf *btf;

	CASE("a service of %zu bytes", strlen(service));
	CHECK_INT(open_event(&event, &source, &btf, &error), 1);
	event_text(&event, &one, service, text, sizeof(text));
	CHECK_UINT(strlen(text), want);
	CHECK_INT(strncmp(text + 192, service, want - 192), 0);
	event_done(&event);
	btf__free(btf);
}

static void test_long(void)
{
	check_cut(X16, 208);
	check_cut(X64, EVENT_TEXT_MAX - 1);
	/* A letter of two bytes is not cut in half. */
	check_cut(X16 "0123456789abcd\xc3\xbc", EVENT_TEXT_MAX - 2);
}

/* --- mistakes --- */

#define FINE .label = "service"

static const struct {
	const char *want;
	struct source source;
} mistakes[] = {
	{ "map ring: an EVENT begins with failure, warning or okay", { .event = "" } },
	{ "map ring: an EVENT begins with failure", { .event = "fatal gauge text" } },
	{ "map ring: an EVENT begins with failure",
	  { .event = "failurefailurefailure gauge text" } },
	{ "map ring: the second word of an EVENT is TYPE[-INSTANCE]", { .event = "failure" } },
	{ "map ring: the second word of an EVENT is TYPE[-INSTANCE]",
	  { .event = "okay gauge-a/b text" } },
	{ "map ring: the second word of an EVENT is TYPE[-INSTANCE]",
	  { .event = "okay ps_count:threads text" } },
	{ "map ring: collectd's types.db has no type \"nothing\"",
	  { .event = "okay nothing text" } },
	{ "map ring: the third part of an EVENT is its text", { .event = "okay gauge" } },
	{ "map ring: the third part of an EVENT is its text", { .event = "okay gauge-a  " } },
	{ "map ring: the third part of an EVENT is its text, of 1 to 223 bytes",
	  { .event = "okay gauge " X64 X64 X64 X16 X16 } },
	{ "map ring: the text of an EVENT is of printable ASCII", { .event = "okay gauge a\nb" } },
	{ "map ring: the text of an EVENT is of printable ASCII",
	  { .event = "okay gauge \xc3\xbc" } },
	{ "map ring: the text has {nobody}, but its records have no such member",
	  { .event = "okay gauge of {nobody}" } },
	{ "map ring: the text has {}, but", { .event = "okay gauge {}" } },
	{ "map ring: the text has {pi}, but", { .event = "okay gauge {pi}" } },
	{ "map ring: {pid:hex}: after the colon can only be \"bytes\"",
	  { .event = "okay gauge {pid:hex}" } },
	{ "map ring: {comm:bytes}: after the colon", { .event = "okay gauge {comm:bytes}" } },
	{ "map ring: {change:bytes}: after the colon", { .event = "okay gauge {change:bytes}" } },
	{ "map ring: a brace of the text has no other: \"{pid\"",
	  { .event = "okay gauge a {pid" } },
	{ "map ring: a brace of the text has no other: \"} b\"", { .event = "okay gauge a } b" } },
	{ "map ring: more than 32 members in a text",
	  { .event =
		    "okay gauge {pid}{pid}{pid}{pid}{pid}{pid}{pid}{pid}{pid}{pid}{pid}{pid}{pid}{pid}{pid}"
		    "{pid}{pid}{pid}{pid}{pid}{pid}{pid}{pid}{pid}{pid}{pid}{pid}{pid}{pid}{pid}{pid}{pid}"
		    "{pid}" } },
	{ "map ring: say what struct its records are: __type(value, struct NAME)",
	  { .event = "okay gauge text", .scalar = true } },
	{ "map ring: a record has 1 to 4096 bytes", { .event = "okay gauge text", .size = 4097 } },
	{ "map ring, member service: unknown label \"servce\" (service)",
	  { .event = "okay gauge text", .label = "servce" } },
	{ "map ring: two members have LABEL(\"service\")",
	  { .event = "okay gauge text", FINE, .another = "service" } },
	{ "map ring, member wrong: is neither an integer, nor an enum, nor a string",
	  { .event = "okay gauge {wrong}", .wrong = WRONG_POINTER } },
	{ "map ring, member wrong: is neither an integer",
	  { .event = "okay gauge {wrong}", .wrong = WRONG_STRUCT } },
	{ "map ring, member wrong: only arrays of char",
	  { .event = "okay gauge {wrong}", .wrong = WRONG_WORDS } },
	{ "map ring, member wrong: a string has 1 to 256 bytes",
	  { .event = "okay gauge {wrong}", .wrong = WRONG_LONG } },
	{ "map ring, member wrong: a string has 1 to 256 bytes",
	  { .event = "okay gauge {wrong}", .wrong = WRONG_EMPTY } },
	{ "map ring, member wrong: bit fields cannot be written",
	  { .event = "okay gauge {wrong}", .bits = true } },
	{ "map ring, member wrong: lies outside of the record",
	  { .event = "okay gauge {wrong}", .size = sizeof(struct record) - 4 } },
	{ "map ring, member service: lies outside of the record",
	  { .event = "okay gauge text", FINE, .size = 28 } },
};

static void test_mistakes(void)
{
	for (size_t i = 0; i < COUNT_OF(mistakes); i++) {
		struct event event;
		struct error error;
		struct btf *btf;

		CASE("%s", mistakes[i].source.event);
		CHECK_INT(open_event(&event, &mistakes[i].source, &btf, &error) < 0, 1);
		CHECK_HAS(error.text, mistakes[i].want);
		CHECK_INT(event.parts == NULL, 1);
		btf__free(btf);
	}
}

static void test_tags(void)
{
	struct source source = { .event = NULL, .label = "nonsense" };
	struct event event;
	struct error error;
	struct btf *btf;
	uint32_t type;

	CASE("no tag");
	CHECK_INT(open_event(&event, &source, &btf, &error), 0);
	btf__free(btf);
	CASE("two tags");
	source.event = "okay gauge text";
	btf = make(&source, &type);
	btf__add_decl_tag(btf, "event:okay gauge text", (int)btf__type_cnt(btf) - 3, -1);
	CHECK_INT(event_read(&event, btf, "ring", type, dispatch_type, &error), -EINVAL);
	CHECK_TEXT(error.text, "map ring: two EVENT tags");
	btf__free(btf);
	CASE("no label");
	source.label = NULL;
	CHECK_INT(open_event(&event, &source, &btf, &error), 1);
	CHECK_INT(event_row(&event, &one, &type), false);
	event_done(&event);
	btf__free(btf);
}

int main(void)
{
	test_texts();
	test_hostile();
	test_long();
	test_mistakes();
	test_tags();
	return testing_end();
}
