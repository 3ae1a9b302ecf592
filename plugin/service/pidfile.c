/* SPDX-License-Identifier: MIT */
/*
 * Pid files. Daemons write them into directories of their own users, so neither a file nor its contents can
 * be trusted.
 */
#include "pidfile.h"

#include "util/clock.h"
#include "util/message.h"

#include "bpf/lib/services/service.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PID_FILE_SIZE_MAX 64 /* some daemons write more than the number */
#define PID_FILE_WAIT_MS 500
#define PID_FILE_LATE_NS (PID_FILE_WAIT_MS * 1000000ULL)
#define PID_MAX (1U << 22) /* the limit of every kernel */

static size_t count_pid_files(const struct config *config)
{
	size_t count = 0;

	for (size_t i = 0; i < config->service_count; i++)
		count += config->services[i].pid_files.count;
	return count;
}

int pid_files_init(struct pid_files *files, const struct config *config)
{
	*files = (struct pid_files){ 0 };
	files->item = calloc(count_pid_files(config) + 1, sizeof(*files->item));
	if (!files->item)
		return -ENOMEM;
	for (size_t i = 0; i < config->service_count; i++)
		for (size_t j = 0; j < config->services[i].pid_files.count; j++)
			files->item[files->count++] = (struct pid_file){
				.service = config->services[i].name,
				.path = config->services[i].pid_files.item[j],
				.row = SERVICE_FIRST + (uint32_t)i,
			};
	return 0;
}

int pid_parse(const char *text, uint32_t *ret_pid)
{
	uint32_t pid = 0;

	text += strspn(text, " \t\r\n");
	for (; *text >= '0' && *text <= '9' && pid <= PID_MAX; text++)
		pid = 10 * pid + (uint32_t)(*text - '0');
	if (pid == 0 || pid > PID_MAX || (*text && !strchr(" \t\r\n", *text)))
		return -EBADMSG;
	*ret_pid = pid;
	return 0;
}

static const char *pid_file_strerror(int status)
{
	return status == -EBADMSG ? "it holds no number" : file_strerror(status);
}

static void note_lateness(struct pid_file *file, int status)
{
	if (!helper_may_reply_later(status))
		file->late_ns = 0;
	else if (!file->late_ns)
		file->late_ns = clock_ns();
}

/* On a busy machine the start cannot wait for each file. One that is still late after the longest
 * wait does not answer. */
static bool is_late_once(const struct pid_file *file)
{
	return file->late_ns && clock_ns() - file->late_ns < PID_FILE_LATE_NS;
}

/* A stopped service removes its file and writes it again when it starts. */
static void log_pid_file_error(struct pid_file *file, int status)
{
	size_t i = 0;

	if ((status == -ENOENT && file->read) || is_late_once(file))
		return;
	while (i < PID_FILE_LOGGED_MAX && file->logged[i] && file->logged[i] != status)
		i++;
	if (i == PID_FILE_LOGGED_MAX || file->logged[i])
		return;
	file->logged[i] = status;
	message(status == -ENOENT ? LOG_NOTICE : LOG_WARNING,
		"<Service \"%s\">: PidFile \"%s\" names no process: %s; trying again",
		file->service, file->path, pid_file_strerror(status));
}

static int read_pid_file(struct pid_file *file, struct file_helper *helper, uint32_t *ret_pid,
			 uid_t *ret_owner)
{
	struct file_request request = {
		.path = file->path,
		.size_max = PID_FILE_SIZE_MAX,
		.cut = true,
		.wait_ms = PID_FILE_WAIT_MS,
		.budget = FILE_OF_PID_FILES,
	};
	struct file content;
	int status = file_read(helper, &request, &content);

	if (status)
		return status;
	status = pid_parse(content.bytes, ret_pid);
	*ret_owner = content.owner;
	free(content.bytes);
	return status;
}

bool pid_files_read(struct pid_files *files, struct file_helper *helper)
{
	bool changed = false;

	for (size_t i = 0; i < files->count; i++) {
		struct pid_file *file = &files->item[i];
		uid_t owner = file->owner;
		uint32_t pid = 0;
		int status = read_pid_file(file, helper, &pid, &owner);

		note_lateness(file, status);
		if (status == 0)
			file->read = true;
		else if (status != -ECANCELED)
			log_pid_file_error(file, status);
		if (pid && (pid != file->pid || owner != file->owner)) {
			changed = true;
			file->doubted = false;
		}
		file->pid = pid;
		file->owner = owner;
	}
	return changed;
}

static bool is_pid_trusted(struct pid_file *file, uid_t uid)
{
	if (file->owner == 0 || (file->owner == uid && uid != FILE_OWNER_UNKNOWN))
		return true;
	if (!file->doubted && file->owner == FILE_OWNER_UNKNOWN)
		message(LOG_WARNING,
			"<Service \"%s\">: process %u of PidFile \"%s\" is not counted: the file is "
			"on FUSE, where its owner is unknown; have it written elsewhere",
			file->service, file->pid, file->path);
	else if (!file->doubted)
		message(LOG_WARNING,
			"<Service \"%s\">: process %u of PidFile \"%s\" is not counted: the file "
			"is user %u's, the process is user %u's; let root or user %u write it",
			file->service, file->pid, file->path, (unsigned)file->owner, (unsigned)uid,
			(unsigned)uid);
	file->doubted = true;
	return false;
}

uint32_t pid_files_match(struct pid_files *files, uint32_t pid, uid_t uid)
{
	uint32_t row = 0;

	for (size_t i = 0; i < files->count; i++) {
		struct pid_file *file = &files->item[i];

		if (file->pid != pid || !is_pid_trusted(file, uid))
			continue;
		file->fitted = true;
		row = row ?: file->row;
	}
	return row;
}

static const struct pid_file *find_pid_file(const struct pid_files *files, const char *path)
{
	size_t i = 0;

	while (strcmp(files->item[i].path, path) != 0)
		i++;
	return &files->item[i];
}

bool pid_files_have_fitted(const struct pid_files *files, const char *path)
{
	return find_pid_file(files, path)->fitted;
}

bool pid_files_have_logged(const struct pid_files *files, const char *path)
{
	const struct pid_file *file = find_pid_file(files, path);

	return file->logged[0] || file->doubted;
}

void pid_files_done(struct pid_files *files)
{
	free(files->item);
	*files = (struct pid_files){ 0 };
}
