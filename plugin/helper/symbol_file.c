/* SPDX-License-Identifier: MIT */
/*
 * Programs and libraries, opened by the helper: the daemon itself touches no path that others
 * control.
 */
#include "symbol_file.h"

#include "util/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OPEN_WAIT_MS 5000

struct open_exchange {
	struct helper_request request;
	const char *path;
	struct symbol_file file;
};

static int ask_to_open(int socket, void *with)
{
	struct open_exchange *opened = with;
	struct open_reply reply = { 0 };
	int fd = -1, status;

	if (!socket_send(socket, &opened->request, sizeof(opened->request)) ||
	    !socket_send(socket, opened->path, opened->request.path_length))
		return -EPIPE;
	status = helper_receive_descriptor(socket, &reply, sizeof(reply),
					   clock_ns() + OPEN_WAIT_MS * 1000000ULL, &fd);
	if (status)
		return status;
	if ((fd >= 0) != (reply.status == 0)) {
		if (fd >= 0)
			close(fd);
		return -EPIPE;
	}
	if (reply.status)
		return helper_file_error(reply.status);
	opened->file = (struct symbol_file){ .fd = fd,
					     .device = reply.device,
					     .inode = reply.inode,
					     .size = reply.size,
					     .changed_ns = reply.changed_ns,
					     .is_overlay = reply.is_overlay };
	return 0;
}

static const char *why_not_open(int status, const char *path, pid_t pid)
{
	switch (-status) {
	case ENOENT:
		return path && !strchr(path, '/')
			       ? "no library or program of this name is where they usually are; "
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
	struct open_exchange opened = { .path = path ? path : "" };
	struct file_charge charge = { .budget = pid ? FILE_OF_USERS : FILE_OF_ROOT };
	size_t length = strlen(opened.path);
	char owner_text[32 + HELPER_PATH_MAX];
	int status = -ENAMETOOLONG;

	if (length <= HELPER_PATH_MAX) {
		snprintf(owner_text, sizeof(owner_text), "%d:%s", (int)pid, opened.path);
		charge.owner = file_number(pid ? owner_text : opened.path);
		opened.request = (struct helper_request){ .kind = HELPER_OPEN,
							  .path_length = (uint32_t)length,
							  .pid = pid };
		status = helper_ask(files, &charge, ask_to_open, &opened);
	}
	if (status)
		return error_set(error, status, "%s", why_not_open(status, path, pid));
	*ret_file = opened.file;
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
