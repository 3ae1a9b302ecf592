/* SPDX-License-Identifier: MIT */
/*
 * Errors of libbpf and the kernel: what was tried, what they say, and the cause. libbpf prints through a
 * process-wide function: between diagnosis_begin() and diagnosis_end() it is ours, which keeps
 * libbpf's first message, as that names the program or hook, and the verifier's verdict. One thread
 * loads and attaches: the one that starts the plugin, and after that upkeep.
 */
#include "diagnosis.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char words[256], verdict[256];
static libbpf_print_fn_t print_before;

/* The verifier's log ends with the verdict and statistics. */
static void keep_verdict(char *log)
{
	char *saved = NULL;

	for (char *line = strtok_r(log, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved))
		if (strncmp(line, "libbpf: ", 8) != 0 && strncmp(line, "-- END", 6) != 0 &&
		    strncmp(line, "processed ", 10) != 0)
			snprintf(verdict, sizeof(verdict), "%s", line);
}

__attribute__((format(printf, 2, 0))) static int keep_words(enum libbpf_print_level level,
							    const char *format, va_list args)
{
	char *text = NULL;

	/* Messages that mislead or say nothing new: a guess at RLIMIT_MEMLOCK where the right to
	 * load anything is missing; a map that is created at the second attempt; and that an object
	 * was not loaded. */
	if (level != LIBBPF_WARN || strstr(format, "RLIMIT_MEMLOCK") ||
	    strstr(format, "failed to load object") || strstr(format, "Retrying without BTF"))
		return 0;
	if (strstr(format, "PROG LOAD LOG")) {
		if (!verdict[0] && vasprintf(&text, format, args) >= 0) {
			keep_verdict(text);
			free(text);
		}
	} else if (!words[0]) {
		vsnprintf(words, sizeof(words), format, args);
		words[strcspn(words, "\n")] = '\0';
	}
	return 0;
}

void diagnosis_begin(void)
{
	words[0] = verdict[0] = '\0';
	print_before = libbpf_set_print(keep_words);
}

void diagnosis_end(void)
{
	libbpf_set_print(print_before);
}

static enum hook_kind kind_of_section(const char *section)
{
	static const struct {
		const char *prefix;
		enum hook_kind kind;
	} kinds[] = {
		{ "tracepoint/", HOOK_TRACEPOINT }, { "tp/", HOOK_TRACEPOINT },
		{ "kprobe/", HOOK_KPROBE },         { "kretprobe/", HOOK_KRETPROBE },
		{ "ksyscall/", HOOK_KPROBE },       { "kretsyscall/", HOOK_KRETPROBE },
		{ "perf_event", HOOK_PERF },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strncmp(section, kinds[i].prefix, strlen(kinds[i].prefix)))
			return kinds[i].kind;
	return HOOK_KINDS;
}

static void find_cause(const struct failure *failure, char cause[CAUSE_MAX])
{
	struct machine machine;

	machine_read(&machine);
	cause_find(failure, &machine, cause);
}

int diagnosis_error(enum failed_step step, const char *with, int code, struct error *error)
{
	static const struct {
		const char *verb, *object;
	} what[] = {
		[FAILED_OPEN] = { "open ", " as a BPF object" },
		[FAILED_LOAD] = { "load", " into the kernel" },
		[FAILED_ATTACH] = { "attach to ", "" },
	};
	bool is_attach = step == FAILED_ATTACH;
	const struct failure failure = {
		.step = step,
		.code = code,
		.kind = is_attach ? kind_of_section(with) : HOOK_KINDS,
		.words = words,
		.verdict = verdict,
	};
	/* For a hook that is named, and for a missing right, libbpf's words add nothing to the
	 * error. */
	const char *said = is_attach || code == -EPERM ? "" : words;
	char why[128] = "", cause[CAUSE_MAX];

	find_cause(&failure, cause);
	libbpf_strerror(code, why, sizeof(why));
	return error_set(error, code, "cannot %s%s%s: %s%s%s%s%s%s; %s", what[step].verb, with,
			 what[step].object, why, said[0] ? " (" : "", said, verdict[0] ? ": " : "",
			 verdict, said[0] ? ")" : "", cause);
}

int diagnosis_of_kind(enum hook_kind kind, int code, struct error *error)
{
	const struct failure failure = {
		.step = FAILED_ATTACH,
		.code = code,
		.kind = kind,
		.is_configured = true,
		.words = "",
		.verdict = "",
	};
	char cause[CAUSE_MAX];

	find_cause(&failure, cause);
	return error_set(error, code, "%s", cause);
}

int diagnosis_of_hook(const struct hook *hook, int code, struct error *error)
{
	char offset[32] = "";
	struct error cause;

	diagnosis_of_kind(hook->kind, code, &cause);
	if (cause_is_of_machine(cause.text))
		return error_set(error, code, "%s", cause.text);
	if (hook->offset)
		snprintf(offset, sizeof(offset), "+%#" PRIx64, hook->offset);
	return error_set(error, code, "cannot attach to %s%s%s%s: %.700s", hook->category ?: "",
			 hook->category ? ":" : "", hook->name, offset, cause.text);
}
