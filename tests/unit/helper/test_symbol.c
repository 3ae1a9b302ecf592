/* SPDX-License-Identifier: MIT */
/*
 * Files that other processes open and read: which files are accepted, files as other processes see
 * them, and programs that are no ebpf-symbols. What needs privileges is in
 * tests/kernel/test_attach.py.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/helper.h"

#include "plugin/attach/uprobe_event.h"
#include "plugin/helper/symbol_location.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char directory[] = "/tmp/test_symbol.XXXXXX";
static struct file_helper files;

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s%s", directory, name);
	return path;
}

static void check_refused(const char *path, pid_t pid, int status, const char *want)
{
	struct symbol_file file = { .fd = -7 };
	struct error error = { "" };

	CASE("%s of %d", path ? path : "the program", (int)pid);
	CHECK_INT(symbol_open(&files, path, pid, &file, &error), status);
	CHECK_HAS(error.text, want);
	CHECK_INT(file.fd, -7);
}

static void test_open(void)
{
	struct symbol_file one, other;
	struct error error;
	struct stat file;

	if (mkfifo(path_of("/fifo"), 0600) != 0)
		abort();
	check_refused(path_of("/fifo"), 0, -EINVAL, "it is not a regular file");
	check_refused(directory, 0, -EISDIR, "Is a directory");
	check_refused("/dev/zero", 0, -EINVAL, "it is not a regular file");
	check_refused("none.so.here", 0, -ENOENT, "no library or program of this name");
	CASE("names without a slash");
	CHECK_INT(symbol_open(&files, "libc.so.6", 0, &one, &error), 0);
	symbol_close(&one);
	CHECK_INT(symbol_open(&files, "env", 0, &one, &error), 0);
	symbol_close(&one);
	check_refused("/none/here", 0, -ENOENT, "No such file");
	check_refused("/bin/sh", 999999999, -ESRCH, "the process has ended");
	check_refused(NULL, 999999999, -ESRCH, "the process has ended");
	CASE("this program");
	CHECK_INT(symbol_open(&files, NULL, getpid(), &one, &error), 0);
	CHECK_INT(symbol_open(&files, "/proc/self/exe", 0, &other, &error), 0);
	CHECK_INT(fstat(one.fd, &file), 0);
	CHECK_UINT(one.inode, file.st_ino);
	CHECK_UINT(one.size, (uint64_t)file.st_size);
	/* As seen by the process that opens it. */
	CHECK_INT(symbol_is_same(&one, &other), 1);
	other.changed_ns++;
	CHECK_INT(symbol_is_same(&one, &other), 0);
	symbol_close(&one);
	symbol_close(&other);
	symbol_close(&other);
	CHECK_INT(other.fd, -1);
}

