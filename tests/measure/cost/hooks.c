/* SPDX-License-Identifier: MIT */
/*
 * Loads a BPF object, attaches all of its programs, prints "ready" and keeps
 * them until its input ends. listing.bpf.c is told whom to watch, and the
 * families of system calls.
 *
 * hooks OBJECT TGID
 */
#include "tests/measure/cost/bpf/listing.h"

#include <bpf/libbpf.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define CALLS_MAX 8

/* The system calls that this architecture has. */
#ifdef SYS_epoll_wait
#define OLD_POLLS SYS_epoll_wait, SYS_poll, SYS_select,
#else
#define OLD_POLLS
#endif

static const int calls[FAMILY_END][CALLS_MAX] = {
	[FAMILY_NONE] = { -1 },
	[FAMILY_POLL] = { OLD_POLLS SYS_epoll_pwait, SYS_epoll_pwait2, SYS_ppoll, SYS_pselect6,
			  -1 },
	[FAMILY_RECEIVE] = { SYS_read, SYS_readv, SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, -1 },
	[FAMILY_SEND] = { SYS_write, SYS_writev, SYS_sendto, SYS_sendmsg, SYS_sendmmsg,
			  SYS_sendfile, SYS_splice, -1 },
};

static void report(struct listing *listing, unsigned tgid)
{
	listing->tgid = tgid;
	for (int family = FAMILY_POLL; family < FAMILY_END; family++)
		for (const int *call = calls[family]; *call >= 0; call++)
			listing->family_of[*call] = (unsigned char)family;
}

/* An object without these constants needs no values. */
static void prepare(const struct bpf_object *object, unsigned tgid)
{
	struct listing listing = { 0 };
	struct bpf_map *map;

	report(&listing, tgid);
	bpf_object__for_each_map(map, object) if (strstr(bpf_map__name(map), ".rodata"))
		bpf_map__set_initial_value(map, &listing, sizeof(listing));
}

static struct bpf_object *load(const char *path, unsigned tgid)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);

	if (!object)
		err(1, "%s", path);
	prepare(object, tgid);
	if (bpf_object__load(object))
		err(1, "%s: load", path);
	return object;
}

static void attach(const struct bpf_object *object)
{
	struct bpf_program *program;

	/* The kernel frees the links when the process exits. */
	bpf_object__for_each_program(program, object) if (!bpf_program__attach(program))
		err(1, "%s: attach", bpf_program__name(program));
}

int main(int argc, char **argv)
{
	if (argc != 3)
		errx(2, "usage: hooks OBJECT TGID");
	attach(load(argv[1], (unsigned)atoi(argv[2])));
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
