/* SPDX-License-Identifier: MIT */
/*
 * Parses replies of ebpf-symbols.
 */
#include "symbol_reply.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ERRNO_MAX 4095

struct reply_bytes {
	const char *at;
	size_t left;
};

static bool read_bytes(struct reply_bytes *bytes, void *to, size_t size)
{
	if (size > bytes->left)
		return false;
	memcpy(to, bytes->at, size);
	bytes->at += size;
	bytes->left -= size;
	return true;
}

/* Characters that do not print in a log become question marks. */
static bool read_reply_text(struct reply_bytes *bytes, char *to, size_t size)
{
	if (size >= SYMBOL_TEXT_MAX || !read_bytes(bytes, to, size))
		return false;
	for (size_t i = 0; i < size; i++)
		if (to[i] < ' ' || to[i] > '~')
			to[i] = '?';
	to[size] = '\0';
	return true;
}

static int read_location(struct reply_bytes *bytes, uint64_t file_size,
			 struct symbol_location *location)
{
	struct symbol_reply_location reply;
	char arguments[SYMBOL_TEXT_MAX];

	if (!read_bytes(bytes, &reply, sizeof(reply)) ||
	    !read_reply_text(bytes, arguments, reply.arguments_length) ||
	    reply.offset >= file_size || reply.semaphore >= file_size ||
	    reply.semaphore > UINT32_MAX ||
	    reply.flags &
		    ~(uint32_t)(SYMBOL_SINGLE_STEP | SYMBOL_GO | SYMBOL_RETURN | SYMBOL_NO_RETURNS))
		return -EBADMSG;
	*location = (struct symbol_location){ .offset = reply.offset,
					      .semaphore = reply.semaphore,
					      .flags = reply.flags };
	if (arguments[0])
		location->arguments = strdup(arguments);
	return arguments[0] && !location->arguments ? -ENOMEM : 0;
}

static int read_found(struct reply_bytes *bytes, uint64_t file_size, struct symbol_found *found)
{
	struct symbol_reply_name reply;
	int status = 0;

	if (!read_bytes(bytes, &reply, sizeof(reply)) ||
	    !read_reply_text(bytes, found->error.text, reply.reason_length) || reply.status > 0 ||
	    reply.status < -ERRNO_MAX || reply.count > SYMBOL_LOCATIONS_MAX ||
	    (reply.status == 0) != (reply.count > 0))
		return -EBADMSG;
	found->status = reply.status;
	if (!reply.count)
		return 0;
	found->locations = calloc(reply.count, sizeof(*found->locations));
	if (!found->locations)
		return -ENOMEM;
	for (; found->count < reply.count && status == 0; found->count++)
		status = read_location(bytes, file_size, &found->locations[found->count]);
	/* The first location must be the function's entry. */
	return status || !(found->locations[0].flags & SYMBOL_RETURN) ? status : -EBADMSG;
}

/* A reply of another version may be shorter, so the version is checked first. */
static int read_head(struct reply_bytes *bytes, struct symbol_about *ret_about)
{
	struct reply_bytes begin = *bytes;
	struct symbol_reply reply;

	if (!read_bytes(&begin, &reply.version, sizeof(reply.version)))
		return -EBADMSG;
	if (reply.version != SYMBOL_VERSION)
		return -EPROTO;
	if (!read_bytes(bytes, &reply, sizeof(reply)) ||
	    reply.build_id_size > SYMBOL_BUILD_ID_MAX || reply.debug_status > 0 ||
	    reply.debug_status < -ERRNO_MAX)
		return -EBADMSG;
	*ret_about = (struct symbol_about){ .debug_status = reply.debug_status,
					    .build_id_size = reply.build_id_size };
	memcpy(ret_about->build_id, reply.build_id, reply.build_id_size);
	return 0;
}

int symbol_reply_parse(const char *at, size_t size, uint64_t file_size, size_t count,
		       struct symbol_found *ret_found, struct symbol_about *ret_about)
{
	struct reply_bytes bytes = { at, size };
	struct symbol_about about;
	size_t filled = 0;
	int status = read_head(&bytes, &about);

	if (status)
		return status;
	memset(ret_found, 0, count * sizeof(*ret_found));
	while (filled < count && status == 0)
		status = read_found(&bytes, file_size, &ret_found[filled++]);
	if (status == 0 && bytes.left)
		status = -EBADMSG;
	if (status) {
		symbol_found_done(ret_found, filled);
		return status;
	}
	*ret_about = about;
	return 0;
}

/* Copies the functions at one offset, separated by semicolons, with a NUL behind. Returns the
 * number of bytes; 0: no function; -EBADMSG. */
static ssize_t read_functions(struct reply_bytes *bytes, char *to)
{
	uint32_t length;
	size_t begin = 0;

	if (!read_bytes(bytes, &length, sizeof(length)) || length >= SYMBOL_NAMED_MAX ||
	    !read_bytes(bytes, to, length))
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

static int read_reply_names(struct reply_bytes *bytes, size_t count, struct symbol_names *names)
{
	char *to;

	/* The NUL behind each name needs less than the length in front of it. */
	names->bytes = to = malloc(bytes->left + 1);
	names->name = calloc(count + 1, sizeof(*names->name));
	if (!names->bytes || !names->name)
		return -ENOMEM;
	for (; names->count < count; names->count++) {
		ssize_t size = read_functions(bytes, to);

		if (size < 0)
			return (int)size;
		if (size > 0)
			names->name[names->count] = to;
		to += size;
	}
	return bytes->left ? -EBADMSG : 0;
}

int symbol_reply_parse_names(const char *at, size_t size, size_t count,
			     struct symbol_names *ret_names, struct symbol_about *ret_about)
{
	struct reply_bytes bytes = { at, size };
	struct symbol_reply_names reply;
	struct symbol_names names = { 0 };
	struct symbol_about about;
	int status = read_head(&bytes, &about);

	if (status == 0 && (!read_bytes(&bytes, &reply, sizeof(reply)) || reply.wants_debug > 1 ||
			    (reply.status && reply.status != -ENOEXEC && reply.status != -ENOMEM)))
		status = -EBADMSG;
	if (status == 0)
		status = read_reply_names(&bytes, reply.status ? 0 : count, &names);
	if (status || reply.status)
		symbol_names_done(&names);
	if (status)
		return status;
	if (reply.status == 0)
		*ret_names = names;
	about.status = reply.status;
	about.wants_debug = reply.wants_debug;
	*ret_about = about;
	return 0;
}
