/* SPDX-License-Identifier: MIT */
/*
 * Uses files in known numbers, and takes the time of what may take long:
 *   make N DIR, open N DIR, again N DIR, miss N DIR, rename N DIR, delete N DIR
 *                        N files: makes them; opens them; opens them as if to make them; opens
 *                        others, which are not there; gives them other names; deletes them by
 *                        those
 *   calls 1 DIR          makes, opens and deletes one by each call that there is
 *   sync N FILE          N times, writes a little and waits until it is on disk
 *   wait 1 FIFO          opens it for writing, as soon as somebody reads
 *   read SIZE FILE, vectors SIZE FILE, write SIZE FILE
 *                        all of it in the page cache, so much in each call: read, readv, pwrite
 *   touch SIZE FILE      all of it through a mapping, each page by itself
 *   ahead SIZE FILE      asks for so much of it to be read ahead
 * Each is answered with the time that its slow calls took, or all reads and writes.
 *
 * load_files
 */
#include "load.h"

#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/uio.h>

static char buffer[1 << 20];

static char *name(const char *directory, const char *kind, unsigned long i)
{
	static char names[2][4200];
	static int current;

	current = !current;
	snprintf(names[current], sizeof(names[current]), "%s/%s%lu", directory, kind, i);
	return names[current];
}

static int need_file(int fd, const char *path)
{
	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

static void make(unsigned long n, const char *directory, int flags)
{
	for (unsigned long i = 0; i < n; i++) {
		const char *path = name(directory, "a", i);

		close(need_file(open(path, flags, 0600), path));
	}
}

static uint64_t make_files(unsigned long n, const char *directory)
{
	make(n, directory, O_WRONLY | O_CREAT);
	return 0;
}

static uint64_t open_files(unsigned long n, const char *directory)
{
	make(n, directory, O_RDONLY);
	return 0;
}

static uint64_t miss_files(unsigned long n, const char *directory)
{
	for (unsigned long i = 0; i < n; i++)
		if (open(name(directory, "none", i), O_RDONLY) >= 0)
			errx(1, "%s is there", name(directory, "none", i));
	return 0;
}

static uint64_t rename_files(unsigned long n, const char *directory)
{
	for (unsigned long i = 0; i < n; i++)
		if (rename(name(directory, "a", i), name(directory, "b", i)))
			err(1, "rename");
	return 0;
}

static uint64_t delete_files(unsigned long n, const char *directory)
{
	for (unsigned long i = 0; i < n; i++)
		if (unlink(name(directory, "b", i)))
			err(1, "unlink");
	return 0;
}

/* 4 opens, 2 of which make a file, 3 renames and 2 deletes; on younger architectures with the calls
 * that take a directory alone. The directory that is made and removed is no file. */
static uint64_t calls(unsigned long n, const char *directory)
{
	struct open_how how = { .flags = O_RDWR | O_CREAT, .mode = 0600 };
	const char *a = name(directory, "call_a", n), *b = name(directory, "call_b", n);

	close(need_file(syscall(SYS_openat, AT_FDCWD, a, O_RDWR | O_CREAT | O_EXCL, 0600), a));
#ifdef SYS_open
	close(need_file(syscall(SYS_open, a, O_RDONLY), a));
	close(need_file(syscall(SYS_creat, a, 0600), a));
	syscall(SYS_rename, a, b);
#else
	close(need_file(syscall(SYS_openat, AT_FDCWD, a, O_RDONLY), a));
	close(need_file(syscall(SYS_openat, AT_FDCWD, a, O_RDONLY), a));
	syscall(SYS_renameat, AT_FDCWD, a, AT_FDCWD, b);
#endif
	syscall(SYS_renameat2, AT_FDCWD, b, AT_FDCWD, a, 0);
	syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, 0);
	close(need_file(syscall(SYS_openat2, AT_FDCWD, a, &how, sizeof(how)), a));
	unlink(a);
	unlinkat(AT_FDCWD, b, 0);
	mkdir(a, 0700);
	rmdir(a);
	return 0;
}

