/* SPDX-License-Identifier: MIT */
/*
 * Parses hooks: uprobe:FILE:SYMBOL, usdt:FILE:PROVIDER:NAME, kprobe:FUNCTION, fentry:FUNCTION,
 * tracepoint:CATEGORY:NAME, perf:EVENT:RATE. A FILE is a path, service:NAME or service:NAME:PATH.
 */
#include "hook.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOOK_PATH_MAX 4095
#define HOOK_NAME_MAX 511
#define HOOK_FREQUENCY_MAX 10000

static const char *const hook_kind_names[] = {
	[HOOK_UPROBE] = "uprobe",         [HOOK_URETPROBE] = "uretprobe", [HOOK_USDT] = "usdt",
	[HOOK_KPROBE] = "kprobe",         [HOOK_KRETPROBE] = "kretprobe", [HOOK_FENTRY] = "fentry",
	[HOOK_TRACEPOINT] = "tracepoint", [HOOK_PERF] = "perf",
};

/* By the names of perf(1). */
static const struct perf_event_name {
	const char *name;
	uint32_t type;
	uint64_t config;
} perf_events[] = {
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

const char *hook_kind_name(enum hook_kind kind)
{
	return hook_kind_names[kind];
}

/* Parses a text that is one number, decimal or with 0x. */
static bool parse_hook_number(const char *text, uint64_t *ret_number)
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

static bool is_hook_name(const char *name)
{
	return *name && strlen(name) <= HOOK_NAME_MAX && !name[strcspn(name, " \t\n/:")];
}

/* FUNCTION or FUNCTION+OFFSET. */
static bool parse_kernel_function(char *text, struct hook *hook)
{
	char *plus = strchr(text, '+');

	if (plus)
		*plus++ = '\0';
	hook->name = text;
	return is_hook_name(text) && (!plus || parse_hook_number(plus, &hook->offset));
}

/* Is it a name as in the source: `ns::operator+(int, char)`, `main.(*T).work`? */
static bool is_source_name(const char *name)
{
	size_t length = strlen(name);

	if (length == 0 || length > HOOK_NAME_MAX || name[0] == ' ' || name[length - 1] == ' ')
		return false;
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
			return false;
	return true;
}

/* The last colon that is not part of `::`; NULL: there is none. */
static char *find_last_colon(char *text)
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

/* Sets the path, which ends before `end`. */
static bool set_hook_path(char *path, const char *end, struct hook *hook)
{
	size_t length = (size_t)(end - path);
	bool is_hook_name = !hook->service && length && !memchr(path, '/', length);

	hook->path = path;
	return (path[0] == '/' || is_hook_name) && length <= HOOK_PATH_MAX;
}

/* Parses a leading service:NAME:, if any; *ret_remaining is what follows. */
static bool parse_hook_service(char *text, struct hook *hook, char **ret_remaining)
{
	static const char word[] = "service:";
	size_t length = sizeof(word) - 1;
	char *colon;

	*ret_remaining = text;
	if (strncmp(text, word, length) != 0)
		return true;
	colon = strchr(text + length, ':');
	if (!colon || colon == text + length)
		return false;
	*colon = '\0';
	hook->service = text + length;
	*ret_remaining = colon + 1;
	return true;
}

/* NAME, NAME+OFFSET or OFFSET. */
static bool parse_file_location(char *text, struct hook *hook)
{
	char *plus = strrchr(text, '+');

	/* Names do not start with a digit. */
	if (*text >= '0' && *text <= '9')
		return parse_hook_number(text, &hook->offset);
	hook->name = text;
	/* `operator+` is a name, and so is `<dyn A + B>::f`. */
	if (plus && parse_hook_number(plus + 1, &hook->offset))
		*plus = '\0';
	else if (plus && plus[1] != ' ' && !strstr(text, "operator"))
		return false;
	return is_source_name(text);
}

/* Splits PATH:NAME at the last single colon: a path may contain colons, and a name `::`. */
static bool parse_file_hook(char *text, struct hook *hook)
{
	char *colon;

	if (!parse_hook_service(text, hook, &text))
		return false;
	if (hook->service && text[0] != '/')
		return parse_file_location(text, hook) && !find_last_colon(text);
	colon = find_last_colon(text);
	if (!colon || !set_hook_path(text, colon, hook))
		return false;
	*colon = '\0';
	return parse_file_location(colon + 1, hook);
}

/* Splits PATH:PROVIDER:NAME at the last two colons. */
static bool parse_usdt_hook(char *text, struct hook *hook)
{
	char *last, *colon;

	if (!parse_hook_service(text, hook, &text))
		return false;
	last = strrchr(text, ':');
	if (!last || !is_hook_name(last + 1))
		return false;
	*last = '\0';
	colon = strrchr(text, ':');
	if (hook->service && text[0] != '/' && !colon)
		hook->name = text;
	else if (colon && set_hook_path(text, colon, hook))
		hook->name = colon + 1;
	else
		return false;
	if (colon)
		*colon = '\0';
	if (!is_hook_name(hook->name))
		return false;
	*last = ':';
	return strlen(hook->name) <= HOOK_NAME_MAX;
}

static bool parse_tracepoint_hook(char *text, struct hook *hook)
{
	char *colon = strchr(text, ':');

	if (!colon)
		return false;
	*colon++ = '\0';
	hook->category = text;
	hook->name = colon;
	return is_hook_name(text) && is_hook_name(colon);
}

static bool parse_perf_rate(const char *text, struct hook *hook)
{
	uint64_t frequency;

	if (!strncmp(text, "period=", 7))
		return parse_hook_number(text + 7, &hook->period) && hook->period;
	if (strncmp(text, "frequency=", 10) != 0 || !parse_hook_number(text + 10, &frequency) ||
	    frequency < 1 || frequency > HOOK_FREQUENCY_MAX)
		return false;
	hook->frequency = (uint32_t)frequency;
	return true;
}

static bool parse_perf_hook(char *text, struct hook *hook)
{
	char *colon = strchr(text, ':');

	if (!colon)
		return false;
	*colon++ = '\0';
	for (size_t i = 0; i < sizeof(perf_events) / sizeof(*perf_events); i++) {
		if (strcmp(perf_events[i].name, text) != 0)
			continue;
		hook->name = text;
		hook->perf_type = perf_events[i].type;
		hook->perf_config = perf_events[i].config;
		return parse_perf_rate(colon, hook);
	}
	return false;
}

static bool parse_hook(char *text, struct hook *hook)
{
	switch (hook->kind) {
	case HOOK_UPROBE:
	case HOOK_URETPROBE:
		return parse_file_hook(text, hook);
	case HOOK_USDT:
		return parse_usdt_hook(text, hook);
	case HOOK_KPROBE:
		return parse_kernel_function(text, hook);
	case HOOK_KRETPROBE:
	case HOOK_FENTRY:
		return parse_kernel_function(text, hook) && !hook->offset;
	case HOOK_TRACEPOINT:
		return parse_tracepoint_hook(text, hook);
	default:
		return parse_perf_hook(text, hook);
	}
}

static const char *describe_hook_form(enum hook_kind kind)
{
	switch (kind) {
	case HOOK_UPROBE:
	case HOOK_URETPROBE:
		return "FILE:FUNCTION, FILE:FUNCTION+OFFSET or FILE:OFFSET, where FILE is an absolute "
		       "path, the name of a library or program, service:NAME or service:NAME:/PATH";
	case HOOK_USDT:
		return "FILE:PROVIDER:NAME, where FILE is an absolute path, the name of a library or "
		       "program, service:NAME or service:NAME:/PATH";
	case HOOK_KPROBE:
		return "FUNCTION or FUNCTION+OFFSET";
	case HOOK_KRETPROBE:
	case HOOK_FENTRY:
		return "FUNCTION";
	case HOOK_TRACEPOINT:
		return "CATEGORY:NAME";
	default:
		return "EVENT:frequency=HZ, of 1 to 10000, or EVENT:period=EVENTS; "
		       "collectd-ebpf-objects(7) lists the events";
	}
}

/* HOOK_KINDS: unknown. */
static enum hook_kind parse_hook_kind(const char *text)
{
	size_t length = strcspn(text, ":");
	enum hook_kind kind = 0;

	while (kind < HOOK_KINDS &&
	       (text[length] != ':' || strlen(hook_kind_names[kind]) != length ||
		strncmp(hook_kind_names[kind], text, length) != 0))
		kind++;
	return kind;
}

bool hook_parse(const char *text, struct hook *ret_hook, char *why, size_t size)
{
	struct hook hook = { .kind = parse_hook_kind(text) };
	char *remaining;

	if (hook.kind == HOOK_KINDS || strlen(text) > HOOK_TEXT_MAX) {
		snprintf(why, size,
			 "it takes uprobe:, uretprobe:, usdt:, kprobe:, kretprobe:, fentry:, "
			 "tracepoint: or perf: and what to attach to");
		return false;
	}
	remaining = strdup(strchr(text, ':') + 1);
	if (!remaining) {
		snprintf(why, size, "out of memory");
		return false;
	}
	if (!parse_hook(remaining, &hook)) {
		snprintf(why, size, "after %s: it takes %s", hook_kind_names[hook.kind],
			 describe_hook_form(hook.kind));
		free(remaining);
		return false;
	}
	hook.text = remaining;
	*ret_hook = hook;
	return true;
}

void hook_done(struct hook *hook)
{
	free(hook->text);
	*hook = (struct hook){ 0 };
}
