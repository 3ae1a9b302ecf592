/* SPDX-License-Identifier: MIT */
/*
 * Attach points: uprobe:FILE:SYMBOL, usdt:FILE:PROVIDER:NAME, kprobe:FUNCTION, fentry:FUNCTION,
 * tracepoint:CATEGORY:NAME, perf:EVENT:RATE. A FILE is a path, service:NAME or service:NAME:PATH.
 */
#include "point.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_LENGTH_MAX 4095
#define NAME_LENGTH_MAX 511
#define FREQUENCY_MAX 10000

static const char *const NAMES[] = {
	[POINT_UPROBE] = "uprobe",
	[POINT_URETPROBE] = "uretprobe",
	[POINT_USDT] = "usdt",
	[POINT_KPROBE] = "kprobe",
	[POINT_KRETPROBE] = "kretprobe",
	[POINT_FENTRY] = "fentry",
	[POINT_TRACEPOINT] = "tracepoint",
	[POINT_PERF] = "perf",
};

/* As perf(1) calls them. */
static const struct event {
	const char *name;
	uint32_t type;
	uint64_t config;
} EVENTS[] = {
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS },
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
};

const char *point_kind_name(enum point_kind kind)
{
	return NAMES[kind];
}

/* All of text is a positive number, decimal or with 0x. */
static bool parse_number(const char *text, uint64_t *ret_number)
{
	uint64_t n;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoull(text, &end, text[0] == '0' && text[1] == 'x' ? 16 : 10);
	if (errno || *end)
		return false;
	*ret_number = n;
	return true;
}

static bool is_name(const char *name)
{
	return *name && strlen(name) <= NAME_LENGTH_MAX && !name[strcspn(name, " \t\n/:")];
}

/* FUNCTION or FUNCTION+OFFSET. */
static bool parse_function(char *text, struct point *point)
{
	char *plus = strchr(text, '+');

	if (plus)
		*plus++ = '\0';
	point->name = text;
	return is_name(text) && (!plus || parse_number(plus, &point->offset));
}

/* Of the source, as programs name it: `ns::operator+(int, char)`, `main.(*T).work`. */
static bool is_source_name(const char *name)
{
	size_t length = strlen(name);

	if (length == 0 || length > NAME_LENGTH_MAX || name[0] == ' ' || name[length - 1] == ' ')
		return false;
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
			return false;
	return true;
}

/* The last colon that has no other beside it, as `::` has; NULL: there is none. */
static char *last_colon(char *text)
{
	for (char *at = text + strlen(text); at > text; at--) {
		if (at[-1] != ':')
			continue;
		if (at - 1 > text && at[-2] == ':')
			at--;
		else
			return at - 1;
	}
	return NULL;
}

/* What FILE says, in front of `end`, which separates it from what is looked for in the file. */
static bool set_path(char *path, const char *end, struct point *point)
{
	size_t length = (size_t)(end - path);
	bool is_name = !point->service && length && !memchr(path, '/', length);

	point->path = path;
	return (path[0] == '/' || is_name) && length <= PATH_LENGTH_MAX;
}

/* Takes service:NAME: away from the beginning; *ret_rest is PATH:... or what is looked for. */
static bool take_service(char *text, struct point *point, char **ret_rest)
{
	static const char word[] = "service:";
	size_t length = sizeof(word) - 1;
	char *colon;

	*ret_rest = text;
	if (strncmp(text, word, length) != 0)
		return true;
	colon = strchr(text + length, ':');
	if (!colon || colon == text + length)
		return false;
	*colon = '\0';
	point->service = text + length;
	*ret_rest = colon + 1;
	return true;
}

/* NAME, NAME+OFFSET or OFFSET. */
static bool parse_place(char *text, struct point *point)
{
	char *plus = strrchr(text, '+');

	/* No name begins with a digit. */
	if (*text >= '0' && *text <= '9')
		return parse_number(text, &point->offset);
	point->name = text;
	/* `operator+` is a name, and so is `<dyn A + B>::f`. */
	if (plus && parse_number(plus + 1, &point->offset))
		*plus = '\0';
	else if (plus && plus[1] != ' ' && !strstr(text, "operator"))
		return false;
	return is_source_name(text);
}

/* Of PATH:NAME the last colon counts that stands alone: a path may have some, and a name `::`. */
static bool parse_file(char *text, struct point *point)
{
	char *colon;

	if (!take_service(text, point, &text))
		return false;
	if (point->service && text[0] != '/')
		return parse_place(text, point) && !last_colon(text);
	colon = last_colon(text);
	if (!colon || !set_path(text, colon, point))
		return false;
	*colon = '\0';
	return parse_place(colon + 1, point);
}