static uint64_t sync_file(unsigned long n, const char *path)
{
	int fd = need_file(open(path, O_RDWR | O_CREAT, 0600), path);
	uint64_t taken = 0;

	for (unsigned long i = 0; i < n; i++) {
		uint64_t begin;

		if (pwrite(fd, buffer, 4096, 4096 * i) != 4096)
			err(1, "%s", path);
		begin = clock_ns(CLOCK_MONOTONIC);
		if (i % 2 ? fsync(fd) : fdatasync(fd))
			err(1, "%s", path);
		taken += clock_ns(CLOCK_MONOTONIC) - begin;
	}
	close(fd);
	return taken;
}

static uint64_t wait_for_copy(unsigned long n, const char *path)
{
	uint64_t begin = clock_ns(CLOCK_MONOTONIC), taken;
	int fd = need_file(open(path, O_WRONLY), path);

	taken = clock_ns(CLOCK_MONOTONIC) - begin;
	close(fd);
	return taken + 0 * n;
}

enum way { READ, VECTORS, WRITE };

static ssize_t transfer(int fd, enum way way, unsigned long size, unsigned long at)
{
	struct iovec halves[2] = { { buffer, size / 2 }, { buffer + size / 2, size - size / 2 } };

	switch (way) {
	case READ:
		return pread(fd, buffer, size, at);
	case VECTORS:
		return preadv(fd, halves, 2, at);
	default:
		return pwrite(fd, buffer, size, at);
	}
}

static uint64_t transfer_all(unsigned long size, const char *path, enum way way)
{
	int fd = need_file(open(path, way == WRITE ? O_WRONLY : O_RDONLY), path);
	unsigned long end = lseek(fd, 0, SEEK_END);
	uint64_t taken = 0;

	if (size > sizeof(buffer))
		errx(2, "%lu is too much at a time", size);
	for (unsigned long at = 0; at < end; at += size) {
		uint64_t begin = clock_ns(CLOCK_MONOTONIC);

		if (transfer(fd, way, size, at) <= 0)
			err(1, "%s", path);
		taken += clock_ns(CLOCK_MONOTONIC) - begin;
	}
	close(fd);
	return taken;
}

static uint64_t read_file(unsigned long size, const char *path)
{
	return transfer_all(size, path, READ);
}

static uint64_t read_vectors(unsigned long size, const char *path)
{
	return transfer_all(size, path, VECTORS);
}

static uint64_t write_file(unsigned long size, const char *path)
{
	return transfer_all(size, path, WRITE);
}

static uint64_t touch_file(unsigned long size, const char *path)
{
	int fd = need_file(open(path, O_RDONLY), path);
	unsigned long end = lseek(fd, 0, SEEK_END);
	volatile char *mapping = need(mmap(NULL, end, PROT_READ, MAP_SHARED, fd, 0));

	/* The mapping has no read-ahead. */
	if (madvise((void *)mapping, end, MADV_RANDOM))
		err(1, "madvise");
	for (unsigned long at = 0; at < end; at += size)
		(void)mapping[at];
	munmap((void *)mapping, end);
	close(fd);
	return 0;
}

static uint64_t read_ahead(unsigned long size, const char *path)
{
	int fd = need_file(open(path, O_RDONLY), path);

	if (posix_fadvise(fd, 0, size, POSIX_FADV_WILLNEED))
		errx(1, "posix_fadvise");
	close(fd);
	return 0;
}

static const struct {
	const char *word;
	uint64_t (*function)(unsigned long n, const char *path);
} commands[] = {
	{ "make", make_files },  { "open", open_files },      { "again", make_files },
	{ "miss", miss_files },  { "rename", rename_files },  { "delete", delete_files },
	{ "calls", calls },      { "sync", sync_file },       { "wait", wait_for_copy },
	{ "read", read_file },   { "vectors", read_vectors }, { "write", write_file },
	{ "touch", touch_file }, { "ahead", read_ahead },
};

int main(void)
{
	char line[4200], word[16], path[4096];
	unsigned long n;

	die_with_parent();
	for (;;) {
		uint64_t taken = UINT64_MAX;

		hear(line, sizeof(line));
		if (sscanf(line, "%15s %lu %4095s", word, &n, path) != 3)
			errx(2, "what is '%s'?", line);
		for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
			if (strcmp(word, commands[i].word) == 0)
				taken = commands[i].function(n, path);
		if (taken == UINT64_MAX)
			errx(2, "what is '%s'?", word);
		snprintf(line, sizeof(line), "{\"ns\": %llu}\n", (unsigned long long)taken);
		say(line);
	}
}
