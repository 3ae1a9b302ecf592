/* SPDX-License-Identifier: MIT */
/*
 * Uses CPU in functions of known shares, in two threads, until its input ends: share_10() to share_40() go 10, 20, 30 and
 * 40 percent of all rounds of one and the same loop.
 *
 *   native   they are the program's own
 *   made     they are code that it writes while it runs, of which it keeps a map for perf in a /tmp that nobody else
 *            sees
 *
 * Or it leaves connections open until then:
 *
 *   leak N   so many to itself, which it opens in leak_one()
 */
#include "load.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define FUNCTION __attribute__((noinline, noclone, visibility("default")))
#define ROUNDS 20000 /* iterations for one percent: some 10 us */
#define THREADS 2
#define SHARES 4
#define CODE_SIZE 64

FUNCTION void share_10(unsigned rounds);
FUNCTION void share_20(unsigned rounds);
FUNCTION void share_30(unsigned rounds);
FUNCTION void share_40(unsigned rounds);

#define SPIN(rounds)                            \
	for (unsigned i = 0; i < (rounds); i++) \
	asm volatile("" : : : "memory")

void share_10(unsigned rounds)
{
	SPIN(rounds);
}

void share_20(unsigned rounds)
{
	SPIN(rounds);
}

void share_30(unsigned rounds)
{
	SPIN(rounds);
}

void share_40(unsigned rounds)
{
	SPIN(rounds);
}

FUNCTION void leak_one(const struct sockaddr_in *to);

void leak_one(const struct sockaddr_in *to)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	/* connect() of glibc 2.41 calls functions without frame pointers. */
	if (fd < 0 || syscall(SYS_connect, fd, to, sizeof(*to)))
		err(1, "connect");
}

static void leak(int count)
{
	struct sockaddr_in own = { .sin_family = AF_INET };
	socklen_t size = sizeof(own);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&own, size) || listen(fd, 4096) ||
	    getsockname(fd, (struct sockaddr *)&own, &size))
		err(1, "listen");
	for (int i = 0; i < count; i++)
		leak_one(&own);
}

static void (*share[SHARES])(unsigned rounds) = { share_10, share_20, share_30, share_40 };

static void *work(void *unused)
{
	(void)unused;
	for (;;)
		for (unsigned i = 0; i < SHARES; i++)
			share[i](10 * (i + 1) * ROUNDS);
	return NULL;
}

#ifdef __x86_64__
/* push %rbp; mov %rsp,%rbp; 1: dec %edi; jne 1b; pop %rbp; ret */
static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xcf, 0x75, 0xfc, 0x5d, 0xc3 };

static void make(void)
{
	unsigned char *at = mmap(NULL, SHARES * CODE_SIZE, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *map;

	if (at == MAP_FAILED || unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/tmp", "tmpfs", 0, NULL))
		err(1, "code in a /tmp of its own");
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	if (!map)
		err(1, "%s", path);
	for (unsigned i = 0; i < SHARES; i++) {
		memcpy(at + i * CODE_SIZE, code, sizeof(code));
		share[i] = (void (*)(unsigned))(at + i * CODE_SIZE);
		fprintf(map, "%lx %zx made_%u\n", (unsigned long)share[i], sizeof(code),
			10 * (i + 1));
	}
	fclose(map);
	if (mprotect(at, SHARES * CODE_SIZE, PROT_READ | PROT_EXEC))
		err(1, "mprotect");
}
#else
static void make(void)
{
	errx(1, "this program makes code for x86-64 alone");
}
#endif

int main(int argc, char **argv)
{
	pthread_t thread;
	char line[16];

	if (argc > 1 && !strcmp(argv[1], "made"))
		make();
	if (argc > 2 && !strcmp(argv[1], "leak"))
		leak(atoi(argv[2]));
	for (int i = 0; i < THREADS && argc == 2; i++)
		if (pthread_create(&thread, NULL, work, NULL))
			errx(1, "no thread");
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		;
	_exit(0);
}
