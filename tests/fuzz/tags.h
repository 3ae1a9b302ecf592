/* SPDX-License-Identifier: MIT */
#ifndef TAGS_H
#define TAGS_H

#include "choices.h"

/* Makes tags of an object by choices. */

static inline void make_metric(struct choices *choices, char *text, size_t size)
{
	static const char *const metrics[] = {
		"gauge",           "derive",
		"latency-a",       "latency-b",
		"counter",         "absolute",
		"ps_cputime:user", "ps_cputime:syst",
		"gauge-a:value",   "ps_count-x:threads",
		"gauge-average",   "ps_count-x:processes",
		"nine:a",          "nothing",
		"gauge:idle",      "bucket-latency-a-0_16",
	};
	static const char *const words[] = {
		"rate",      "rank",    "frequency", "active=5", "scale=1/1000",
		"per=b",     "per=c",   "scale=0/1", "per=",     "scale=18446744073709551615/1",
		"rate rank", "active=", "tail=b",    "tail=e",   "tail=",
	};
	unsigned metric = choose(choices, COUNT_OF(metrics) + 1);

	snprintf(text, size, "metric:%s", metric < COUNT_OF(metrics) ? metrics[metric] : "");
	if (metric == COUNT_OF(metrics))
		add_bytes(choices, text, size);
	add_words(choices, text, size, words, COUNT_OF(words));
}

static inline void make_label(struct choices *choices, char *text, size_t size)
{
	static const char *const words[] = { "service", "cpu",    "device", "interface", "syscall",
					     "errno",   "signal", "string", "enum",      "moon",
					     "cgroup",  "ksym",   "number", "hex" };

	snprintf(text, size, "label:%s", words[choose(choices, COUNT_OF(words))]);
}

static inline void make_subject(struct choices *choices, char *text, size_t size)
{
	static const char *const words[] = {
		"service",      "probe",   "process", "key",      "cpu",
		"label=signal", "sharded", "via=a",   "owners=b", "via=a owners=b service"
	};

	snprintf(text, size, "subject:");
	add_words(choices, text, size, words, COUNT_OF(words));
}

static inline void make_file(struct choices *choices, char *text, size_t size)
{
	static const char *const paths[] = { "/proc/stat",    "/sys/block/*/stat", "cgroup:io.stat",
					     "/proc/../stat", "/proc/self/stat",   "cgroup:a/b" };
	static const char *const words[] = {
		"keys",   "pairs",    "lines", "header", "cells",
		"skip=1", "only=cpu", "only=", "skip=x", "keys lines"
	};
	unsigned path = choose(choices, COUNT_OF(paths) + 1);

	snprintf(text, size, "file:%s", path < COUNT_OF(paths) ? paths[path] : "");
	if (path == COUNT_OF(paths))
		add_bytes(choices, text, size);
	add_words(choices, text, size, words, COUNT_OF(words));
}

static inline void make_field(struct choices *choices, char *text, size_t size)
{
	static const char *const words[] = { "1",          "2",          "*",       "cpu 3",
					     "total",      "some total", "0",       "65536",
					     "decimals=2", "base=16",    "base=10", "decimals=10" };

	snprintf(text, size, "field:%s", words[choose(choices, COUNT_OF(words))]);
	add_words(choices, text, size, words, COUNT_OF(words));
}

static inline void make_event(struct choices *choices, char *text, size_t size)
{
	static const char *const heads[] = { "failure gauge-a ", "warning total_events ", "okay ",
					     "failure ps_count:threads " };
	static const char *const parts[] = { "{a}", "{b} of", "{c:bytes}", "{a:bytes}", "{d",
					     "}",   "{e:",    "{nobody}",  "{d}",       "{e}" };
	unsigned head = choose(choices, COUNT_OF(heads) + 1);

	snprintf(text, size, "event:%s", head < COUNT_OF(heads) ? heads[head] : "");
	if (head == COUNT_OF(heads))
		add_bytes(choices, text, size);
	add_words(choices, text, size, parts, COUNT_OF(parts));
}

#endif
