/* SPDX-License-Identifier: MIT */
/*
 * Names of containers that are kept: when the files of runtimes are read again, and what becomes of
 * names that change, come late or vanish. Files and the clock are played.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/state.h"

#include "plugin/cgroup/container_names.h"
#include "plugin/cgroup/user.h"
#include "plugin/cgroup/state.h"
#include "plugin/util/clock.h"

#include <errno.h>
#include <stdlib.h>

#define ID_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ID_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define DOCKER "/var/lib/docker/containers/"
#define LIST "/var/lib/containers/storage/vfs-containers/containers.json"
#define MOVED "/var/snap/docker/common/var-lib-docker/containers/"

static struct played_file {
	const char *path;
	char text[512];
	uint64_t version; /* 0: there is none */
} played[] = {
	{ .path = DOCKER ID_A "/config.v2.json" },
	{ .path = DOCKER ID_B "/config.v2.json" },
	{ .path = LIST },
	{ .path = MOVED ID_A "/config.v2.json" },
};

enum { FILE_A, FILE_B, FILE_LIST, FILE_MOVED };

static uint64_t now_ns;
static unsigned requests, reads;
static bool silent;                  /* no file answers */
static void (*at_request)(unsigned); /* with the number of the request */
static struct container_names names;
static struct users users = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Replace the functions of the libraries. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now);
int __wrap_file_read(struct file_helper *helper, const struct file_request *request,
		     struct file *ret_file);

int __wrap_clock_gettime(__attribute__((unused)) clockid_t clock, struct timespec *ret_now)
{
	ret_now->tv_sec = (time_t)(now_ns / NS_PER_S);
	ret_now->tv_nsec = (long)(now_ns % NS_PER_S);
	return 0;
}

static int play_file(const struct played_file *file, const struct file_request *request,
		     struct file *ret_file)
{
	struct file_stamp stamp = { .inode = file->version };
	int status;

	if (!memcmp(&stamp, &request->unless, sizeof(stamp)))
		return -EALREADY;
	reads++;
	status = recorded_text(request, strdup(file->text), strlen(file->text), ret_file);
	ret_file->stamp = stamp;
	return status;
}

static int play_directory(const char *path, struct file *ret_file)
{
	static const char *const directories[][2] = {
		{ "/var/lib/docker", "containers" },
		{ "/var/lib/containers/storage", "vfs-containers" },
		{ "/var/snap/docker/common/var-lib-docker", "containers" },
	};

	for (size_t i = 0; i < COUNT_OF(directories); i++)
		if (!strcmp(path, directories[i][0])) {
			*ret_file = (struct file){ .bytes = strdup(directories[i][1]),
						   .size = strlen(directories[i][1]) + 1 };
			return 0;
		}
	return -ENOENT;
}

int __wrap_file_read(__attribute__((unused)) struct file_helper *helper,
		     const struct file_request *request, struct file *ret_file)
{
	requests++;
	if (at_request)
		at_request(requests);
	if (request->is_directory)
		return play_directory(request->path, ret_file);
	if (silent)
		return -ETIMEDOUT;
	for (size_t i = 0; i < COUNT_OF(played); i++)
		if (played[i].version && !strcmp(request->path, played[i].path))
			return play_file(&played[i], request, ret_file);
	return -ENOENT;
}

static void write_docker(int file, const char *name)
{
	snprintf(played[file].text, sizeof(played[file].text), "{\"Name\":\"/%s\"}", name);
	played[file].version++;
}

static void write_list(const char *a, const char *b)
{
	snprintf(played[FILE_LIST].text, sizeof(played[FILE_LIST].text),
		 "[{\"id\":\"" ID_A "\",\"names\":[\"%s\"]},{\"id\":\"" ID_B
		 "\",\"names\":[\"%s\"]}]",
		 a, b);
	played[FILE_LIST].version++;
}

