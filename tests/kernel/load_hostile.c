/* SPDX-License-Identifier: MIT */
/*
 * What a user without rights may do on purpose. Each attack runs as nobody unless it says otherwise,
 * says "ok" when it is in place and ends with its input:
 *   names NAME...     a process of each of these names, beside those of the table below
 *   renames RATE      a process that takes so many new names a second
 *   threads N         a process of so many threads
 *   sockets N         so many sockets, each of which has seen a request and its answer
 *   command-line FILE [root]
 *                     a process in whose memory any look at the arguments waits for the FILE,
 *                     which is on a file system that does not answer; with "root" as root
 *   file-system DIR   mounts such a file system (as root: who may mount depends on the machine).
 *                     DIR/open cannot be opened, DIR/read cannot be read; no look-up of another
 *                     name ends
 *
 * load_hostile ATTACK [ARGUMENT...]
 */
#include "load.h"

#include <errno.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define NOBODY 65534
#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))
#define STACK_SIZE (16 * 1024)
#define SOCKETS_MAX 10000 /* of one process */
#define FILLER_SIZE (64 * 1024)
#define LOCKED_NS 50000000

static const char *const names[] = {
	"/",
	"//",
	"a/b",
	"../../etc",
	"..",
	".",
	"...",
	"/dev/null",
	"~root",
	"\n",
	"a\nb",
	"a\n[error] x",
	"\r\n",
	"\t",
	" ",
	"  x  ",
	"\x1b[2J\x1b[H",
	"\x1b]0;x\a",
	"\x7f\b\b\b",
	"<b>x</b>",
	"<script>",
	"</script>",
	"\"><svg/on",
	"&lt;&amp;&#0;",
	"'\"`$(id)",
	"$(reboot)",
	"`reboot`",
	";reboot;",
	"|cat>x",
	"%s%s%s%n",
	"%n%n%n%n",
	"%99999999d",
	"\xff\xfe\xfd",
	"\xc3(",
	"\xe2\x82",
	"\xf0\x9f\x92\xa9",
	"\xed\xa0\x80",
	"\xc0\xafx",
	"\xe2\x80\xae"
	"abc",
	"other",
	"kernel",
	"self",
	"a-b-c",
	"x,y;z=1",
	"*?[a]",
	"hostile-plain",
};

static void become_nobody(void)
{
	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		err(1, "nobody");
	/* Restores what setuid resets: the parent-death signal, and the owner of the files in /proc. */
	die_with_parent();
	prctl(PR_SET_DUMPABLE, 1);
}

static void wait_for_end(void)
{
	char line[16];

	for (;;)
		hear(line, sizeof(line));
}

static void start(void *(*run)(void *), void *argument)
{
	pthread_attr_t small;
	pthread_t thread;
	int status;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK_SIZE);
	pthread_attr_setguardsize(&small, 0);
	status = pthread_create(&thread, &small, run, argument);
	if (status)
		errx(1, "pthread_create: %s", strerror(status));
}

static void be_busy(const char *name)
{
	die_with_parent();
	prctl(PR_SET_NAME, name);
	for (;;) {
		spin_ns(200000);
		sleep_ns(100000000);
	}
}

static void set_names(char **more)
{
	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (fork() == 0)
			be_busy(names[i]);
	for (; *more; more++)
		if (fork() == 0)
			be_busy(*more);
}

/* A service has the name of its thread group leader, which waits for the end of input. */
static void *rename_often(void *rate)
{
	uint64_t step_ns = 1000000000 / strtoul(rate, NULL, 10), due_ns = clock_ns(CLOCK_MONOTONIC);
	int fd = open("/proc/self/comm", O_WRONLY);

	for (unsigned i = 0; fd >= 0; i++, due_ns += step_ns) {
		uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
		char name[16];

		if (due_ns > now_ns)
			sleep_ns(due_ns - now_ns);
		snprintf(name, sizeof(name), "h%u", i);
		if (write(fd, name, strlen(name)) < 0)
			break;
	}
	err(1, "comm");
}

static void *wait_forever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void exchange(int from, int to)
{
	char byte = 0;

	if (send(from, &byte, 1, 0) != 1 || recv(to, &byte, 1, 0) != 1)
		err(1, "exchange");
}

