/* SPDX-License-Identifier: MIT */
/*
 * Processes, threads and signals in known numbers, on request:
 *   code N CODE           N children end with CODE
 *   vfork N CODE          N children by vfork execute this program, which ends with CODE
 *   thread_exec N CODE    likewise, by fork, from a thread that is not the leader
 *   absent N              N children try to execute what is not there, and end with 127
 *   threads N             N threads, one after the other
 *   race N                N children end as both of their threads do so by themselves at once
 *   leader N CODE         N children whose leader ends before a thread ends the process with CODE
 *   signal N SIGNAL       N children that wait, and are ended by this signal
 *   group N SIGNAL        a group of N children, likewise, by one call
 *   crash N               N children that use memory which is not there
 *   send N SIGNAL PID     a signal N times, each one queued
 * Each is answered with what wait4(2) said of its children, how many signals have come until now, and,
 * of children one after the other, how long it was from before each was made until it was reaped:
 * {"done", "failed", "signaled", "handled", "brief", "lived_ns"}; "done" is how many ended with 0, "brief"
 * for how many that was less than BRIEF_NS, "lived_ns" all of it.
 *
 * load_ends PATH [CODE]: PATH is what is executed, with CODE it ends with that at once.
 */
#include "load.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#define SPINS 10000 /* some 10 us */
#define RACERS 2    /* with few CPUs, more threads would not run simultaneously */

#define BRIEF_NS 1500000

struct counts {
	unsigned long ended[3]; /* with 0, with another code, by a signal */
	unsigned long brief;
	uint64_t lived_ns;
};

static volatile sig_atomic_t handled;
static const char *path;
static char code_text[16];
static unsigned long code;
static int racers;

static void handle(int number)
{
	(void)number;
	handled++;
}

/* While a signal is pending, further ones are merged into it. Ignored signals can become pending, too:
 * fork() of glibc 2.41 blocks all signals for a moment. */
static void keep_pending(int number)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), number);
}

static void execute(const char *program)
{
	execl(program, program, path, code_text, NULL);
	_exit(127);
}

static void *execute_in_thread(void *unused)
{
	(void)unused;
	execute(path);
	return NULL;
}

static void *end_thread(void *unused)
{
	(void)unused;
	__atomic_add_fetch(&racers, 1, __ATOMIC_SEQ_CST);
	/* If other processes use the CPUs, the other thread may not run at all meanwhile. */
	for (unsigned spin = 1; __atomic_load_n(&racers, __ATOMIC_SEQ_CST) < RACERS; spin++)
		if (spin % SPINS == 0)
			sched_yield();
	syscall(SYS_exit, 0);
	return NULL;
}

static void *end_process(void *unused)
{
	(void)unused;
	sleep_ns(2000000);
	_exit(code);
}

static void *nothing(void *unused)
{
	return unused;
}

static void thread(void *(*function)(void *))
{
	pthread_t made;

	if (pthread_create(&made, NULL, function, NULL))
		errx(1, "pthread_create");
	if (function == nothing)
		pthread_join(made, NULL);
}

static void crash(void)
{
	struct rlimit none = { 0, 0 };
	int *volatile nowhere = NULL;

	setrlimit(RLIMIT_CORE, &none);
	signal(SIGSEGV, SIG_DFL);
	*(volatile int *)nowhere = 0;
}

static void race(void)
{
	for (int i = 1; i < RACERS; i++)
		thread(end_thread);
	end_thread(NULL);
}

/* The work of a child; does not return. */
static void live(const char *word)
{
	if (!strcmp(word, "code"))
		_exit(code);
	else if (!strcmp(word, "absent"))
		execute("/absent");
	else if (!strcmp(word, "thread_exec"))
		thread(execute_in_thread);
	else if (!strcmp(word, "race"))
		race();
	else if (!strcmp(word, "crash"))
		crash();
	else if (!strcmp(word, "leader")) {
		thread(end_process);
		syscall(SYS_exit, 0);
	}
	for (;;)
		pause();
}

static pid_t child(const char *word)
{
	pid_t pid = !strcmp(word, "vfork") ? vfork() : fork();

	if (pid < 0)
		err(1, "fork");
	if (pid)
		return pid;
	if (!strcmp(word, "vfork"))
		execute(path);
	die_with_parent();
	live(word);
	_exit(1);
}

/* The result of the next child; false if there is none. */
static int reap(struct counts *counts)
{
	int status;

	if (waitpid(-1, &status, 0) < 0)
		return 0;
	counts->ended[WIFSIGNALED(status) ? 2 : WEXITSTATUS(status) ? 1 : 0]++;
	return 1;
}

static void respond(struct counts *counts)
{
	char line[256];

	while (reap(counts))
		;
	snprintf(line, sizeof(line),
		 "{\"done\": %lu, \"failed\": %lu, \"signaled\": %lu, \"handled\": %d, "
		 "\"brief\": %lu, \"lived_ns\": %llu}\n",
		 counts->ended[0], counts->ended[1], counts->ended[2], (int)handled, counts->brief,
		 (unsigned long long)counts->lived_ns);
	say(line);
}

static void each(const char *word, unsigned long n, struct counts *counts)
{
	while (n--) {
		uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), ns;
		pid_t pid;

		if (!strcmp(word, "threads")) {
			thread(nothing);
			continue;
		}
		pid = child(word);
		if (!strcmp(word, "signal") && kill(pid, code))
			err(1, "kill");
		reap(counts);
		ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
		counts->brief += ns < BRIEF_NS;
		counts->lived_ns += ns;
	}
}

static void group(unsigned long n, int number)
{
	pid_t first = 0;

	while (n--) {
		pid_t pid = child("group");

		setpgid(pid, first);
		if (!first)
			first = pid;
	}
	if (kill(-first, number))
		err(1, "kill");
}

static void sends(unsigned long n, int number, pid_t pid)
{
	union sigval value = { 0 };

	while (n--)
		while (sigqueue(pid, number, value))
			sleep_ns(1000000);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
	char line[128], word[32];
	unsigned long n;
	int pid = 0;

	if (argc < 2)
		errx(2, "usage: load_ends PATH [CODE]");
	if (argc > 2)
		return atoi(argv[2]);
	path = argv[1];
	die_with_parent();
	keep_pending(SIGCHLD);
	sigaction(SIGRTMIN, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (;;) {
		struct counts counts = { 0 };

		code = 0;
		if (sscanf(hear(line, sizeof(line)), "%31s %lu %lu %d", word, &n, &code, &pid) < 2)
			errx(2, "what is '%s'?", line);
		snprintf(code_text, sizeof(code_text), "%lu", code);
		if (!strcmp(word, "send"))
			sends(n, code, pid);
		else if (!strcmp(word, "group"))
			group(n, code);
		else
			each(word, n, &counts);
		respond(&counts);
	}
}