static void start(void)
{
	for (size_t i = 0; i < COUNT_OF(played); i++)
		played[i].version = 0;
	silent = false;
	at_request = NULL;
	requests = reads = 0;
	now_ns = 1000 * NS_PER_S;
	container_names_init(&names, &users);
}

static const char *name_of(enum group_kind kind, const char *id)
{
	static struct container container;
	struct group_key key = { .kind = kind };

	memcpy(key.text, id, GROUP_ID_LENGTH);
	switch (container_name(&names, &key, NULL, &container)) {
	case 0:
		return container.name;
	case -EAGAIN:
		return "(again)";
	default:
		return "(none)";
	}
}

/* So long after the last check. Returns how many rounds begin. */
static unsigned check_after(unsigned seconds)
{
	uint32_t round = names.round;

	now_ns += seconds * NS_PER_S;
	requests = reads = 0;
	container_names_refresh(&names, NULL);
	return names.round - round;
}

static void test_docker(void)
{
	CASE("docker");
	start();
	write_docker(FILE_A, "web");
	for (int i = 0; i < 3; i++)
		CHECK_TEXT(name_of(GROUP_DOCKER, ID_A), "web");
	CHECK_UINT(reads, 1);
	check_after(0);
	CASE("docker, nothing has changed");
	CHECK_UINT(check_after(10), 0);
	CHECK_UINT(requests, 1);
	CHECK_UINT(reads, 0);
	CASE("docker, written without a change");
	write_docker(FILE_A, "web");
	CHECK_UINT(check_after(10), 0);
	CHECK_UINT(reads, 1);
	CASE("docker, renamed; not checked yet");
	write_docker(FILE_A, "shop");
	CHECK_UINT(check_after(0), 0);
	CHECK_UINT(requests, 0);
	CHECK_TEXT(name_of(GROUP_DOCKER, ID_A), "web");
	CASE("docker, renamed");
	CHECK_UINT(check_after(10), 1);
	CHECK_UINT(reads, 1);
	CHECK_TEXT(name_of(GROUP_DOCKER, ID_A), "shop");
	CASE("docker, half of the file is written");
	strcpy(played[FILE_A].text, "{\"Na");
	played[FILE_A].version++;
	CHECK_UINT(check_after(10), 0);
	CHECK_TEXT(name_of(GROUP_DOCKER, ID_A), "shop");
	container_names_done(&names);
}

/* A list is asked for once, whoever is in it. */
static void test_list(void)
{
	CASE("podman");
	start();
	write_list("web", "web-new");
	CHECK_TEXT(name_of(GROUP_PODMAN, ID_A), "web");
	CASE("podman, renamed before the other one is asked for");
	write_list("web-old", "web");
	CHECK_TEXT(name_of(GROUP_PODMAN, ID_B), "web");
	CHECK_UINT(check_after(10), 1);
	CHECK_TEXT(name_of(GROUP_PODMAN, ID_A), "web-old");
	CASE("podman, nothing has changed");
	CHECK_UINT(check_after(10), 0);
	CHECK_UINT(requests, 1);
	CHECK_UINT(reads, 0);
	CASE("podman, both are renamed");
	write_list("a", "b");
	CHECK_UINT(check_after(10), 1);
	CHECK_UINT(reads, 1);
	CHECK_TEXT(name_of(GROUP_PODMAN, ID_A), "a");
	CHECK_TEXT(name_of(GROUP_PODMAN, ID_B), "b");
	container_names_done(&names);
}

/* After the check of A, A makes way and B takes its name. */
static void swap(unsigned request)
{
	if (request != 2)
		return;
	write_docker(FILE_A, "web-old");
	write_docker(FILE_B, "web");
}

