/* SPDX-License-Identifier: MIT */
/*
 * Separate debug files, in the directory where distributions install them.
 */
#ifndef SEPARATE_DEBUG_H
#define SEPARATE_DEBUG_H

#include "named_program.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

static inline bool write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	return file && fputs(text, file) >= 0 && fclose(file) == 0;
}

/* Without privileges it needs a user namespace, too, in which the user id stays the same. */
static inline bool enter_namespace(void)
{
	unsigned uid = geteuid(), gid = getegid();
	char users[64], groups[64];

	if (uid == 0)
		return unshare(CLONE_NEWNS) == 0;
	snprintf(users, sizeof(users), "%u %u 1", uid, uid);
	snprintf(groups, sizeof(groups), "%u %u 1", gid, gid);
	return unshare(CLONE_NEWNS | CLONE_NEWUSER) == 0 &&
	       write_text("/proc/self/uid_map", users) &&
	       write_text("/proc/self/setgroups", "deny") &&
	       write_text("/proc/self/gid_map", groups);
}

/* Mounts a directory for separate debug files, which only this process sees. */
static inline bool separate_debug_mount(void)
{
	mkdir("/usr/lib/debug", 0755); /* Debian 13 installs without it */
	return enter_namespace() && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("none", "/usr/lib/debug", "tmpfs", 0, NULL) == 0;
}

/* Installs a file as the one with this build ID. */
static inline void separate_debug_put(const char *file, const char *build_id)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "mkdir -p /usr/lib/debug/.build-id/%.2s &&"
		 "cp %s /usr/lib/debug/.build-id/%.2s/%s.debug",
		 build_id, file, build_id, build_id + 2);
	if (!named_run(command))
		abort();
}

/* The build ID as readelf(1) prints it. */
static inline void named_build_id(const char *program, char text[41])
{
	FILE *said = named_say("readelf -n %s | sed -n 's/.*Build ID: //p'", program);

	if (!fgets(text, 41, said))
		abort();
	pclose(said);
}

#endif
