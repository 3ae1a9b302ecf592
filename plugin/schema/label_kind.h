/* SPDX-License-Identifier: MIT */
#ifndef EBPF_LABEL_KIND_H
#define EBPF_LABEL_KIND_H

#include "label.h"

/* The kind of this word, or NULL. */
const struct label_kind *label_kind(const char *word);

/* Those that the engine asks for. */
const struct label_kind *label_kind_enum(void);
const struct label_kind *label_kind_service(void);
const struct label_kind *label_kind_function(void);
const struct label_kind *label_kind_cpu(void);

/* All words, for messages. */
const char *label_kind_words(void);

#endif
