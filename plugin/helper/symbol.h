/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOL_H
#define EBPF_SYMBOL_H

#include "file.h"
#include "util/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Functions and markers (USDT) of programs and libraries: where in the file their code is. The worker
 * opens the file, see file.c; the program ebpf-symbols, which has no privileges, reads it. */

#define SYMBOL_PLACES_MAX 256 /* of one name */

/* A program or library that is open. It is regular, and not on FUSE, where a program that stops
 * could stop whoever uses it. */
struct symbol_file {
	int fd; /* the caller's; the kernel takes it as /proc/self/fd/N */
	uint64_t device, inode, size;
	uint64_t changed_ns; /* when its content was */
	bool is_overlay;     /* its device is that of a mount, as of a container */
};

#define SYMBOL_FILE_NONE \
	{                \
		.fd = -1 \
	}

/* Opens a path as the daemon sees it (pid 0), or as that process sees it, links staying inside of
 * its root; NULL: the program that the process runs. A name without a slash is looked for where
 * libraries (NAME.so.3) or programs are. Fast, and called again to learn whether the
 * path leads to another file. Returns 0 or a negative errno, and the error says why, for behind "cannot read
 * PATH: ": -ENOENT: nothing there; -ESRCH: no such process. */
int symbol_open(struct file_reader *files, const char *path, pid_t pid,
		struct symbol_file *ret_file, struct error *error);

/* What to say of it in struct worker_turn. */
uint64_t symbol_number(const struct symbol_file *file);

/* Is it the same file, unchanged? Two containers of one image have the same. */
bool symbol_is_same(const struct symbol_file *one, const struct symbol_file *other);

void symbol_close(struct symbol_file *file);

/* What is looked for: all texts stay the caller's. */
struct symbol_wanted {
	enum { SYMBOL_FUNCTION, SYMBOL_MARKER } kind;
	const char
		*name; /* as in the file, or demangled; of a marker PROVIDER:NAME; NULL: the offset
			   * in the file alone */
	uint64_t offset; /* bytes, from the function or in the file */
	bool returns;    /* of a function, the instructions that return from it, too */
};

enum {
	SYMBOL_STEPPED = 1, /* the kernel cannot emulate the instruction: 20 times as slow */
	SYMBOL_GO =
		2, /* of Go: it must not be given a uretprobe, which its stacks do not survive */
	SYMBOL_RETURN = 4,     /* no entry, but an instruction that returns from the function */
	SYMBOL_NO_RETURNS = 8, /* an entry: where the function returns is not known */
};

struct symbol_place {
	uint64_t offset;    /* in the file */
	uint64_t semaphore; /* in the file, of the number of a marker's watchers; 0: it has none */
	uint32_t flags;
	char *arguments; /* of a marker, as sys/sdt.h writes them: "-4@%edi 8@%rax"; else NULL */
};

/* Of each wanted one. */
struct symbol_found {
	int status; /* 0, or a negative errno, and the error says why and what to do: -ESRCH: none of this
		     * name; -ENOTUNIQ: several; -ENODATA: no symbols; -ENOEXEC: no program of this
		     * machine; -EOPNOTSUPP: the program chooses it when it starts (IFUNC); -ENOMSG: no
		     * such marker; -EFAULT: no code there; -EAGAIN: the separate file of symbols, which
		     * may have it, could not be read now. With 0 the error says why SYMBOL_NO_RETURNS. */
	struct error error;
	struct symbol_place *places; /* a function's entry comes first */
	size_t count;
};

/* Looks for all of them in one go. Returns 0 where it could be looked, and then each of ret_found has
 * its own status, for symbol_found_done(), and the error says why a separate file of symbols is of no
 * use, or nothing. Or a negative errno, and the error says why: -EBADMSG: the file has the program
 * crash or talk nonsense; -E2BIG: too many are wanted; -EAGAIN: there was no answer in time, or the
 * program could not be run: it may be at the next try. */
int symbol_find(struct file_reader *files, const struct symbol_file *file,
		const struct symbol_wanted *wanted, size_t count, struct symbol_found *ret_found,
		struct error *error);

void symbol_found_done(struct symbol_found *found, size_t count);

#endif
