/* SPDX-License-Identifier: MIT */
/*
 * Names of cgroups: what a look-up and a refresh do. Directories of the test play the cgroups, and
 * handles of the kernel are their numbers.
 */
#include "tests/unit/scratch_directory.h"
#include "tests/unit/testing.h"

#include "plugin/cgroup/cgroup_name.h"
#include "plugin/config/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define ROOT 1
#define WEB 2
#define WORK 3
#define REMOVED 4
#define CROWD 1000 /* the first number of many */
#define CROWD_SIZE (3 * CGROUP_NAMES_MAX)

static const char *const cgroups[] = {
	[ROOT] = ".", [WEB] = "web.slice", [WORK] = "web.slice/work"
};

static struct cgroup_names names;
static bool is_mounted = true;
static unsigned root_opens, opens; /* since the start */

int __wrap_cgroup_open(const char *mounts, const char *controller, bool *ret_is_v1);
int __wrap_open_by_handle_at(int mount, struct file_handle *handle, int flags);

static void check_unlocked(void)
{
	int status = pthread_mutex_trylock(&names.lock);

	CHECK_INT(status, 0);
	if (status == 0)
		pthread_mutex_unlock(&names.lock);
}

int __wrap_cgroup_open(const char *mounts, const char *controller, bool *ret_is_v1)
{
	CHECK_TEXT(mounts, "/proc/self/mounts");
	CHECK_INT(controller == NULL, 1);
	check_unlocked();
	root_opens++;
	*ret_is_v1 = false;
	return is_mounted ? open(scratch, O_PATH | O_DIRECTORY | O_CLOEXEC) : -ENODEV;
}

int __wrap_open_by_handle_at(int mount, struct file_handle *handle, int flags)
{
	uint64_t id;

	check_unlocked();
	opens++;
	memcpy(&id, handle->f_handle, sizeof(id));
	if (id < COUNT_OF(cgroups))
		return openat(mount, cgroups[id], flags);
	errno = ESTALE;
	return -1;
}

static void check_found(uint64_t id, const char *want)
{
	char name[64] = "";

	CHECK_INT(cgroup_name(&names, id, name, sizeof(name)), NAME_FOUND);
	CHECK_TEXT(name, want);
}

/* A look-up that writes nothing. */
static void check_state(uint64_t id, enum name_state want)
{
	char name[64] = "before";

	CHECK_INT(cgroup_name(&names, id, name, sizeof(name)), want);
	CHECK_TEXT(name, "before");
}

static void test_names(void)
{
	CASE("nothing is requested");
	cgroup_names_refresh(&names);
	CHECK_UINT(root_opens, 0);
	CASE("a look-up opens nothing");
	for (uint64_t id = ROOT; id <= REMOVED; id++)
		check_state(id, NAME_PENDING);
	check_state(WEB, NAME_PENDING);
	CHECK_UINT(root_opens + opens, 0);
	CASE("each cgroup is opened once");
	cgroup_names_refresh(&names);
	check_found(ROOT, "root");
	check_found(WEB, "web.slice");
	check_found(WORK, "web.slice/work");
	check_state(REMOVED, NAME_NONE);
	cgroup_names_refresh(&names);
	check_state(REMOVED, NAME_NONE);
	CHECK_UINT(root_opens, 1);
	CHECK_UINT(opens, 4);
	CASE("the root remains open");
	check_state(REMOVED + 1, NAME_PENDING);
	cgroup_names_refresh(&names);
	check_state(REMOVED + 1, NAME_NONE);
	CHECK_UINT(root_opens, 1);
	CASE("a name remains known when its cgroup is removed");
	CHECK_INT(rmdir(scratch_path("web.slice/work")), 0);
	cgroup_names_refresh(&names);
	check_found(WORK, "web.slice/work");
	CASE("a name that is too long for the caller");
	{
		char name[4];

		CHECK_INT(cgroup_name(&names, WEB, name, sizeof(name)), NAME_FOUND);
		CHECK_TEXT(name, "web");
	}
	cgroup_names_done(&names);
}

static void test_not_mounted(void)
{
	CASE("cgroup2 is not mounted");
	is_mounted = false;
	check_state(WEB, NAME_PENDING);
	cgroup_names_refresh(&names);
	check_state(WEB, NAME_NONE);
	CASE("it is now");
	is_mounted = true;
	check_state(ROOT, NAME_PENDING);
	cgroup_names_refresh(&names);
	check_found(ROOT, "root");
	cgroup_names_done(&names);
}

/* Looks up each number until it is not pending, as a key is looked up until it has a name, and a
 * refresh runs between two rounds. Returns the number of rounds. */
static unsigned find_crowd(void)
{
	static bool is_known[CROWD_SIZE];
	unsigned rounds = 0, known = 0;

	while (known < CROWD_SIZE && rounds < CROWD_SIZE) {
		unsigned opens_before = opens;

		for (unsigned i = 0; i < CROWD_SIZE; i++)
			if (!is_known[i] && cgroup_name(&names, CROWD + i, NULL, 0) != NAME_PENDING)
				is_known[i] = ++known;
		cgroup_names_refresh(&names);
		CHECK_INT(opens - opens_before <= CGROUP_NAMES_MAX, 1);
		rounds++;
	}
	CHECK_UINT(known, CROWD_SIZE);
	return rounds;
}

static void test_crowd(void)
{
	unsigned opens_before = opens, known = 0;

	CASE("more cgroups than the table has entries");
	check_state(WEB, NAME_PENDING);
	cgroup_names_refresh(&names);
	CHECK_INT(find_crowd() < 8, 1);
	CHECK_UINT(opens - opens_before, CROWD_SIZE + 1);
	CASE("the oldest were replaced");
	check_state(WEB, NAME_PENDING);
	check_state(CROWD, NAME_PENDING);
	for (unsigned i = CROWD_SIZE; i > 0; i--)
		known += cgroup_name(&names, CROWD + i - 1, NULL, 0) == NAME_NONE;
	CHECK_INT(known > CGROUP_NAMES_MAX / 2 && known < CGROUP_NAMES_MAX, 1);
	cgroup_names_done(&names);
}

static void test_used(void)
{
	CASE("a name in use is not replaced");
	check_state(WEB, NAME_PENDING);
	cgroup_names_refresh(&names);
	for (unsigned i = 0; i < CROWD_SIZE; i++) {
		cgroup_name(&names, CROWD + i, NULL, 0);
		cgroup_names_refresh(&names);
		check_found(WEB, "web.slice");
	}
	cgroup_names_done(&names);
}

int main(void)
{
	scratch_begin();
	CHECK_INT(mkdir(scratch_path("web.slice"), 0700), 0);
	CHECK_INT(mkdir(scratch_path("web.slice/work"), 0700), 0);
	cgroup_names_init(&names);
	test_names();
	test_not_mounted();
	test_crowd();
	test_used();
	scratch_end();
	return testing_end();
}
