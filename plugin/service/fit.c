/* SPDX-License-Identifier: MIT */
/*
 * Lines of Service blocks that have fitted no process since the start: a mistyped name, for example. The
 * kernel notes which names and cgroups it has seen, so processes that exit between two readings count, too;
 * what the kernel cannot compare is noted where it is compared.
 */
#include "fit.h"

#include "cgroup/match.h"
#include "util/message.h"

#include "bpf/lib/services/service.h"

#include <errno.h>
#include <stdlib.h>

#define LOGGED_MAX 5 /* lines; the others are only counted */

static const struct {
	const char *option, *remedy;
} fit_kinds[RULE_KINDS] = {
	[RULE_PROCESS] = { "Process", "ps -e -o comm shows command names" },
	[RULE_MATCH] = { "ProcessMatch", "ps -e -o args shows command lines; one of a process that "
					 "ends before a reading is not seen" },
	[RULE_UNIT] = { "Unit", "systemctl list-units shows the units that there are; those of "
				"connections and of systemd-run fit by the name that they share, "
				"such as \"sshd\" or \"run\"" },
	[RULE_CONTAINER] = { "Container",
			     "docker ps or podman ps shows names and ids of containers that run" },
	[RULE_CGROUP] = { "Cgroup", "systemd-cgls shows cgroups and their processes" },
	[RULE_PID_FILE] = { "PidFile", "the process that it names does not run" },
};

/* In the order of enum rule_kind. */
static void rule_lists(const struct service_config *service, const struct strings *ret[RULE_KINDS])
{
	ret[RULE_PROCESS] = &service->commands;
	ret[RULE_MATCH] = &service->match_texts;
	ret[RULE_UNIT] = &service->units;
	ret[RULE_CONTAINER] = &service->containers;
	ret[RULE_CGROUP] = &service->cgroups;
	ret[RULE_PID_FILE] = &service->pid_files;
}

static size_t count_fits(const struct config *config)
{
	const struct strings *lists[RULE_KINDS];
	size_t count = 0;

	for (size_t i = 0; i < config->service_count; i++) {
		rule_lists(&config->services[i], lists);
		for (int kind = 0; kind < RULE_KINDS; kind++)
			count += lists[kind]->count;
	}
	return count;
}

static void add_service_fits(struct fits *fits, const struct service_config *service, uint32_t row)
{
	const struct strings *lists[RULE_KINDS];

	rule_lists(service, lists);
	for (int kind = 0; kind < RULE_KINDS; kind++)
		for (size_t i = 0; i < lists[kind]->count; i++)
			fits->item[fits->count++] = (struct fit){
				.service = service,
				.row = row,
				.kind = (enum rule_kind)kind,
				.text = lists[kind]->item[i],
				.regex = kind == RULE_MATCH ? &service->matches[i] : NULL,
			};
}

int fits_init(struct fits *fits, const struct config *config)
{
	*fits = (struct fits){ .item = calloc(count_fits(config) + 1, sizeof(*fits->item)) };
	if (!fits->item)
		return -ENOMEM;
	for (size_t i = 0; i < config->service_count; i++)
		add_service_fits(fits, &config->services[i], SERVICE_FIRST + (uint32_t)i);
	return 0;
}

uint32_t fits_line(struct fits *fits, const char *line)
{
	uint32_t row = 0;

	for (size_t i = 0; i < fits->count; i++) {
		struct fit *fit = &fits->item[i];

		if (fit->kind != RULE_MATCH || (row && fit->fitted) ||
		    !regex_match(fit->regex, line))
			continue;
		fit->fitted = true;
		row = row ?: fit->row;
	}
	return row;
}

void fits_group(struct fits *fits, const struct group_key *key,
		const struct group_description *description)
{
	enum rule_kind kind = group_is_unit(key) ? RULE_UNIT : RULE_CONTAINER;

	for (size_t i = 0; i < fits->count; i++) {
		struct fit *fit = &fits->item[i];

		if (fit->kind == kind && !fit->fitted)
			fit->fitted = group_option_fits(fit->text, key, description);
	}
}

/* --- messages --- */

static bool fit_has_fitted(const struct fit *fit, const struct object *object,
			   const struct pid_files *pid_files)
{
	return fit->kind == RULE_PID_FILE ? pid_files_have_fitted(pid_files, fit->text)
					  : rule_has_fitted(object, fit->kind, fit->text);
}

/* Does another message say why the line fits no process? */
static bool fit_is_explained(const struct fit *fit, const struct pid_files *pid_files,
			     bool knows_groups)
{
	if (fit->kind == RULE_PID_FILE)
		return pid_files_have_logged(pid_files, fit->text);
	return fit->kind >= RULE_UNIT && fit->kind <= RULE_CGROUP && !knows_groups;
}

/* Has another line of the same block fitted a process? */
static bool has_fitted_sibling(const struct fits *fits, const struct fit *fit)
{
	for (size_t i = 0; i < fits->count; i++)
		if (fits->item[i].service == fit->service && fits->item[i].fitted)
			return true;
	return false;
}

static void log_unfitted(const struct fits *fits, struct fit *fit)
{
	fit->logged = true;
	message(has_fitted_sibling(fits, fit) ? LOG_NOTICE : LOG_WARNING,
		"<Service \"%s\">: no process has fitted %s \"%.200s\" since the start: %s",
		fit->service->name, fit_kinds[fit->kind].option, fit->text,
		fit_kinds[fit->kind].remedy);
}

static void log_all_unfitted(struct fits *fits, const struct pid_files *pid_files)
{
	bool knows_groups = rules_know_groups();
	size_t logged = 0, more = 0;

	for (size_t i = 0; i < fits->count; i++) {
		struct fit *fit = &fits->item[i];

		if (fit->fitted || fit_is_explained(fit, pid_files, knows_groups))
			continue;
		if (logged == LOGGED_MAX) {
			more++;
			continue;
		}
		log_unfitted(fits, fit);
		logged++;
	}
	if (more)
		message(LOG_WARNING,
			"more lines of Service blocks that no process has fitted since the start: %zu",
			more);
}

static void log_late_fit(struct fit *fit)
{
	fit->logged = false;
	message(LOG_NOTICE, "<Service \"%s\">: a process fits %s \"%.200s\" now",
		fit->service->name, fit_kinds[fit->kind].option, fit->text);
}

void fits_log(struct fits *fits, const struct object *object, const struct pid_files *pid_files)
{
	bool first = fits->readings < FITS_READINGS && ++fits->readings == FITS_READINGS;

	for (size_t i = 0; i < fits->count; i++) {
		struct fit *fit = &fits->item[i];

		if (!fit->fitted && (first || fit->logged))
			fit->fitted = fit_has_fitted(fit, object, pid_files);
		if (fit->fitted && fit->logged)
			log_late_fit(fit);
	}
	if (first && fits->count)
		log_all_unfitted(fits, pid_files);
}

void fits_done(struct fits *fits)
{
	free(fits->item);
	*fits = (struct fits){ 0 };
}
