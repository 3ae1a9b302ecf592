/* SPDX-License-Identifier: MIT */
/*
 * A SymbolHelper that is slow with programs: sleeps 6 s, with a library not at all, and then becomes the ebpf-symbols of
 * its own directory. The plugin starts it as nobody, from a descriptor and without environment, so no script can do this.
 */
#include "load.h"

#define DELAY_NS 6000000000
#define SYMBOLS "/ebpf-symbols"

static void read_link(const char *link, char *path, size_t size)
{
	ssize_t length = readlink(link, path, size - 1);

	if (length < 0)
		err(1, "%s", link);
	path[length] = '\0';
}

int main(int argc, char **argv)
{
	char path[4096 + sizeof(SYMBOLS)], file[4096];

	(void)argc;
	read_link("/proc/self/exe", path, 4096);
	read_link("/proc/self/fd/1", file, sizeof(file));
	strcpy(strrchr(path, '/'), SYMBOLS);
	if (!strstr(file, ".so"))
		sleep_ns(DELAY_NS);
	execv(path, argv);
	err(1, "%s", path);
}
