/* SPDX-License-Identifier: MIT */
/*
 * The <Plugin ebpf> block, from text in collectd's syntax, and all that is made of it before an
 * object is loaded.
 */
#include "fuzz.h"

#include "tests/unit/fake/oconfig.h"

#include "plugin/config/config.h"
#include "plugin/util/message.h"

static unsigned errors;

static void count(int severity, const char *text)
{
	errors += severity == LOG_ERR;
	FUZZ_WANT(text[0]);
}

static void check_strings(const struct strings *list)
{
	for (size_t i = 0; i < list->count; i++)
		FUZZ_WANT(list->item[i][0]);
}

static void check_service(const struct service_config *s)
{
	FUZZ_WANT(s->name[0] && strlen(s->name) < sizeof(s->name));
	FUZZ_WANT(s->commands.count + s->match_count + s->cgroups.count + s->pid_files.count +
		  s->units.count + s->containers.count);
	FUZZ_WANT(s->top_n >= 1 && s->top_n <= 1000);
	check_strings(&s->commands);
	check_strings(&s->cgroups);
	check_strings(&s->units);
	check_strings(&s->containers);
	check_strings(&s->pid_files);
	for (size_t i = 0; i < s->match_count; i++)
		regex_match(&s->matches[i], "/usr/bin/some command --line");
}

static void check_responses(const struct config *config, const struct response_rules *rules)
{
	FUZZ_WANT(rules->count <= RESPONSE_RULES_MAX);
	FUZZ_WANT(rules->count == 0 || config->classes.count >= 1);
	for (uint32_t i = 0; i < rules->count; i++) {
		const struct response_rule *rule = &rules->rule[i];
		bool known = false;

		FUZZ_WANT(rule->length >= 1 && rule->length <= RESPONSE_BYTES_MAX);
		FUZZ_WANT(memchr(rule->class_name, '\0', sizeof(rule->class_name)));
		for (size_t j = 0; j < RESPONSE_WORDS; j++)
			FUZZ_WANT(!(rule->bytes[j] & ~rule->mask[j]));
		for (size_t j = 0; j < config->classes.count; j++)
			known |= !strcmp(config->classes.item[j], rule->class_name);
		FUZZ_WANT(known);
	}
}

static void check_attach(const struct attach_config *attach)
{
	const struct hook *hook = &attach->hook;

	FUZZ_WANT(attach->text[0] && (!attach->program || attach->program[0]));
	FUZZ_WANT(hook->kind < HOOK_KINDS);
	FUZZ_WANT(hook->name ? hook->name[0] != '\0' : hook->path || hook->service);
	FUZZ_WANT(!hook->path || hook->path[0] == '/' || !strchr(hook->path, '/'));
	FUZZ_WANT((hook->kind == HOOK_PERF) == (hook->period || hook->frequency));
}

static void check(const struct config *config)
{
	FUZZ_WANT(config->object_dir[0] == '/' && config->symbol_helper[0] == '/');
	FUZZ_WANT(config->profiles.directory[0] == '/');
	FUZZ_WANT(!config->event_file[0] || config->event_file[0] == '/');
	FUZZ_WANT(config->max_services >= 1 && config->max_services <= CONFIG_MAX_SERVICES);
	FUZZ_WANT(config->percentile_count <= CONFIG_PERCENTILES_MAX);
	FUZZ_WANT(config->service_count <= CONFIG_SERVICES_MAX);
	FUZZ_WANT(config->probe_count <= CONFIG_PROBES_MAX);
	for (size_t i = 0; i < config->percentile_count; i++)
		FUZZ_WANT(config->percentiles[i] > 0 && config->percentiles[i] < 100);
	check_strings(&config->classes);
	for (size_t i = 0; i < config->service_count; i++) {
		check_service(&config->services[i]);
		check_responses(config, &config->services[i].responses);
	}
	for (size_t i = 0; i < config->probe_count; i++) {
		const struct probe_config *p = &config->probes[i];

		FUZZ_WANT(config_probe(config, p->name) == p);
		FUZZ_WANT(!p->object || p->object[0] == '/');
		check_strings(&p->options);
		FUZZ_WANT(p->label_count <= CONFIG_LABELS_MAX);
		for (size_t j = 0; j < p->label_count; j++) {
			FUZZ_WANT(p->labels[j].word[0]);
			FUZZ_WANT(p->labels[j].globs.count <= CONFIG_LABEL_NAMES_MAX);
			check_strings(&p->labels[j].globs);
		}
		check_strings(&p->collect);
		check_strings(&p->ignore);
		FUZZ_WANT(p->collect.count <= CONFIG_GLOBS_MAX);
		FUZZ_WANT(p->ignore.count <= CONFIG_GLOBS_MAX);
		FUZZ_WANT(p->attach_count <= CONFIG_ATTACHES_MAX);
		for (size_t j = 0; j < p->attach_count; j++)
			check_attach(&p->attaches[j]);
		FUZZ_WANT(p->parameter_count <= CONFIG_PARAMETERS_MAX);
		for (size_t j = 0; j < p->parameter_count; j++)
			FUZZ_WANT(p->parameters[j].name[0] &&
				  (!p->parameters[j].is_boolean ||
				   p->parameters[j].value.magnitude <= 1));
		FUZZ_WANT(p->rows == 0 || (p->rows >= 2 && p->rows <= CONFIG_ROWS_MAX));
	}
	FUZZ_WANT(config->services_from <= 7);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	oconfig_item_t *block = oconfig_read(text);
	struct config config;
	unsigned mistakes;

	errors = 0;
	message_to(count);
	config_init(&config);
	mistakes = config_read(&config, block);
	mistakes += config_finish(&config);
	FUZZ_WANT(config_set_paths(&config, "/objects", "/symbols", "/base") == 0);
	FUZZ_WANT((mistakes > 0) == (errors > 0));
	check(&config);
	config_done(&config);
	oconfig_free(block);
	free(text);
	return 0;
}
