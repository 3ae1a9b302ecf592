/* SPDX-License-Identifier: MIT */
/*
 * What ebpf-symbols answers.
 */
#include "symbol_answer.h"

#include <errno.h>
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
	    answer.flags &
		    ~(uint32_t)(SYMBOL_STEPPED | SYMBOL_GO | SYMBOL_RETURN | SYMBOL_NO_RETURNS))
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

/* That of another version may be shorter. */
static int take_head(struct bytes *bytes, struct symbol_about *ret_about)
{
	struct bytes begin = *bytes;
	struct symbol_answer answer;

	if (!take(&begin, &answer.version, sizeof(answer.version)))
		return -EBADMSG;
	if (answer.version != SYMBOL_VERSION)
		return -EPROTO;
	if (!take(bytes, &answer, sizeof(answer)) || answer.build_id_size > SYMBOL_BUILD_ID_MAX ||
	    answer.debug_status > 0 || answer.debug_status < -ERRNO_MAX)
		return -EBADMSG;
	*ret_about = (struct symbol_about){ .debug_status = answer.debug_status,
					    .build_id_size = answer.build_id_size };
	memcpy(ret_about->build_id, answer.build_id, answer.build_id_size);
	return 0;
}

int symbol_answer_take(const char *at, size_t size, uint64_t file_size, size_t count,
		       struct symbol_found *ret_found, struct symbol_about *ret_about)
{
	struct bytes bytes = { at, size };
	struct symbol_about about;
	size_t taken = 0;
	int status = take_head(&bytes, &about);

	if (status)
		return status;
	memset(ret_found, 0, count * sizeof(*ret_found));
	while (taken < count && status == 0)
		status = take_found(&bytes, file_size, &ret_found[taken++]);
	if (status == 0 && bytes.left)
		status = -EBADMSG;
	if (status) {
		symbol_found_done(ret_found, taken);
		return status;
	}
	*ret_about = about;
	return 0;
}

/* Copies the functions at one offset, with a semicolon between them, and a NUL behind. Returns how many
 * bytes that are; 0: none; -EBADMSG. */
static ssize_t take_functions(struct bytes *bytes, char *to)
{
	uint32_t length;
	size_t begin = 0;

	if (!take(bytes, &length, sizeof(length)) || length >= SYMBOL_NAMED_MAX ||
	    !take(bytes, to, length))
		return -EBADMSG;
	if (length == 0)
		return 0;
	to[length] = '\0';
	for (size_t i = 0; i <= length; i++) {
		if (to[i] == '\0' && i == begin)
			return -EBADMSG;
		if (to[i] == '\0') {
			begin = i + 1;
			to[i] = i < length ? ';' : '\0';
		} else if (to[i] == ';') {
			to[i] = ':';
		} else if (to[i] < ' ' || to[i] > '~') {
			to[i] = '?';
		}
	}
	return (ssize_t)length + 1;
}

static int take_names(struct bytes *bytes, size_t count, struct symbol_names *names)
{
	char *to;

	/* The length in front of a name takes more than the NUL behind it. */
	names->bytes = to = malloc(bytes->left + 1);
	names->name = calloc(count + 1, sizeof(*names->name));
	if (!names->bytes || !names->name)
		return -ENOMEM;
	for (; names->count < count; names->count++) {
		ssize_t size = take_functions(bytes, to);

		if (size < 0)
			return (int)size;
		if (size > 0)
			names->name[names->count] = to;
		to += size;
	}
	return bytes->left ? -EBADMSG : 0;
}

int symbol_answer_take_names(const char *at, size_t size, size_t count,
			     struct symbol_names *ret_names, struct symbol_about *ret_about)
{
	struct bytes bytes = { at, size };
	struct symbol_answer_names answer;
	struct symbol_names names = { 0 };
	struct symbol_about about;
	int status = take_head(&bytes, &about);

	if (status == 0 &&
	    (!take(&bytes, &answer, sizeof(answer)) || answer.wants_debug > 1 ||
	     (answer.status && answer.status != -ENOEXEC && answer.status != -ENOMEM)))
		status = -EBADMSG;
	if (status == 0)
		status = take_names(&bytes, answer.status ? 0 : count, &names);
	if (status || answer.status)
		symbol_names_done(&names);
	if (status)
		return status;
	if (answer.status == 0)
		*ret_names = names;
	about.status = answer.status;
	about.wants_debug = answer.wants_debug;
	*ret_about = about;
	return 0;
}
