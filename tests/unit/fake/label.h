/* SPDX-License-Identifier: MIT */
/*
 * Labels of keys, without the BTF of a key: only this file sets their members.
 */
#ifndef FAKE_LABEL_H
#define FAKE_LABEL_H

#include "plugin/schema/label.h"
#include "plugin/schema/label_kind.h"

#include <stdlib.h>

#define NO_LABEL (-1)

static inline struct label label_of_kind(const struct label_kind *kind, uint32_t offset,
					 uint32_t size)
{
	return (struct label){ .kind = kind, .offset = offset, .size = size };
}

/* An integer of a key; the word is that of a LABEL tag. */
static inline struct label label_of(const char *word, uint32_t offset, uint32_t size)
{
	return label_of_kind(label_kind(word), offset, size);
}

/* An array of char. */
static inline struct label text_label(const char *word, uint32_t offset, uint32_t size)
{
	struct label label = label_of(word, offset, size);

	label.is_text = true;
	return label;
}

/* No labels yet; `subject` is the number of the one that is the plugin instance, or NO_LABEL. */
static inline struct labels labels_none(uint32_t key_size, int subject)
{
	return (struct labels){ .key_size = key_size, .subject = subject };
}

static inline void labels_add(struct labels *labels, struct label label)
{
	if (labels->count == LABELS_MAX)
		abort();
	labels->label[labels->count++] = label;
}

/* The name of one label. */
static inline enum name_state label_name(const struct label *label, const unsigned char *key,
					 char *to, size_t size)
{
	char text[DECODE_TEXT_MAX] = "";
	enum name_state state = label_text(label, key, text);

	if (state == NAME_FOUND)
		label_clean(to, size, text);
	return state;
}

#endif
