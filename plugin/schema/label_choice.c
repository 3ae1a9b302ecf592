/* SPDX-License-Identifier: MIT */
/*
 * Label lines of a Probe block: which rows have series, by their names. A row that does not match
 * gets no name and is not counted anywhere, so it takes no series from others.
 */
#include "label_choice.h"

#include "label_kind.h"
#include "util/glob.h"

#include <stdio.h>
#include <string.h>

struct label_choice label_choice_of(const struct probe_config *block, const struct labels *labels)
{
	struct label_choice choice = { { NULL } };

	for (size_t i = 0; i < labels->count; i++)
		for (size_t k = 0; k < block->label_count; k++)
			if (!strcmp(label_word(&labels->label[i]), block->labels[k].word))
				choice.globs[i] = &block->labels[k].globs;
	return choice;
}

bool label_choice_fits(const struct label_choice *choice, size_t i, const char *name)
{
	const struct strings *globs = choice->globs[i];

	if (!globs)
		return true;
	for (size_t k = 0; k < globs->count; k++)
		if (glob_match(globs->item[k], name))
			return true;
	return false;
}

/* --- mistakes --- */

static const struct label_kind *find_label_kind(const struct labels *const *labels, size_t count,
						const char *word)
{
	for (size_t t = 0; t < count; t++)
		for (size_t i = 0; i < labels[t]->count; i++)
			if (!strcmp(label_word(&labels[t]->label[i]), word))
				return labels[t]->label[i].kind;
	return NULL;
}

static void log_unknown_label(const struct labels *const *labels, size_t count, const char *word,
			      const char *probe)
{
	char words[256] = "";

	for (size_t t = 0; t < count; t++)
		for (size_t i = 0; i < labels[t]->count; i++) {
			size_t length = strlen(words);

			snprintf(words + length, sizeof(words) - length, "%s\"%s\"",
				 length ? ", " : "", label_word(&labels[t]->label[i]));
		}
	if (count == 0)
		message(LOG_ERR,
			"probe %s: ignoring Label \"%s\": it has no rows that are named by keys",
			probe, word);
	else
		message(LOG_ERR,
			"probe %s: ignoring Label \"%s\": its rows have no such label, but %s",
			probe, word, words);
}

void label_choice_check(const struct probe_config *block, const struct labels *const *labels,
			size_t count, const char *probe)
{
	for (size_t k = 0; k < block->label_count; k++) {
		const struct label_config *config = &block->labels[k];
		const struct label_kind *kind = find_label_kind(labels, count, config->word);

		if (!kind)
			log_unknown_label(labels, count, config->word, probe);
		for (size_t i = 0; kind && kind->knows && i < config->globs.count; i++)
			if (!glob_has_wildcard(config->globs.item[i]) &&
			    !kind->knows(config->globs.item[i]))
				message(LOG_ERR,
					"probe %s: ignoring \"%s\" of Label \"%s\": there is no "
					"such %s on this machine; see %s",
					probe, config->globs.item[i], config->word, config->word,
					kind->list);
	}
}
