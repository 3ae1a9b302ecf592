/* SPDX-License-Identifier: MIT */
/*
 * A thousand readings of all probes, by a clock that advances 10 s between them, while services
 * that serve requests start and exit. (With the address sanitizer a reading takes a second, so
 * there are 100.) At the end there must be as many descriptors as before the first reading, and at
 * least a tenth of the readings must need no more memory than earlier ones. (Other processes of the
 * machine start and exit, too, but not more of them in each tenth.) Needs the right to load BPF
 * programs.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/daemon.h"
#include "tests/unit/fake/oconfig.h"
#include "tests/unit/may_load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__ /* its own memory counts as well */
#define READINGS 100
#define WINDOW 20
#else
#define READINGS 1000
#define WINDOW 100
#endif
#define FIRST (READINGS / 5) /* all tables have grown by then */
#define INTERVAL_S 10
#define AT_ONCE 5   /* services at a time */
#define REQUESTS 20 /* requests to each service */

void module_register(void);

static unsigned readings;
static pid_t services[AT_ONCE];

int __real_clock_gettime(clockid_t clock, struct timespec *ret_now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
	int status = __real_clock_gettime(clock, ret_now);

	ret_now->tv_sec += readings * INTERVAL_S;
	return status;
}

/* Returns at once: as many samples as in a real day, in less time. */
int __wrap_usleep(useconds_t us);
int __wrap_usleep(useconds_t us)
{
	(void)us;
	return 0;
}

static void must(bool fine, const char *what)
{
	if (fine)
		return;
	perror(what);
	exit(1);
}

static int listen_anywhere(struct sockaddr_in *ret_address)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t length = sizeof(*ret_address);

	*ret_address = (struct sockaddr_in){ .sin_family = AF_INET,
					     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	must(fd >= 0 && bind(fd, (void *)ret_address, length) == 0 && listen(fd, 1) == 0 &&
		     getsockname(fd, (void *)ret_address, &length) == 0,
	     "a socket to listen at");
	return fd;
}

/* Answers each byte until it is killed. */
static void serve(unsigned number, int listener)
{
	struct pollfd request = { .events = POLLIN };
	char name[16], byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(name, sizeof(name), "leaks_%u", number);
	prctl(PR_SET_NAME, name);
	request.fd = accept(listener, NULL, NULL);
	while (poll(&request, 1, -1) == 1 && read(request.fd, &byte, 1) == 1)
		if (write(request.fd, &byte, 1) != 1)
			break;
	for (;;)
		pause();
}

static pid_t start_service(unsigned number)
{
	struct sockaddr_in address;
	int listener = listen_anywhere(&address), fd;
	pid_t pid = fork();
	char byte = 0;

	must(pid >= 0, "fork");
	if (pid == 0)
		serve(number, listener);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(fd >= 0 && connect(fd, (void *)&address, sizeof(address)) == 0, "connect");
	for (int i = 0; i < REQUESTS; i++)
		must(write(fd, &byte, 1) == 1 && read(fd, &byte, 1) == 1, "a service's answer");
	close(fd);
	close(listener);
	return pid;
}

static void end_service(pid_t pid)
{
	if (!pid)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void read_all(void)
{
	daemon_clear();
	daemon_now += TIME_T_TO_CDTIME_T(INTERVAL_S);
	readings++;
	for (size_t i = 0; i < daemon_callbacks.read_count; i++)
		daemon_callbacks.read[i].call(&daemon_callbacks.read[i].data);
}

/* The highest use of memory after any of these readings. */
static size_t most_memory(unsigned count)
{
	size_t most = 0;

	for (unsigned i = 0; i < count; i++) {
		pid_t *oldest = &services[readings % AT_ONCE];
		size_t used;

		end_service(*oldest);
		*oldest = start_service(readings);
		read_all();
		CHECK_UINT(daemon_refused(), 0);
		daemon_clear();
		used = mallinfo2().uordblks;
		most = used > most ? used : most;
	}
	return most;
}

/* For tracepoints of system calls. A mount that exists already stays. */
static void mount_tracefs(void)
{
	must(unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0,
	     "a mount namespace");
	mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
}

/* Returns false if the plugin is off, as the log says. */
static bool start(void)
{
	char text[8192];
	oconfig_item_t *block;

	snprintf(text, sizeof(text),
		 "ObjectDirectory \"%s\"\n"
		 "EventFile \"\"\n"
		 "MaxServices 64\n"
		 "ServicesFrom \"commands\"\n"
		 "<Service \"leaks\">\n"
		 "  ProcessMatch \"test_leaks\"\n"
		 "  Process \"leaks_7\"\n"
		 "  PerProcess true\n"
		 "  TopN 2\n"
		 "</Service>\n"
		 "<Probe \"poll\">\n"
		 "  Enable true\n"
		 "  Option \"syscalls\"\n"
		 "</Probe>\n",
		 testing_built("bpf"));
	mount_tracefs();
	block = oconfig_read(text);
	module_register();
	daemon_callbacks.config(block);
	oconfig_free(block);
	daemon_callbacks.init();
	for (size_t i = 0; i < daemon_messages(); i++)
		printf("%s\n", daemon_message(i));
	return daemon_callbacks.read_count != 0;
}

/* Disables the allocator's per-thread caches: freed memory in them counts as in use. */
static void keep_nothing(char **argv)
{
	const char *tunables = "glibc.malloc.tcache_count=0", *have = getenv("GLIBC_TUNABLES");

	if (have && !strcmp(have, tunables))
		return;
	setenv("GLIBC_TUNABLES", tunables, 1);
	execv("/proc/self/exe", argv);
	perror("/proc/self/exe");
}

/* What upkeep may have open at one time and not at another: a sample of run statistics, and a helper
 * that is late. */
#define OPEN_NOW_AND_THEN 2

static unsigned probes_on(void)
{
	unsigned count = 0;

	for (size_t i = 0; i < daemon_messages(); i++)
		count += strstr(daemon_message(i), " is on (hook set ") != NULL;
	return count;
}

int main(int argc, char **argv)
{
	unsigned files, readings_left;
	bool grows = true;
	size_t most;

	(void)argc;
	keep_nothing(argv);
	if (!may_load())
		return TESTING_SKIPPED;
	CASE("start");
	CHECK_INT(start(), 1);
	CASE("these and self are read: %s", PROBES);
	CHECK_UINT(daemon_callbacks.read_count, probes_on() + 1);
	CASE("%u readings", READINGS);
	read_all(); /* starts the thread that waits for events */
	files = testing_open_files();
	most = most_memory(FIRST);
	for (readings_left = READINGS - FIRST; readings_left; readings_left -= WINDOW) {
		size_t now = most_memory(WINDOW);

		printf("bytes: %zu\n", now);
		grows &= now > most;
		most = now > most ? now : most;
	}
	CHECK_INT(grows, false);
	CHECK_INT(testing_open_files() <= files + OPEN_NOW_AND_THEN, true);
	for (size_t i = 0; i < AT_ONCE; i++)
		end_service(services[i]);
	daemon_callbacks.shutdown();
	daemon_clear();
	return testing_end();
}
