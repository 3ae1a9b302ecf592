/* SPDX-License-Identifier: MIT */
/*
 * Paths of cgroups as administrators write them: with and without the mount point, with superfluous
 * slashes; and paths that no cgroup can have.
 */
#include "tests/unit/testing.h"

#include "plugin/config/cgroup.h"

#include <stdlib.h>
#include <unistd.h>

#define X20 "0123456789abcdefghij"
#define X120 X20 X20 X20 X20 X20 X20
#define X122 X120 "ab"
#define DEEP15 "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o"

static const char UNIFIED[] = "proc /proc proc rw 0 0\n"
			      "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n"
			      "tmpfs /run tmpfs rw 0 0\n";
static const char HYBRID[] = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\n"
			     "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n"
			     "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu,cpuacct 0 0\n"
			     "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
static const char TWICE[] = "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"
			    "none /run/my\\040cgroups cgroup2 rw 0 0\n";
static const char NOWHERE[] = "proc /proc proc rw 0 0\n";

static const struct {
	const char *mounts, *text;
	const char *want;     /* the path; NULL: refused */
	const char *want_why; /* if it is refused */
} CASES[] = {
	{ UNIFIED, "system.slice/nginx.service", "system.slice/nginx.service", NULL },
	{ UNIFIED, "/system.slice//nginx.service/", "system.slice/nginx.service", NULL },
	{ UNIFIED, "/sys/fs/cgroup/system.slice/x", "system.slice/x", NULL },
	{ UNIFIED, "/sys/fs/cgroup/unified/x", "unified/x", NULL },
	{ UNIFIED, "/sys/fs/cgroup", NULL, "the root cgroup holds every process" },
	{ UNIFIED, "/sys/fs/cgroup/", NULL, "the root cgroup holds every process" },
	{ UNIFIED, "/sys/fs/cgroups/x", NULL, "cgroup2 is mounted at /sys/fs/cgroup; give" },
	{ UNIFIED, "sys/fs/cgroup/x", "sys/fs/cgroup/x", NULL },
	{ UNIFIED, "/system", "system", NULL },
	{ HYBRID, "/sys/fs/cgroup/unified/x/y", "x/y", NULL },
	{ HYBRID, "/sys/fs/cgroup/memory/x", "x", NULL },
	{ HYBRID, "/sys/fs/cgroup/cpu/x", NULL, "cgroup2 is mounted at /sys/fs/cgroup/unified; " },
	{ HYBRID, "/sys/fs/cgroup/x", NULL, "give the path below that" },
	{ TWICE, "/run/my cgroups/x", "x", NULL },
	{ TWICE, "/sys/fs/cgroup/x", "x", NULL },
	{ NOWHERE, "/sys/fs/cgroup/x", "x", NULL },
	{ NOWHERE, "/sys/fs/cgroup/unified/x", "x", NULL },
	{ NULL, "/sys/fs/cgroup/x", "x", NULL },
	{ NULL, "x", "x", NULL },
	{ UNIFIED, "", NULL, "the root cgroup" },
	{ UNIFIED, "//", NULL, "the root cgroup" },
	{ UNIFIED, "../x", NULL, "a cgroup is not called \"..\"" },
	{ UNIFIED, "x/../y", NULL, "a cgroup is not called \"..\"" },
	{ UNIFIED, "./x", NULL, "a cgroup is not called \".\"" },
	{ UNIFIED, "x/.", NULL, "a cgroup is not called \".\"" },
	{ UNIFIED, "...", "...", NULL },
	{ UNIFIED, ".x", ".x", NULL },
	{ UNIFIED, "php@*.service", NULL,
	  "it takes one path, without wildcards; Unit and Container take some" },
	{ UNIFIED, "x/" X122 "/y", "x/" X122 "/y", NULL },
	{ UNIFIED, "x/" X122 "c/y", NULL, "its part \"" X20 "...\" has more than 122 bytes" },
	{ UNIFIED, DEEP15 "/p", DEEP15 "/p", NULL },
	{ UNIFIED, DEEP15 "/p/q", NULL, "it is deeper than 16 cgroups" },
};

static const char *write_mounts(const char *text)
{
	static char path[] = "/tmp/test_cgroup.XXXXXX";
	int fd;

	strcpy(path + strlen(path) - 6, "XXXXXX");
	fd = mkstemp(path);
	if (fd < 0 || write(fd, text, strlen(text)) < 0 || close(fd) != 0)
		abort();
	return path;
}

int main(void)
{
	for (size_t i = 0; i < COUNT_OF(CASES); i++) {
		const char *mounts = CASES[i].mounts ? write_mounts(CASES[i].mounts) : "/none";
		char path[512] = "", why[128] = "";

		CASE("%.60s", CASES[i].text);
		CHECK_INT(cgroup_path(CASES[i].text, mounts, path, why, sizeof(why)),
			  CASES[i].want != NULL);
		if (CASES[i].want)
			CHECK_TEXT(path, CASES[i].want);
		else
			CHECK_HAS(why, CASES[i].want_why);
		unlink(mounts);
	}
	return testing_end();
}