/* Each time two sockets, one of which serves. */
static void open_sockets(int count)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);

	/* The kernel chooses the address. */
	if (listener < 0 || bind(listener, (void *)&address, sizeof(sa_family_t)) ||
	    listen(listener, 16))
		err(1, "listen");
	for (int i = 0; i < count / 2; i++) {
		socklen_t size = sizeof(address);
		int client = socket(AF_UNIX, SOCK_STREAM, 0), server;

		if (client < 0 || getsockname(listener, (void *)&address, &size) ||
		    connect(client, (void *)&address, size))
			err(1, "connect");
		server = accept(listener, NULL, NULL);
		if (server < 0)
			err(1, "accept");
		exchange(client, server);
		exchange(server, client);
	}
}

static void open_sockets_in_processes(long count)
{
	int done[2], processes = 0;
	char byte = 0;

	if (pipe(done))
		err(1, "pipe");
	for (; count > 0; count -= SOCKETS_MAX, processes++)
		if (fork() == 0) {
			die_with_parent();
			open_sockets(count < SOCKETS_MAX ? (int)count : SOCKETS_MAX);
			if (write(done[1], &byte, 1) == 1)
				wait_forever(NULL);
			_exit(1);
		}
	close(done[1]);
	while (processes--)
		if (read(done[0], &byte, 1) != 1)
			errx(1, "sockets: a process has ended");
}

/* --- a command line that nobody can read -------------------------------------------------- */

static char *mapped;

/* The kernel has mmap_lock locked while it waits for the page. */
static void *read_own_memory(void *unused)
{
	int fd = open("/proc/self/mem", O_RDONLY);
	char byte;

	if (fd < 0 || pread(fd, &byte, 1, (off_t)(uintptr_t)mapped) != 1)
		sleep_ns(1);
	return unused;
}

/* A writer that waits for mmap_lock: readers of the memory queue after it. */
static void *change_address_space(void *unused)
{
	sleep_ns(LOCKED_NS);
	mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return unused;
}

/* Executes itself again with an argument that fills pages, one of which becomes a page of the file. */
static void begin_again(const char *path, bool as_root)
{
	static char filler[FILLER_SIZE];
	char number[16];
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		err(1, "%s", path);
	snprintf(number, sizeof(number), "%d", fd);
	memset(filler, 'x', sizeof(filler) - 1);
	if (!as_root)
		become_nobody();
	execl("/proc/self/exe", "load_hostile", "mapped", number, filler, NULL);
	err(1, "exec");
}

/* A uprobe waits for the memory of each process that maps its file, and nobody can fork meanwhile. So this process has a
 * copy of libc, in LD_LIBRARY_PATH, that nobody else has. */
static void check_libc(void)
{
	const char *directory = getenv("LD_LIBRARY_PATH");
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4200];

	if (!directory || !maps)
		errx(1, "no LD_LIBRARY_PATH, or no maps");
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "/libc") && !strstr(line, directory))
			errx(1, "maps the libc of others: %s", line);
	fclose(maps);
}

static void hide_arguments(int fd, char *filler)
{
	uintptr_t page = 4096, at = ((uintptr_t)filler + page - 1) / page * page;

	mapped = need(mmap((void *)at, page, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0));
	/* Started first, because starting a thread changes the address space. */
	start(change_address_space, NULL);
	start(read_own_memory, NULL);
}

/* --- a file system that does not answer ------------------------------------------------------ */

enum { NODE_OPEN = 2, NODE_READ, NODE_ROOTS, NODE_PID };

static unsigned claimed; /* the pid in root-PID/..., a file that is said to be root's */

static void fill_attributes(struct fuse_attr *attributes, uint64_t node)
{
	*attributes = (struct fuse_attr){
		.ino = node,
		.size = 65536,
		.mode = node == FUSE_ROOT_ID || node == NODE_ROOTS ? S_IFDIR | 0755
								   : S_IFREG | 0644,
		.nlink = 1,
		.uid = node == NODE_ROOTS || node == NODE_PID ? 0 : NOBODY,
		.gid = NOBODY,
	};
}

static void reply(int fd, const struct fuse_in_header *to, int error, void *body, size_t size)
{
	char bytes[4096];
	struct fuse_out_header head = {
		.len = (uint32_t)(sizeof(head) + size),
		.error = error,
		.unique = to->unique,
	};

	memcpy(bytes, &head, sizeof(head));
	if (size)
		memcpy(bytes + sizeof(head), body, size);
	/* The process that sent the request may have exited. */
	if (write(fd, bytes, head.len) < 0 && errno != ENOENT)
		err(1, "/dev/fuse");
}

