/* SPDX-License-Identifier: MIT */
/*
 * Programs and libraries, opened by the helper: the daemon itself touches no path that others
 * control.
 */
#include "symbol_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *why_not_open(int status, const char *path, pid_t pid)
{
	switch (-status) {
	case ENOENT:
		return path && !strchr(path, '/')
			       ? "no library or program of this name is in the usual directories; "
				 "name its path"
			       : strerror(-status);
	case EREMOTE:
		return "it is on FUSE: a program that stops could stop collectd, too";
	case ESRCH:
		return "the process has ended";
	case EACCES:
	case EPERM:
		return pid ? "collectd needs CAP_SYS_PTRACE to see the files of other users' processes"
			   : "collectd needs the right to read it and the directories it is in, or "
			     "CAP_DAC_READ_SEARCH";
	case EPIPE:
		return "the process that reads it has ended";
	default:
		return file_strerror(status);
	}
}

int symbol_open(struct file_helper *files, const char *path, pid_t pid,
		struct symbol_file *ret_file, struct error *error)
{
	struct file_charge charge = { .budget = pid ? FILE_OF_USERS : FILE_OF_ROOT };
	struct open_reply reply = { 0 };
	const char *opened = path ?: "";
	char owner_text[32 + HELPER_PATH_MAX];
	int fd, status;

	snprintf(owner_text, sizeof(owner_text), "%d:%s", (int)pid, opened);
	charge.owner = file_number(pid ? owner_text : opened);
	status = helper_open(files, &charge, opened, pid, &fd, &reply);
	if (status)
		return error_set(error, status, "%s", why_not_open(status, path, pid));
	*ret_file = (struct symbol_file){ .fd = fd,
					  .device = reply.device,
					  .inode = reply.inode,
					  .size = reply.size,
					  .changed_ns = reply.changed_ns,
					  .is_overlay = reply.is_overlay };
	return 0;
}

uint64_t symbol_number(const struct symbol_file *file)
{
	char text[64];

	snprintf(text, sizeof(text), "%llx:%llx", (unsigned long long)file->device,
		 (unsigned long long)file->inode);
	return file_number(text);
}

bool symbol_is_same(const struct symbol_file *one, const struct symbol_file *other)
{
	bool same_device = one->device == other->device || (one->is_overlay && other->is_overlay);

	return same_device && one->inode == other->inode && one->size == other->size &&
	       one->changed_ns == other->changed_ns;
}

void symbol_close(struct symbol_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct symbol_file)SYMBOL_FILE_NONE;
}