/* As its processes see it: links are followed in their root directory and cannot leave it. */
static void test_other_root(void)
{
	struct symbol_file file, wanted;
	struct error error;
	int ready[2];
	char byte;
	pid_t pid;

	if (geteuid() != 0 || pipe(ready) != 0) {
		printf("another root: only root can change it\n");
		return;
	}
	mkdir(path_of("/lib"), 0755);
	close(open(path_of("/lib/here"), O_CREAT | O_WRONLY, 0644));
	if (symlink("/lib/here", path_of("/inside")) != 0 ||
	    symlink("../../../../../../../../etc/passwd", path_of("/outside")) != 0 ||
	    symlink("/proc/self/exe", path_of("/magic")) != 0)
		abort();
	pid = fork();
	if (pid == 0) {
		if (chroot(directory) != 0 || write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	if (read(ready[0], &byte, 1) != 1)
		abort();
	CASE("a link inside of another root");
	CHECK_INT(symbol_open(&files, "/inside", pid, &file, &error), 0);
	CHECK_INT(symbol_open(&files, path_of("/lib/here"), 0, &wanted, &error), 0);
	CHECK_INT(symbol_is_same(&file, &wanted), 1);
	symbol_close(&file);
	symbol_close(&wanted);
	check_refused("/outside", pid, -ENOENT, "No such file");
	check_refused("/magic", pid, -ENOENT, "No such file");
	check_refused("/fifo", pid, -EINVAL, "it is not a regular file");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	close(ready[1]);
	for (size_t i = 0; i < 5; i++)
		remove(path_of((const char *[]){ "/inside", "/outside", "/magic", "/lib/here",
						 "/lib" }[i]));
}

static int find(const char *path, const struct symbol_wanted *wanted, size_t count,
		struct symbol_found *found, struct error *error)
{
	struct symbol_file file;
	int status;

	if (symbol_open(&files, path, 0, &file, error) != 0)
		abort();
	status = symbol_find(&files, &file, wanted, count, found, error);
	symbol_close(&file);
	return status;
}

static void test_find(void)
{
	static const struct symbol_wanted wanted[] = {
		{ .name = "main" },
		{ .name = "no_such_function" },
		{ .kind = SYMBOL_MARKER, .name = "no:marker" },
		{ .name = "main", .offset = UINT64_MAX },
		{ .offset = 1 },
	};
	static const int statuses[] = { 0, -ESRCH, -ENOMSG, -EFAULT, -EFAULT };
	struct symbol_found found[COUNT_OF(wanted)];
	unsigned before = testing_open_files();
	struct error error = { "" };

	CASE("all that is wanted in one go");
	CHECK_INT(find("/proc/self/exe", wanted, COUNT_OF(wanted), found, &error), 0);
	CHECK_TEXT(error.text, "");
	for (size_t i = 0; i < COUNT_OF(wanted) && !error.text[0]; i++) {
		CHECK_INT(found[i].status, statuses[i]);
		CHECK_UINT(found[i].count, statuses[i] == 0);
	}
	symbol_found_done(found, COUNT_OF(wanted));
	CHECK_UINT(testing_open_files(), before);
	CASE("no program");
	CHECK_INT(find("/etc/passwd", wanted, 1, found, &error), 0);
	CHECK_INT(found[0].status, -ENOEXEC);
	CHECK_HAS(found[0].error.text, "it is not a 64-bit program");
}

/* Programs that are no ebpf-symbols: missing, not executable, without output, or with invalid
 * output. */
static void test_programs(void)
{
	static const struct {
		const char *path;
		int status;
		const char *want;
	} cases[] = {
		{ "/none/here", -EAGAIN,
		  "cannot start /none/here: No such file or directory; set" },
		{ "/etc/passwd", -EAGAIN, "cannot start /etc/passwd: Permission denied; set" },
		{ "/bin/true", -EBADMSG, "sends no valid reply" },
		{ "/bin/false", -EBADMSG, "sends no valid reply" },
	};
	const char *real = files.symbols;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct symbol_wanted wanted = { .name = "main" };
		struct symbol_found found;
		struct error error = { "" };

		CASE("%s", cases[i].path);
		set_symbol_helper(&files, cases[i].path);
		CHECK_INT(find("/proc/self/exe", &wanted, 1, &found, &error), cases[i].status);
		CHECK_HAS(error.text, cases[i].want);
	}
	set_symbol_helper(&files, real);
}

/* A helper that does not reply, and one whose reply is invalid. */
static void test_helper(void)
{
	struct symbol_file file = { .fd = -7 };
	uint64_t nonsense[6] = { 0 };
	struct error error;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		abort();
	file_helper_done(&files);
	set_helper_socket(&files, ends[0]);
	check_refused("/no/answer", 0, -ETIMEDOUT, "its file system does not answer");
	check_refused("/no/answer", 0, -ETIMEDOUT, "its file system does not answer");
	CHECK_UINT(file_helper_stuck(&files), 1);
	close(ends[1]);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		abort();
	set_helper_socket(&files, ends[0]);
	if (write(ends[1], nonsense, sizeof(nonsense)) != sizeof(nonsense))
		abort();
	CASE("success without a descriptor: another helper is asked");
	CHECK_INT(symbol_open(&files, "/none/here", 0, &file, &error), -ENOENT);
	close(ends[1]);
}

int main(void)
{
	char program[4096];

	if (!mkdtemp(directory))
		abort();
	snprintf(program, sizeof(program), "%s", testing_built("ebpf-symbols"));
	file_helper_init(&files);
	set_symbol_helper(&files, program);
	test_open();
	test_other_root();
	test_find();
	test_programs();
	test_helper();
	file_helper_done(&files);
	unlink(path_of("/fifo"));
	rmdir(directory);
	return testing_end();
}