static void reply_lookup(int fd, const struct fuse_in_header *in, const char *name)
{
	struct fuse_entry_out out = { .entry_valid = 3600, .attr_valid = 3600 };

	if (in->nodeid == NODE_ROOTS)
		out.nodeid = NODE_PID;
	else if (sscanf(name, "root-%u", &claimed) == 1)
		out.nodeid = NODE_ROOTS;
	else if (strcmp(name, "open") == 0)
		out.nodeid = NODE_OPEN;
	else if (strcmp(name, "read") == 0)
		out.nodeid = NODE_READ;
	else
		return;
	fill_attributes(&out.attr, out.nodeid);
	reply(fd, in, 0, &out, sizeof(out));
}

static void reply_attributes(int fd, const struct fuse_in_header *in)
{
	struct fuse_attr_out out = { .attr_valid = 3600 };

	fill_attributes(&out.attr, in->nodeid);
	reply(fd, in, 0, &out, sizeof(out));
}

static void reply_read(int fd, const struct fuse_in_header *in, const struct fuse_read_in *what)
{
	char text[32];
	int size = snprintf(text, sizeof(text), "%u\n", claimed);

	if (in->nodeid == NODE_PID)
		reply(fd, in, 0, text, what->offset ? 0 : (size_t)size);
}

static void reply_request(int fd, const struct fuse_in_header *in, const void *body)
{
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
				      .minor = 31,
				      .max_write = 4096 };
	/* Without it, an open waits for pages that are being read. */
	struct fuse_open_out opened = { .fh = 1, .open_flags = FOPEN_KEEP_CACHE };

	switch (in->opcode) {
	case FUSE_INIT:
		reply(fd, in, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		reply_lookup(fd, in, body);
		break;
	case FUSE_GETATTR:
		reply_attributes(fd, in);
		break;
	case FUSE_OPEN:
		if (in->nodeid != NODE_OPEN)
			reply(fd, in, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		reply_read(fd, in, body);
		break;
	case FUSE_READDIR:
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	case FUSE_OPENDIR:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
		reply(fd, in, 0, &opened, in->opcode == FUSE_OPENDIR ? sizeof(opened) : 0);
		break;
	default:
		reply(fd, in, -ENOSYS, NULL, 0);
	}
}

static void *serve(void *device)
{
	static char request[256 * 1024];
	int fd = (int)(intptr_t)device;

	while (read(fd, request, sizeof(request)) >= (ssize_t)sizeof(struct fuse_in_header))
		reply_request(fd, (void *)request, request + sizeof(struct fuse_in_header));
	return NULL;
}

/* Its exit ends all waits. */
static void mount_file_system(const char *directory)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[128];

	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 fd);
	if (fd < 0 || mount("hostile", directory, "fuse.hostile", 0, options))
		err(77, "mount a FUSE file system");
	start(serve, (void *)(intptr_t)fd);
}

int main(int argc, char **argv)
{
	struct rlimit many = { SOCKETS_MAX + 100, SOCKETS_MAX + 100 };
	const char *attack = argc > 1 ? argv[1] : "";

	die_with_parent();
	if (strcmp(attack, "file-system") == 0 && argc == 3) {
		mount_file_system(argv[2]);
	} else if (strcmp(attack, "command-line") == 0 && (argc == 3 || argc == 4)) {
		begin_again(argv[2], argc == 4);
	} else if (strcmp(attack, "mapped") == 0 && argc == 4) {
		check_libc();
		/* Printed before, because this thread may block for ever, too. */
		say("ok\n");
		hide_arguments(atoi(argv[2]), argv[3]);
		wait_for_end();
	} else if (argc >= 2) {
		setrlimit(RLIMIT_NOFILE, &many);
		become_nobody();
		if (strcmp(attack, "names") == 0)
			set_names(argv + 2);
		else if (strcmp(attack, "renames") == 0 && argc == 3)
			start(rename_often, argv[2]);
		else if (strcmp(attack, "threads") == 0 && argc == 3)
			for (long n = atol(argv[2]); n > 0; n--)
				start(wait_forever, NULL);
		else if (strcmp(attack, "sockets") == 0 && argc == 3)
			open_sockets_in_processes(atol(argv[2]));
		else
			errx(2, "what is '%s'?", attack);
	} else {
		errx(2, "usage: load_hostile ATTACK [ARGUMENT...]");
	}
	say("ok\n");
	wait_for_end();
	return 0;
}
