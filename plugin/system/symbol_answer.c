/* SPDX-License-Identifier: MIT */
/*
 * What ebpf-symbols answers.
 */
#include "symbol_answer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERRNO_MAX 4095

struct bytes {
	const char *at;
	size_t left;
};

static bool take(struct bytes *bytes, void *to, size_t size)
{
	if (size > bytes->left)
		return false;
	memcpy(to, bytes->at, size);
	bytes->at += size;
	bytes->left -= size;
	return true;
}

/* What does not print in a log is a question mark. */
static bool take_text(struct bytes *bytes, char *to, size_t size)
{
	if (size >= SYMBOL_TEXT_MAX || !take(bytes, to, size))
		return false;
	for (size_t i = 0; i < size; i++)
		if (to[i] < ' ' || to[i] > '~')
			to[i] = '?';
	to[size] = '\0';
	return true;
}

static int take_place(struct bytes *bytes, uint64_t file_size, struct symbol_place *place)
{
	struct symbol_answer_place answer;
	char arguments[SYMBOL_TEXT_MAX];

	if (!take(bytes, &answer, sizeof(answer)) ||
	    !take_text(bytes, arguments, answer.arguments_length) || answer.offset >= file_size ||
	    answer.semaphore >= file_size || answer.semaphore > UINT32_MAX ||
	    answer.flags & ~(uint32_t)(SYMBOL_STEPPED | SYMBOL_GO | SYMBOL_RETURN))
		return -EBADMSG;
	*place = (struct symbol_place){ .offset = answer.offset,
					.semaphore = answer.semaphore,
					.flags = answer.flags };
	if (arguments[0])
		place->arguments = strdup(arguments);
	return arguments[0] && !place->arguments ? -ENOMEM : 0;
}

static int take_found(struct bytes *bytes, uint64_t file_size, struct symbol_found *found)
{
	struct symbol_answer_name answer;
	int status = 0;

	if (!take(bytes, &answer, sizeof(answer)) ||
	    !take_text(bytes, found->error.text, answer.reason_length) || answer.status > 0 ||
	    answer.status < -ERRNO_MAX || answer.count > SYMBOL_PLACES_MAX ||
	    (answer.status == 0) != (answer.count > 0))
		return -EBADMSG;
	found->status = answer.status;
	if (!answer.count)
		return 0;
	found->places = calloc(answer.count, sizeof(*found->places));
	if (!found->places)
		return -ENOMEM;
	for (; found->count < answer.count && status == 0; found->count++)
		status = take_place(bytes, file_size, &found->places[found->count]);
	/* What comes first is where it is entered. */
	return status || !(found->places[0].flags & SYMBOL_RETURN) ? status : -EBADMSG;
}

int symbol_answer_take(const char *at, size_t size, uint64_t file_size, size_t count,
		       struct symbol_found *ret_found,
		       char ret_build_id[2 * SYMBOL_BUILD_ID_MAX + 1])
{
	struct bytes bytes = { at, size };
	struct symbol_answer answer;
	size_t taken = 0;
	int status = 0;

	if (!take(&bytes, &answer, sizeof(answer)))
		return -EBADMSG;
	if (answer.version != SYMBOL_VERSION)
		return -EPROTO;
	if (answer.build_id_size > SYMBOL_BUILD_ID_MAX)
		return -EBADMSG;
	memset(ret_found, 0, count * sizeof(*ret_found));
	while (taken < count && status == 0)
		status = take_found(&bytes, file_size, &ret_found[taken++]);
	if (status == 0 && bytes.left)
		status = -EBADMSG;
	if (status) {
		symbol_found_done(ret_found, taken);
		return status;
	}
	for (size_t i = 0; i < answer.build_id_size; i++)
		snprintf(ret_build_id + 2 * i, 3, "%02x", answer.build_id[i]);
	ret_build_id[2 * answer.build_id_size] = '\0';
	return 0;
}

void symbol_found_done(struct symbol_found *found, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < found[i].count; j++)
			free(found[i].places[j].arguments);
		free(found[i].places);
		found[i] = (struct symbol_found){ 0 };
	}
}
