/* SPDX-License-Identifier: MIT */
/*
 * The ways of load_blocked.c to block on locks, sleep, children, pipes, disks, and files other than sockets.
 */
#ifndef BLOCKING_H
#define BLOCKING_H

#include "load.h"

#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>

#define FILE_SIZE (8 * MIB)
#define LONG_S 1000
#define PAGE 4096

static const char *directory;

static void receive(int fd)
{
	char c;

	recv(fd, &c, 1, 0);
}

static void read_one(int fd)
{
	char c[1024];

	if (fd >= 0)
		(void)!read(fd, c, sizeof(c));
}

static void fill(int fd)
{
	static char c[65536];

	while (write(fd, c, sizeof(c)) > 0)
		;
}

static char *path(const char *name)
{
	char *text;

	if (asprintf(&text, "%s/%s", directory, name) < 0)
		err(1, "asprintf");
	return text;
}

/* --- locks, sleep and the like --- */

static void by_futex(void)
{
	uint32_t word = 0;

	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void by_futex_timed(void)
{
	struct timespec t = { .tv_sec = LONG_S };
	uint32_t word = 0;

	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
}

static struct timespec long_after(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_sec += LONG_S;
	return t;
}

static void by_condition_timed(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	struct timespec t = long_after(CLOCK_REALTIME);

	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&condition, &mutex, &t);
}

static void by_futex_waitv(void)
{
	static uint32_t word;
	struct futex_waitv wait = { .uaddr = (uintptr_t)&word, .flags = FUTEX_32 };
	struct timespec t = long_after(CLOCK_MONOTONIC);

	syscall(SYS_futex_waitv, &wait, 1, 0, &t, CLOCK_MONOTONIC);
}

static void *pause_ever(void *argument)
{
	prctl(PR_SET_NAME, "paused");
	pause();
	return argument;
}

static void by_join(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, pause_ever, NULL))
		err(1, "pthread_create");
	pthread_join(thread, NULL);
}

static int file_opened(const char *name)
{
	int fd = open(path(name), O_RDWR | O_CREAT, 0600);

	if (fd < 0)
		err(1, "%s", name);
	return fd;
}

static void by_flock(void)
{
	flock(file_opened("flock"), LOCK_EX);
	flock(file_opened("flock"), LOCK_EX);
}

static void by_fcntl(void)
{
	struct flock lock = { .l_type = F_WRLCK };

	fcntl(file_opened("fcntl"), F_OFD_SETLKW, &lock);
	fcntl(file_opened("fcntl"), F_OFD_SETLKW, &lock);
}

static void by_semop(void)
{
	struct sembuf down = { .sem_op = -1 };

	semop(semget(IPC_PRIVATE, 1, 0600), &down, 1);
}

static void by_semop_timed(void)
{
	struct sembuf down = { .sem_op = -1 };
	struct timespec t = { .tv_sec = LONG_S };

	syscall(SYS_semtimedop, semget(IPC_PRIVATE, 1, 0600), &down, 1, &t);
}

static void by_nanosleep(void)
{
	sleep_ns(1000000000000ULL);
}

static void by_clock_nanosleep(void)
{
	struct timespec t = { .tv_sec = 1000 };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static void by_poll_none(void)
{
	poll(NULL, 0, 1000000);
}

static void by_select_none(void)
{
	struct timeval t = { .tv_sec = 1000 };

	select(0, NULL, NULL, NULL, &t);
}

static void by_poll_pause(void)
{
	poll(NULL, 0, -1);
}

static void by_pause(void)
{
	pause();
}

static void by_signal_wait(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigwaitinfo(&set, NULL);
}

static void by_mq(void)
{
	char message[64];
	struct mq_attr attributes = { .mq_maxmsg = 1, .mq_msgsize = sizeof(message) };
	mqd_t queue = mq_open("/blocked", O_CREAT | O_RDONLY, 0600, &attributes);

	mq_receive(queue, message, sizeof(message), NULL);
}

static void by_msgrcv(void)
{
	long message[2];

	msgrcv(msgget(IPC_PRIVATE, 0600), message, sizeof(long), 0, 0);
}

/* --- children --- */

/* A child that stays, with this as its standard output. */
static pid_t make_child(int output)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	die_with_parent();
	prctl(PR_SET_NAME, "blocked_child");
	dup2(output, 1);
	pause();
	_exit(0);
}

