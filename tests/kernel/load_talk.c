/* SPDX-License-Identifier: MIT */
/*
 * Makes known numbers of sendto and recvfrom on a socket of its own, and other calls beside them.
 *   talk N   N times: a sendto, a recvfrom of it, one that finds nothing and fails, and likewise sendmsg and
 *            recvmsg, write and read, and getppid
 *   fork N   N children, one after the other, that talk once and end
 *   enter PATH  the program itself enters this cgroup
 * Each is answered with "ok" when it is done.
 *
 * load_talk
 */
#include "load.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static struct sockaddr_in own = { .sin_family = AF_INET };

static int own_socket(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t size = sizeof(own);

	own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	own.sin_port = 0;
	if (fd < 0 || bind(fd, (struct sockaddr *)&own, size) ||
	    getsockname(fd, (struct sockaddr *)&own, &size) ||
	    connect(fd, (struct sockaddr *)&own, size))
		err(1, "socket");
	return fd;
}

static void talk(int fd)
{
	char c = 'x';
	struct iovec part = { &c, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (sendto(fd, &c, 1, 0, NULL, 0) != 1 || recvfrom(fd, &c, 1, 0, NULL, NULL) != 1 ||
	    recvfrom(fd, &c, 1, MSG_DONTWAIT, NULL, NULL) != -1 || sendmsg(fd, &message, 0) != 1 ||
	    recvmsg(fd, &message, 0) != 1 || write(fd, &c, 1) != 1 || read(fd, &c, 1) != 1 ||
	    syscall(SYS_getppid) < 0)
		err(1, "talk");
}

static void fork_one(void)
{
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (pid == 0) {
		talk(own_socket());
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void enter(const char *path)
{
	char procs[700];
	int fd;

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	fd = open(procs, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		err(1, "%s", procs);
	close(fd);
}

int main(void)
{
	int fd = own_socket();
	char line[700], path[512];
	unsigned n;

	die_with_parent();
	for (;;) {
		hear(line, sizeof(line));
		if (sscanf(line, "talk %u", &n) == 1)
			while (n--)
				talk(fd);
		else if (sscanf(line, "fork %u", &n) == 1)
			while (n--)
				fork_one();
		else if (sscanf(line, "enter %511s", path) == 1)
			enter(path);
		else
			errx(2, "what is '%s'?", line);
		say("ok\n");
	}
}
