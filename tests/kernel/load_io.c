/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes in known numbers, done by a child: forked and not executed,
 * so that its counts begin at zero and belong to the service from the first.
 *   read N SIZE FILE      N reads from the page cache
 *   write N SIZE FILE     N writes, then fsync
 *   dirty N SIZE FILE     N writes, which others may bring to the disk
 *   direct N SIZE FILE    N writes, then N reads, past the page cache
 *   batch N SIZE FILE     the same, N of them by one call, so that the kernel can merge them
 * The child's pid is the first answer; when it has ended it stays a zombie,
 * whose /proc/PID/io is final, until the next line, answered with "ok".
 *
 * load_io
 */
#include "load.h"

#include <linux/aio_abi.h>
#include <sys/syscall.h>

#define BATCH_MAX 64

static void submit(int fd, int operation, char *buffer, unsigned long n, unsigned long size)
{
	struct iocb blocks[BATCH_MAX] = {}, *pointers[BATCH_MAX];
	struct io_event events[BATCH_MAX];
	aio_context_t context = 0;

	for (unsigned long i = 0; i < n; i++) {
		blocks[i].aio_lio_opcode = operation;
		blocks[i].aio_fildes = fd;
		blocks[i].aio_buf = (uintptr_t)buffer;
		blocks[i].aio_nbytes = size;
		blocks[i].aio_offset = i * size;
		pointers[i] = &blocks[i];
	}
	if (syscall(SYS_io_setup, BATCH_MAX, &context) ||
	    syscall(SYS_io_submit, context, n, pointers) != (long)n ||
	    syscall(SYS_io_getevents, context, n, n, events, NULL) != (long)n)
		err(1, "a batch");
	for (unsigned long i = 0; i < n; i++)
		if (events[i].res != (int64_t)size)
			errx(1, "a batch: %lld of %lu bytes", (long long)events[i].res, size);
}

static void transfer_batch(unsigned long n, unsigned long size, const char *path)
{
	int fd = open(path, O_RDWR | O_DIRECT);
	char *buffer = aligned_alloc(4096, size);

	if (fd < 0 || n > BATCH_MAX)
		err(1, "%s", path);
	memset(buffer, 'x', size);
	submit(fd, IOCB_CMD_PWRITE, buffer, n, size);
	submit(fd, IOCB_CMD_PREAD, buffer, n, size);
	_exit(0);
}

static void transfer(const char *how, unsigned long n, unsigned long size, const char *path)
{
	int direct = strcmp(how, "direct") == 0, dirty = strcmp(how, "dirty") == 0;
	int writes = direct || dirty || strcmp(how, "write") == 0;
	int fd = open(path, (writes ? O_RDWR | O_CREAT : O_RDONLY) | (direct ? O_DIRECT : 0), 0600);
	char *buffer = aligned_alloc(4096, (size + 4095) / 4096 * 4096);

	if (fd < 0)
		err(1, "%s", path);
	memset(buffer, 'x', size);
	for (unsigned long i = 0; writes && i < n; i++)
		if (pwrite(fd, buffer, size, i * size) != (ssize_t)size)
			err(1, "write %s", path);
	if (writes && !dirty && fsync(fd))
		err(1, "fsync %s", path);
	for (unsigned long i = 0; (direct || !writes) && i < n; i++)
		if (pread(fd, buffer, size, i * size) != (ssize_t)size)
			err(1, "read %s", path);
	_exit(0);
}

int main(void)
{
	char line[4200], how[16], path[4096];
	unsigned long n, size;
	pid_t child;

	die_with_parent();
	for (;;) {
		hear(line, sizeof(line));
		if (sscanf(line, "%15s %lu %lu %4095s", how, &n, &size, path) != 4)
			errx(2, "what is '%s'?", line);
		child = fork();
		if (child < 0)
			err(1, "fork");
		if (child == 0 && strcmp(how, "batch") == 0)
			transfer_batch(n, size, path);
		if (child == 0)
			transfer(how, n, size, path);
		snprintf(line, sizeof(line), "%d\n", child);
		say(line);
		hear(line, sizeof(line));
		waitpid(child, NULL, 0);
		say("ok\n");
	}
}