static void by_wait(void)
{
	waitpid(make_child(1), NULL, 0);
}

static void by_waitid(void)
{
	waitid(P_PID, make_child(1), NULL, WEXITED);
}

static void by_vfork(void)
{
	if (vfork() == 0) {
		prctl(PR_SET_NAME, "blocked_child");
		pause();
		_exit(0);
	}
}

/* A child that stops itself, in the same way as a thread. */
static void by_stop(void)
{
	if (fork() == 0) {
		die_with_parent();
		raise(SIGSTOP);
	}
	prctl(PR_SET_NAME, "parent");
	by_futex();
}

static void by_trace(void)
{
	if (fork() == 0) {
		die_with_parent();
		ptrace(PTRACE_TRACEME);
		raise(SIGUSR1);
	}
	prctl(PR_SET_NAME, "parent");
	by_futex();
}

/* A process that has been stopped meanwhile. */
static void restarted(void (*block)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		die_with_parent();
		block();
	}
	prctl(PR_SET_NAME, "parent");
	sleep_ns(300000000);
	kill(pid, SIGSTOP);
	waitpid(pid, NULL, WUNTRACED);
	kill(pid, SIGCONT);
	by_futex();
}

static void by_nanosleep_again(void)
{
	restarted(by_nanosleep);
}

static void by_futex_again(void)
{
	restarted(by_futex_timed);
}

/* The test freezes it. */
static void by_freezer(void)
{
	if (fork() == 0) {
		die_with_parent();
		by_nanosleep();
	}
	prctl(PR_SET_NAME, "parent");
	by_futex();
}

/* --- pipes and other files --- */

static void by_pipe(void)
{
	int fd[2];

	(void)!pipe(fd);
	read_one(fd[0]);
}

static void by_full_pipe(void)
{
	int fd[2];

	(void)!pipe(fd);
	fill(fd[1]);
}

static void by_fifo(void)
{
	if (mkfifo(path("fifo"), 0600))
		err(1, "mkfifo");
	read_one(file_opened("fifo"));
}

static void by_socketpair(void)
{
	int fd[2];

	socketpair(AF_UNIX, SOCK_STREAM, 0, fd);
	receive(fd[0]);
}

static void by_eventfd(void)
{
	read_one(eventfd(0, 0));
}

static void by_timerfd(void)
{
	struct itimerspec t = { .it_value = { .tv_sec = 1000 } };
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);

	timerfd_settime(fd, 0, &t, NULL);
	read_one(fd);
}

static int signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return signalfd(-1, &set, 0);
}

static void by_signalfd(void)
{
	read_one(signals());
}

static void by_inotify(void)
{
	read_one(inotify_init1(0));
}

static void by_tty(void)
{
	int master, slave;

	if (openpty(&master, &slave, NULL, NULL, NULL))
		err(1, "openpty");
	read_one(slave);
}

/* --- disk and memory --- */

static int big_file(const char *name, int flags)
{
	static char content[PAGE] = { 1 };
	int fd = file_opened(name);

	for (size_t i = 0; i < FILE_SIZE; i += PAGE)
		if (write(fd, content, PAGE) != PAGE)
			err(1, "%s", name);
	fsync(fd);
	close(fd);
	return open(path(name), O_RDWR | flags);
}

static void by_fsync(void)
{
	int fd = file_opened("fsync");

	for (;;) {
		(void)!pwrite(fd, "x", 1, 0);
		fsync(fd);
	}
}

static void by_direct(void)
{
	int fd = big_file("direct", O_DIRECT);
	void *page =
		need(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

	if (fd < 0)
		prctl(PR_SET_NAME, "no_direct");
	for (uint64_t i = 0; fd >= 0; i++)
		(void)!pread(fd, page, PAGE, i * 37 * PAGE % FILE_SIZE);
	by_futex();
}

/* Maps pages of a file that are no longer in the page cache. */
static void by_fault(void)
{
	int fd = big_file("fault", 0);
	volatile char *at = need(mmap(NULL, FILE_SIZE, PROT_READ, MAP_SHARED, fd, 0));

	madvise((void *)at, FILE_SIZE, MADV_RANDOM);
	for (;;) {
		madvise((void *)at, FILE_SIZE, MADV_DONTNEED);
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		for (size_t i = 0; i < FILE_SIZE; i += PAGE)
			(void)at[i];
	}
}

#endif