/* Of PATH:PROVIDER:NAME the last two colons count. */
static bool parse_marker(char *text, struct point *point)
{
	char *last, *colon;

	if (!take_service(text, point, &text))
		return false;
	last = strrchr(text, ':');
	if (!last || !is_name(last + 1))
		return false;
	*last = '\0';
	colon = strrchr(text, ':');
	if (point->service && text[0] != '/' && !colon)
		point->name = text;
	else if (colon && set_path(text, colon, point))
		point->name = colon + 1;
	else
		return false;
	if (colon)
		*colon = '\0';
	if (!is_name(point->name))
		return false;
	*last = ':';
	return strlen(point->name) <= NAME_LENGTH_MAX;
}

static bool parse_tracepoint(char *text, struct point *point)
{
	char *colon = strchr(text, ':');

	if (!colon)
		return false;
	*colon++ = '\0';
	point->category = text;
	point->name = colon;
	return is_name(text) && is_name(colon);
}

static bool parse_rate(const char *text, struct point *point)
{
	uint64_t frequency;

	if (!strncmp(text, "period=", 7))
		return parse_number(text + 7, &point->period) && point->period;
	if (strncmp(text, "frequency=", 10) != 0 || !parse_number(text + 10, &frequency) ||
	    frequency < 1 || frequency > FREQUENCY_MAX)
		return false;
	point->frequency = (uint32_t)frequency;
	return true;
}

static bool parse_perf(char *text, struct point *point)
{
	char *colon = strchr(text, ':');

	if (!colon)
		return false;
	*colon++ = '\0';
	for (size_t i = 0; i < sizeof(EVENTS) / sizeof(*EVENTS); i++) {
		if (strcmp(EVENTS[i].name, text) != 0)
			continue;
		point->name = text;
		point->perf_type = EVENTS[i].type;
		point->perf_config = EVENTS[i].config;
		return parse_rate(colon, point);
	}
	return false;
}

static bool parse(char *text, struct point *point)
{
	switch (point->kind) {
	case POINT_UPROBE:
	case POINT_URETPROBE:
		return parse_file(text, point);
	case POINT_USDT:
		return parse_marker(text, point);
	case POINT_KPROBE:
		return parse_function(text, point);
	case POINT_KRETPROBE:
	case POINT_FENTRY:
		return parse_function(text, point) && !point->offset;
	case POINT_TRACEPOINT:
		return parse_tracepoint(text, point);
	default:
		return parse_perf(text, point);
	}
}

static const char *form_of(enum point_kind kind)
{
	switch (kind) {
	case POINT_UPROBE:
	case POINT_URETPROBE:
		return "FILE:FUNCTION, FILE:FUNCTION+OFFSET or FILE:OFFSET, where FILE is an absolute "
		       "path, the name of a library or program, service:NAME or service:NAME:/PATH";
	case POINT_USDT:
		return "FILE:PROVIDER:NAME, where FILE is an absolute path, the name of a library or "
		       "program, service:NAME or service:NAME:/PATH";
	case POINT_KPROBE:
		return "FUNCTION or FUNCTION+OFFSET";
	case POINT_KRETPROBE:
	case POINT_FENTRY:
		return "FUNCTION";
	case POINT_TRACEPOINT:
		return "CATEGORY:NAME";
	default:
		return "EVENT:frequency=HZ, of 1 to 10000, or EVENT:period=EVENTS; "
		       "collectd-ebpf(5) lists the events";
	}
}

/* POINT_KINDS: none. */
static enum point_kind kind_of(const char *text)
{
	size_t length = strcspn(text, ":");
	enum point_kind kind = 0;

	while (kind < POINT_KINDS && (text[length] != ':' || strlen(NAMES[kind]) != length ||
				      strncmp(NAMES[kind], text, length) != 0))
		kind++;
	return kind;
}

bool point_parse(const char *text, struct point *ret_point, char *why, size_t size)
{
	struct point point = { .kind = kind_of(text) };
	char *rest;

	if (point.kind == POINT_KINDS || strlen(text) > POINT_TEXT_MAX) {
		snprintf(why, size,
			 "it takes uprobe:, uretprobe:, usdt:, kprobe:, kretprobe:, fentry:, "
			 "tracepoint: or perf: and what to attach to");
		return false;
	}
	rest = strdup(strchr(text, ':') + 1);
	if (!rest) {
		snprintf(why, size, "there is no memory for it");
		return false;
	}
	if (!parse(rest, &point)) {
		snprintf(why, size, "behind %s: it takes %s", NAMES[point.kind],
			 form_of(point.kind));
		free(rest);
		return false;
	}
	point.text = rest;
	*ret_point = point;
	return true;
}

void point_done(struct point *point)
{
	free(point->text);
	*point = (struct point){ 0 };
}