static void test_swap(void)
{
	CASE("swapped during a check");
	start();
	write_docker(FILE_A, "web");
	write_docker(FILE_B, "web-new");
	CHECK_TEXT(name_of(GROUP_DOCKER, ID_A), "web");
	CHECK_TEXT(name_of(GROUP_DOCKER, ID_B), "web-new");
	at_request = swap;
	CHECK_UINT(check_after(10), 1);
	CHECK_TEXT(name_of(GROUP_DOCKER, ID_A), "web-old");
	CHECK_TEXT(name_of(GROUP_DOCKER, ID_B), "web");
	container_names_done(&names);
}

/* Searched for again after a quarter of the time that it has had no file, at most a minute. */
static void test_late(void)
{
	unsigned searches = 0;

	CASE("no file has it");
	start();
	CHECK_TEXT(name_of(GROUP_DOCKER, ID_A), "(none)");
	for (int i = 0; i < 120; i++) {
		CHECK_UINT(check_after(10), i % 6 == 5);
		searches += requests > 0;
		CHECK_TEXT(name_of(GROUP_DOCKER, ID_A), "(none)");
	}
	CHECK_INT(searches >= 24 && searches <= 28, 1);
	CASE("its state is written late");
	write_docker(FILE_A, "web");
	CHECK_UINT(check_after(60), 1);
	CHECK_TEXT(name_of(GROUP_DOCKER, ID_A), "web");
	CASE("its file is gone");
	played[FILE_A].version = 0;
	check_after(10);
	CHECK_TEXT(name_of(GROUP_DOCKER, ID_A), "web");
	CASE("its file is elsewhere");
	write_docker(FILE_MOVED, "moved");
	CHECK_UINT(check_after(10), 1);
	CHECK_TEXT(name_of(GROUP_DOCKER, ID_A), "moved");
	container_names_done(&names);
}

static void test_silent(void)
{
	CASE("no file answers");
	start();
	silent = true;
	write_docker(FILE_A, "web");
	CHECK_TEXT(name_of(GROUP_DOCKER, ID_A), "(again)");
	CHECK_UINT(check_after(1), 0);
	CHECK_TEXT(name_of(GROUP_DOCKER, ID_A), "(again)");
	CHECK_UINT(check_after(1), 1);
	CHECK_TEXT(name_of(GROUP_DOCKER, ID_A), "(none)");
	CASE("a file answers at last");
	silent = false;
	CHECK_UINT(check_after(20), 1);
	CHECK_TEXT(name_of(GROUP_DOCKER, ID_A), "web");
	CASE("a file that has answered no longer does");
	silent = true;
	check_after(20);
	CHECK_TEXT(name_of(GROUP_DOCKER, ID_A), "web");
	container_names_done(&names);
}

static void test_forgotten(void)
{
	CASE("nobody asks for it");
	start();
	write_docker(FILE_A, "web");
	write_docker(FILE_B, "shop");
	name_of(GROUP_DOCKER, ID_A);
	for (int i = 0; i < 30; i++) {
		check_after(10);
		name_of(GROUP_DOCKER, ID_B);
	}
	CHECK_UINT(requests, 1);
	CHECK_UINT(names.count, 1);
	container_names_done(&names);
}

static void test_full(void)
{
	char id[sizeof(ID_A)];

	CASE("more than there is room for");
	start();
	for (int i = 0; i < CONTAINER_NAMES_MAX; i++) {
		snprintf(id, sizeof(id), "%064x", i);
		name_of(GROUP_DOCKER, id);
	}
	write_docker(FILE_A, "web");
	CHECK_TEXT(name_of(GROUP_DOCKER, ID_A), "web");
	write_docker(FILE_A, "shop");
	CHECK_TEXT(name_of(GROUP_DOCKER, ID_A), "shop");
	silent = true;
	CHECK_TEXT(name_of(GROUP_DOCKER, ID_A), "(none)");
	CHECK_UINT(names.count, CONTAINER_NAMES_MAX);
	container_names_done(&names);
}

int main(void)
{
	if (!state_is_readable())
		return testing_end();
	test_docker();
	test_list();
	test_swap();
	test_late();
	test_silent();
	test_forgotten();
	test_full();
	return testing_end();
}
