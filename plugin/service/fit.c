/* SPDX-License-Identifier: MIT */
/*
 * Lines of Service blocks that no process has fitted since the start, as those with a mistake in a
 * name do not. The kernel notes which names and cgroups of theirs it has met, also those of processes
 * that end between two readings; what it cannot compare is noted where it is compared.
 */
#include "fit.h"

#include "cgroup/match.h"
#include "util/message.h"

#include "bpf/lib/service.h"

#include <errno.h>
#include <stdlib.h>

#define TOLD_MAX 5 /* one by one */

static const struct {
	const char *option, *remedy;
} kinds[RULE_KINDS] = {
	[RULE_PROCESS] = { "Process", "ps -e -o comm shows command names" },
	[RULE_MATCH] = { "ProcessMatch", "ps -e -o args shows command lines; one of a process that "
					 "ends before a reading is not seen" },
	[RULE_UNIT] = { "Unit", "systemctl list-units shows the units that there are" },
	[RULE_CONTAINER] = { "Container",
			     "docker ps or podman ps shows names and ids of containers that run" },
	[RULE_CGROUP] = { "Cgroup", "systemd-cgls shows cgroups and their processes" },
	[RULE_PID_FILE] = { "PidFile", "the process that it names does not run" },
};

/* In the order of enum rule_kind. */
static void lists_of(const struct service_config *service, const struct strings *ret[RULE_KINDS])
{
	ret[RULE_PROCESS] = &service->commands;
	ret[RULE_MATCH] = &service->match_texts;
	ret[RULE_UNIT] = &service->units;
	ret[RULE_CONTAINER] = &service->containers;
	ret[RULE_CGROUP] = &service->cgroups;
	ret[RULE_PID_FILE] = &service->pid_files;
}

static size_t count_of(const struct config *config)
{
	const struct strings *lists[RULE_KINDS];
	size_t count = 0;

	for (size_t i = 0; i < config->service_count; i++) {
		lists_of(&config->services[i], lists);
		for (int kind = 0; kind < RULE_KINDS; kind++)
			count += lists[kind]->count;
	}
	return count;
}

static void add(struct fits *fits, const struct service_config *service, uint32_t row)
{
	const struct strings *lists[RULE_KINDS];

	lists_of(service, lists);
	for (int kind = 0; kind < RULE_KINDS; kind++)
		for (size_t i = 0; i < lists[kind]->count; i++)
			fits->item[fits->count++] = (struct fit){
				.service = service,
				.row = row,
				.kind = (enum rule_kind)kind,
				.text = lists[kind]->item[i],
				.pattern = kind == RULE_MATCH ? &service->matches[i] : NULL,
			};
}

int fits_init(struct fits *fits, const struct config *config)
{
	*fits = (struct fits){ .item = calloc(count_of(config) + 1, sizeof(*fits->item)) };
	if (!fits->item)
		return -ENOMEM;
	for (size_t i = 0; i < config->service_count; i++)
		add(fits, &config->services[i], SERVICE_FIRST + (uint32_t)i);
	return 0;
}

uint32_t fits_line(struct fits *fits, const char *line)
{
	uint32_t row = 0;

	for (size_t i = 0; i < fits->count; i++) {
		struct fit *fit = &fits->item[i];

		if (fit->kind != RULE_MATCH || (row && fit->fitted) ||
		    !pattern_match(fit->pattern, line))
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

/* --- what is told --- */

static bool has_fitted(const struct fit *fit, const struct object *object,
		       const struct pid_files *pid_files)
{
	return fit->kind == RULE_PID_FILE ? pid_files_have_fitted(pid_files, fit->text)
					  : rule_has_fitted(object, fit->kind, fit->text);
}

/* Is it told otherwise why it fits none? */
static bool is_explained(const struct fit *fit, const struct pid_files *pid_files,
			 bool knows_groups)
{
	if (fit->kind == RULE_PID_FILE)
		return pid_files_have_told(pid_files, fit->text);
	return fit->kind >= RULE_UNIT && fit->kind <= RULE_CGROUP && !knows_groups;
}

/* Has another line of its block? */
static bool is_alternative(const struct fits *fits, const struct fit *fit)
{
	for (size_t i = 0; i < fits->count; i++)
		if (fits->item[i].service == fit->service && fits->item[i].fitted)
			return true;
	return false;
}

static void tell(const struct fits *fits, struct fit *fit)
{
	fit->told = true;
	message(is_alternative(fits, fit) ? LOG_NOTICE : LOG_WARNING,
		"<Service \"%s\">: no process has fitted %s \"%.200s\" since the start: %s",
		fit->service->name, kinds[fit->kind].option, fit->text, kinds[fit->kind].remedy);
}

static void tell_all(struct fits *fits, const struct pid_files *pid_files)
{
	bool knows_groups = rules_know_groups();
	size_t told = 0, more = 0;

	for (size_t i = 0; i < fits->count; i++) {
		struct fit *fit = &fits->item[i];

		if (fit->fitted || is_explained(fit, pid_files, knows_groups))
			continue;
		if (told == TOLD_MAX) {
			more++;
			continue;
		}
		tell(fits, fit);
		told++;
	}
	if (more)
		message(LOG_WARNING,
			"more lines of Service blocks that no process has fitted since the start: %zu",
			more);
}

static void take_back(struct fit *fit)
{
	fit->told = false;
	message(LOG_NOTICE, "<Service \"%s\">: a process fits %s \"%.200s\" now",
		fit->service->name, kinds[fit->kind].option, fit->text);
}

void fits_tell(struct fits *fits, const struct object *object, const struct pid_files *pid_files)
{
	bool first = fits->readings < FITS_READINGS && ++fits->readings == FITS_READINGS;

	for (size_t i = 0; i < fits->count; i++) {
		struct fit *fit = &fits->item[i];

		if (!fit->fitted && (first || fit->told))
			fit->fitted = has_fitted(fit, object, pid_files);
		if (fit->fitted && fit->told)
			take_back(fit);
	}
	if (first && fits->count)
		tell_all(fits, pid_files);
}

void fits_done(struct fits *fits)
{
	free(fits->item);
	*fits = (struct fits){ 0 };
}
