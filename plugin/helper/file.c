/* SPDX-License-Identifier: MIT */
/*
 * Files that belong to others, which a helper process reads, see helper_request.c.
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

uint64_t file_number(const char *path)
{
	uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 0x100000001b3;
	return hash | 1ULL << 63;
}

int file_read(struct file_helper *helper, const struct file_request *request, struct file *ret_file)
{
	struct file_charge charge = { .budget = request->budget,
				      .owner = request->owner ?: file_number(request->path),
				      .user = request->user };
	/* The byte more tells that the file is larger. */
	struct read_request read = { .size_max = request->size_max + (request->cut ? 0 : 1),
				     .flags = (request->follow ? 0 : O_NOFOLLOW) |
					      (request->is_directory ? O_DIRECTORY : 0),
				     .pid = request->pid,
				     .unless = request->unless };
	struct file file;
	int status = helper_read(helper, &charge, request->wait_ms, request->path, &read,
				 request->stream.receive ? &request->stream : NULL, &file);

	if (status)
		return status;
	if (file.size > request->size_max) {
		free(file.bytes);
		return -EFBIG;
	}
	*ret_file = file;
	return 0;
}

const char *file_strerror(int status)
{
	switch (-status) {
	case EINVAL:
		return "it is not a regular file";
	case ELOOP:
		return "it is a symbolic link";
	case EFBIG:
		return "it is too large";
	case ETIMEDOUT:
		return "its file system does not answer";
	case EBUSY:
		return "too many files of other file systems do not answer";
	default:
		return strerror(-status);
	}
}
