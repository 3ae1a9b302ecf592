/* SPDX-License-Identifier: MIT */
/*
 * What it costs to read rows from a text file of the kernel: CPU time of a reading of one file that stays
 * open, of one that is opened for it, and how much of the former is the kernel's; and to find the
 * cgroups of services, of which it makes some.
 *
 * tests/measure/cost/text [READINGS [CGROUPS]]
 */
#include "plugin/cgroup/tree.h"
#include "plugin/config/cgroup.h"
#include "plugin/source/text.h"
#include "plugin/source/text_files.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FIELDS_MAX 4
#define WALKS 50
#define SLICE "collectd_ebpf_bench.slice"

/* A FILE, and FIELDs of it. */
static const struct {
	const char *file, *fields[FIELDS_MAX];
} cases[] = {
	{ "/proc/pressure/io", { "some total", "full total" } },
	{ "cgroup:cpu.pressure", { "some total", "full total" } },
	{ "cgroup:cpu.stat", { "usage_usec", "user_usec", "system_usec" } },
	{ "/proc/loadavg lines", { "1 decimals=2" } },
	{ "/proc/vmstat", { "pgfault", "pgmajfault", "oom_kill" } },
	{ "/proc/net/snmp pairs", { "Tcp RetransSegs", "Udp InDatagrams" } },
	{ "/proc/net/dev lines skip=2", { "1", "2", "10" } },
	{ "/proc/softirqs cells", { "1", "2", "3" } },
	{ "/sys/block/vda/stat lines", { "1", "5" } },
};

static int count(void *to, __attribute__((unused)) const struct text_word *words)
{
	++*(unsigned *)to;
	return 0;
}

static double cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* CPU time of a reading in us. opened: the file is opened for each reading. */
static double measure(struct text_files *files, const struct field_tag *fields, size_t field_count,
		      unsigned readings, bool opened, bool parsed, ssize_t *ret_size,
		      unsigned *ret_rows)
{
	struct text_file *file = &files->file[0];
	struct kernel_text text = { 0 };
	double begin = cpu_us();
	uint64_t inode;

	for (unsigned i = 0; i < readings; i++) {
		int fd = opened ? kernel_directory_open_file(files->root, file->path, &inode) : -1;

		*ret_size = opened ? kernel_text_read(fd, &text, 1 << 20)
				   : text_file_read(files, file, &text, 1 << 20);
		*ret_rows = 0;
		if (*ret_size < 0)
			break;
		if (parsed)
			text_read(files->tag, fields, field_count, text.bytes, (size_t)*ret_size,
				  count, ret_rows);
		if (opened)
			close(fd);
	}
	kernel_text_done(&text);
	return (cpu_us() - begin) / readings;
}

static void print_case(size_t i, unsigned readings)
{
	struct field_tag fields[FIELDS_MAX];
	struct error error = { "" };
	struct text_files files;
	struct file_tag file;
	double open_files, read, opened;
	size_t field_count = 0;
	unsigned rows;
	ssize_t size;

	if (file_tag_parse(cases[i].file, &file, &error))
		errx(1, "%s: %s", cases[i].file, error.text);
	for (; field_count < FIELDS_MAX && cases[i].fields[field_count]; field_count++)
		if (field_tag_parse(cases[i].fields[field_count], &file, &fields[field_count],
				    &error))
			errx(1, "%s: %s", cases[i].file, error.text);
	if (text_files_init(&files, &file, NULL) || text_files_update(&files))
		errx(1, "%s: cannot be found", cases[i].file);
	measure(&files, fields, field_count, 10, false, true, &size, &rows);
	read = measure(&files, fields, field_count, readings, false, false, &size, &rows);
	opened = measure(&files, fields, field_count, readings, true, true, &size, &rows);
	open_files = measure(&files, fields, field_count, readings, false, true, &size, &rows);
	if (size < 0)
		printf("%-30s %s\n", cases[i].file, strerror((int)-size));
	else
		printf("%-30s %6zd %5u %8.1f %8.1f %8.1f\n", cases[i].file, size, rows, open_files,
		       read, opened);
	text_files_done(&files);
}

static int ignore(__attribute__((unused)) void *to, __attribute__((unused)) const char *path,
		  __attribute__((unused)) uint64_t inode,
		  __attribute__((unused)) const struct group_key *key)
{
	++*(unsigned *)to;
	return 0;
}

static double walk_us(int root, unsigned *ret_found)
{
	double begin = cpu_us();

	for (unsigned i = 0; i < WALKS; i++) {
		*ret_found = 0;
		tree_walk(root, ignore, ret_found);
	}
	return (cpu_us() - begin) / WALKS;
}

/* Makes units in a separate slice. */
static void print_walk(unsigned cgroups)
{
	unsigned found, before, made = 0;
	char name[64];
	double none_us, us;
	bool is_v1;
	int root = cgroup_open("/proc/self/mounts", NULL, &is_v1);

	if (root < 0 || mkdirat(root, SLICE, 0755) != 0)
		errx(1, "a walk: cannot make cgroups");
	none_us = walk_us(root, &before);
	for (; made < cgroups; made++) {
		snprintf(name, sizeof(name), SLICE "/unit%u.service", made);
		if (mkdirat(root, name, 0755) != 0)
			break;
	}
	us = walk_us(root, &found);
	printf("\nus of CPU to find %u cgroups: %.1f; %u: %.1f\n", before, none_us, found, us);
	while (made-- > 0) {
		snprintf(name, sizeof(name), SLICE "/unit%u.service", made);
		unlinkat(root, name, AT_REMOVEDIR);
	}
	unlinkat(root, SLICE, AT_REMOVEDIR);
	close(root);
}

int main(int argc, char **argv)
{
	unsigned readings = argc > 1 ? (unsigned)atoi(argv[1]) : 20000;

	printf("%-30s %6s %5s %8s %8s %8s\n", "us of CPU for a reading of", "bytes", "rows", "open",
	       "kernel's", "opened");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		print_case(i, readings);
	print_walk(argc > 2 ? (unsigned)atoi(argv[2]) : 200);
	return 0;
}
