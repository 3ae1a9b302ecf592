/* SPDX-License-Identifier: MIT */
/*
 * Which hook set and which options a probe is opened with. An option that fails costs the option
 * and not the probe. Which one fails is found by trying, since a program may fail for what an
 * option's variable switches on in it, and the kernel's words name no option.
 */
#include "trial.h"

#include <errno.h>
#include <stdlib.h>

/* The last failure with each hook set, and with each option of the hook set that is tried. */
struct failures {
	struct error of_hook_set[CONFIG_HOOK_SETS_MAX + 1];
	struct error of_option[OBJECT_OPTIONS_MAX];
	uint32_t options; /* those that failed, as bits */
};

static uint32_t all_options(const struct trial *trial)
{
	return (uint32_t)((1ULL << trial->options->count) - 1);
}

static uint32_t needed_options(const struct trial *trial, unsigned hook_set)
{
	uint32_t needed = 0;

	for (size_t i = 0; i < trial->options->count; i++)
		needed |= (trial->options->needed_by[i] >> hook_set & 1) << i;
	return needed;
}

/* Opens with the options without which the hook set has no program, then with one more at a time.
 * What the engine refuses without the others, as that nothing is left to read, may be all right
 * with them. */
static int open_with_some(struct trial *trial, unsigned hook_set, struct failures *failures,
			  struct error *error)
{
	uint32_t options = needed_options(trial, hook_set);
	int status = trial->open(trial, hook_set, options, error);

	failures->options = 0;
	if (status && trial->refused)
		return status;
	for (size_t i = 0; i < trial->options->count; i++) {
		uint32_t option = 1U << i;

		if (options & option)
			continue;
		if (status == 0)
			trial->close(trial);
		status = trial->open(trial, hook_set, options | option, &failures->of_option[i]);
		if (status)
			failures->options |= option;
		else
			options |= option;
	}
	return status ? trial->open(trial, hook_set, options, error) : 0;
}

/* Hook sets after one that fails without the kernel would fail alike. ret_last: the last one that
 * was tried. */
static int try_hook_sets(struct trial *trial, bool with_all, struct failures *failures,
			 unsigned *ret_last, struct error *error)
{
	int status = -ENOENT;

	for (unsigned hook_set = 0; hook_set <= CONFIG_HOOK_SETS_MAX; hook_set++) {
		if (!(trial->hook_sets >> hook_set & 1))
			continue;
		*ret_last = hook_set;
		status = with_all ? trial->open(trial, hook_set, all_options(trial), error)
				  : open_with_some(trial, hook_set, failures, error);
		if (status == 0 || !trial->refused)
			break;
		failures->of_hook_set[hook_set] = *error;
	}
	return status;
}

static void log_hook_sets(const struct trial *trial, struct failures *failures, unsigned last)
{
	for (unsigned hook_set = 0; hook_set < last; hook_set++) {
		struct error *why = &failures->of_hook_set[hook_set];

		if (!(trial->hook_sets >> hook_set & 1))
			continue;
		cause_log_once(trial->logged, why, "hook set %u of probe %s", hook_set,
			       trial->probe);
		message(LOG_NOTICE, "probe %s: hook set %u is unavailable, trying the next: %s",
			trial->probe, hook_set, why->text);
	}
}

static void log_options(const struct trial *trial, struct failures *failures)
{
	for (size_t i = 0; i < trial->options->count; i++) {
		struct error *why = &failures->of_option[i];
		const char *name = trial->options->name[i];

		if (!(failures->options >> i & 1))
			continue;
		cause_log_once(trial->logged, why, "Option \"%s\" of probe %s", name, trial->probe);
		message(LOG_ERR, "probe %s: ignoring Option \"%s\": %s", trial->probe, name,
			why->text);
	}
}

int trial_run(struct trial *trial, struct error *error)
{
	struct failures *failures = calloc(1, sizeof(*failures));
	struct error without; /* its words are about less than what is configured */
	unsigned last = 0;
	bool refused;
	int status;

	if (!failures)
		return error_set(error, -ENOMEM, "no memory");
	status = try_hook_sets(trial, true, failures, &last, error);
	refused = trial->refused;
	if (status && trial->options->count) {
		status = try_hook_sets(trial, false, failures, &last, &without) ? status : 0;
		trial->refused = refused;
	}
	log_hook_sets(trial, failures, last);
	if (status == 0)
		log_options(trial, failures);
	free(failures);
	return status;
}
