/* SPDX-License-Identifier: MIT */
/*
 * Functions of programs and libraries as perf events. Both the path and what is in the file are
 * other people's, and the kernel reads the file, too, when it puts its breakpoint there: so all of
 * it is the worker's, see file.c, and the daemon gets a descriptor. The worker names the file by
 * its own descriptor: what the kernel opens is what was looked at.
 */
#include "uprobe.h"

#include "clock.h"
#include "pseudo.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WAIT_MS 5000
#define PMU "/sys/bus/event_source/devices/uprobe/"

/* What comes with the answer; -ETIMEDOUT; -EPIPE: the worker has ended, or says no such thing. */
static int receive(int worker, struct uprobe_answer *answer, int *ret_fd)
{
	uint64_t end_ns = clock_ns() + WAIT_MS * 1000000ULL;
	int status = worker_receive_descriptor(worker, answer, sizeof(*answer), end_ns, ret_fd);

	if (status || (*ret_fd >= 0) == (answer->status == 0))
		return status;
	if (*ret_fd >= 0)
		close(*ret_fd);
	return -EPIPE;
}

struct asked {
	const struct uprobe_request *request;
	struct question question;
	enum uprobe_step step;
	int fd;
};

static const char *name_of(const struct uprobe_request *request)
{
	return request->marker ?: request->function ?: "";
}

static int ask(int worker, void *with)
{
	struct asked *asked = with;
	const char *name = name_of(asked->request);
	struct uprobe_answer answer = { 0 };
	int status;

	asked->step = UPROBE_ASK;
	if (!socket_send(worker, &asked->question, sizeof(asked->question)) ||
	    !socket_send(worker, asked->request->path, asked->question.path_length) ||
	    !socket_send(worker, name, asked->question.name_length))
		return -EPIPE;
	status = receive(worker, &answer, &asked->fd);
	if (status)
		return status;
	asked->step = answer.step;
	/* Those of the worker itself are told apart by their step. */
	return worker_told(answer.status);
}

static bool read_text(const char *path, char *text, size_t size)
{
	ssize_t length = pseudo_read(path, text, size - 1);

	text[length > 0 ? length : 0] = '\0';
	return length > 0;
}

/* What the kernel calls them. */
static int set_pmu(struct question *question, bool at_return)
{
	char type[32], bit[32];
	unsigned n, end;

	if (!read_text(PMU "type", type, sizeof(type)) ||
	    !read_text(PMU "format/retprobe", bit, sizeof(bit)) ||
	    sscanf(type, "%u", &question->pmu_type) != 1 || sscanf(bit, "config:%u", &n) != 1 ||
	    n > 63)
		return -ENODEV;
	question->config = at_return ? 1ULL << n : 0;
	if (!question->is_marker)
		return 0;
	if (!read_text(PMU "format/ref_ctr_offset", bit, sizeof(bit)) ||
	    sscanf(bit, "config:%u-%u", &n, &end) != 2 || n > 32 || end != n + 31)
		return -ENODEV;
	question->semaphore_shift = n;
	return 0;
}

int uprobe_open(struct file_reader *reader, const struct uprobe_request *request, int *ret_fd,
		enum uprobe_step *ret_step)
{
	size_t path = strlen(request->path) + 1;
	size_t name = strlen(name_of(request));
	struct worker_turn turn = { .share = FILE_OF_ROOT, .whose = file_number(request->path) };
	struct asked asked = { .request = request };
	int status;

	*ret_step = UPROBE_ASK;
	if (path > QUESTION_PATH_MAX || name > QUESTION_NAME_MAX)
		return -ENAMETOOLONG;
	asked.question = (struct question){
		.kind = QUESTION_UPROBE,
		.path_length = (uint32_t)path,
		.name_length = (uint32_t)name,
		.is_marker = request->marker != NULL,
		.index = request->index,
		.offset = request->offset,
	};
	status = set_pmu(&asked.question, request->at_return);
	if (status) {
		*ret_step = UPROBE_ATTACH;
		return status;
	}
	status = worker_ask(reader, &turn, ask, &asked);
	*ret_step = asked.step;
	if (status == 0)
		*ret_fd = asked.fd;
	return status;
}

static const char *of_search(int status)
{
	switch (-status) {
	case ENOEXEC:
		return "it is no 64-bit program or library of this machine";
	case ENODATA:
		return "it has no symbols; name the function by its offset in the file";
	case ESRCH:
		return "it has no function of this name (nm -D lists them): misspelt, inlined or "
		       "stripped";
	case ENOTUNIQ:
		return "it has several functions of this name; choose one by its offset in the file";
	case EOPNOTSUPP:
		return "the program chooses this function among several when it starts (IFUNC); name "
		       "one of those";
	case ENOMSG:
		return "it has no marker of this name (readelf -n lists them)";
	case EFAULT:
		return "there is no code at this offset";
	default:
		return file_strerror(status);
	}
}

const char *uprobe_strerror(int status, enum uprobe_step step)
{
	if (step == UPROBE_SEARCH)
		return of_search(status);
	if (step == UPROBE_ATTACH && status == -ENODEV)
		return "the kernel is built without uprobes (CONFIG_UPROBE_EVENTS)";
	if (step == UPROBE_ATTACH && (status == -EACCES || status == -EPERM))
		return "collectd needs CAP_PERFMON or CAP_SYS_ADMIN for it";
	if (step == UPROBE_ATTACH && status == -EINVAL)
		return "the kernel refuses it, as the file system may be, or the instruction there";
	if (step == UPROBE_OPEN && status == -EREMOTE)
		return "it is on FUSE: a program that stops could stop collectd, too";
	if (step == UPROBE_ASK && status == -EPIPE)
		return "the process that reads it has ended";
	return step == UPROBE_ATTACH ? strerror(-status) : file_strerror(status);
}
