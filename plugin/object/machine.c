/* SPDX-License-Identifier: MIT */
/*
 * What this machine permits, as far as the kernel tells. What cannot be read counts as not there.
 */
#include "machine.h"

#include "util/kernel_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST_USER_NAMESPACE "user:[4026531837]" /* PROC_USER_INIT_INO */
#define TEXT_MAX 4096

static void read_text(const char *path, char text[TEXT_MAX])
{
	ssize_t length = kernel_file_read(path, text, TEXT_MAX - 1);

	text[length > 0 ? length : 0] = '\0';
}

static uint64_t read_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	if (syscall(SYS_capget, &header, data) != 0)
		return 0;
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

static enum lockdown read_lockdown(void)
{
	char text[TEXT_MAX];

	read_text("/sys/kernel/security/lockdown", text);
	return strstr(text, "[none]")              ? LOCKDOWN_NONE
	       : strstr(text, "[integrity]")       ? LOCKDOWN_INTEGRITY
	       : strstr(text, "[confidentiality]") ? LOCKDOWN_CONFIDENTIALITY
						   : LOCKDOWN_UNKNOWN;
}

static bool is_in_user_namespace(void)
{
	char name[64] = "";

	return readlink("/proc/self/ns/user", name, sizeof(name) - 1) > 0 &&
	       strcmp(name, FIRST_USER_NAMESPACE) != 0;
}

/* Of the security modules of Linux, these can refuse bpf(2) and perf_event_open(2), or a capability. */
static void find_security_modules(char *text, size_t size)
{
	static const struct {
		const char *name, *state,
			*idle; /* the file `state` begins so if it forbids nothing */
	} modules[] = {
		{ "selinux", "/sys/fs/selinux/enforce", "0" },
		{ "apparmor", "/proc/self/attr/apparmor/current", "unconfined" },
		{ "bpf", NULL, "" },
	};
	char active[TEXT_MAX], state[TEXT_MAX];

	text[0] = '\0';
	read_text("/sys/kernel/security/lsm", active);
	for (char *saved, *name = strtok_r(active, ",\n", &saved); name;
	     name = strtok_r(NULL, ",\n", &saved))
		for (size_t i = 0; i < sizeof(modules) / sizeof(*modules); i++) {
			size_t length = strlen(text);

			if (strcmp(name, modules[i].name) != 0)
				continue;
			if (modules[i].state)
				read_text(modules[i].state, state);
			if (!modules[i].state ||
			    strncmp(state, modules[i].idle, strlen(modules[i].idle)) != 0)
				snprintf(text + length, size - length, "%s%s", length ? ", " : "",
					 name);
		}
}

static enum presence presence_of(const char *path)
{
	if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0)
		return READABLE;
	return errno == EACCES ? UNREADABLE : ABSENT;
}

void machine_read(struct machine *ret_machine)
{
	char text[TEXT_MAX];

	*ret_machine = (struct machine){
		.capabilities = read_capabilities(),
		.lockdown = read_lockdown(),
		.in_user_namespace = is_in_user_namespace(),
		.has_kprobes = access("/sys/bus/event_source/devices/kprobe", F_OK) == 0,
		.tracefs = presence_of("/sys/kernel/tracing/events"),
		.btf = presence_of("/sys/kernel/btf/vmlinux"),
	};
	if (ret_machine->tracefs == ABSENT)
		ret_machine->tracefs = presence_of("/sys/kernel/debug/tracing/events");
	read_text("/proc/sys/kernel/perf_event_paranoid", text);
	ret_machine->perf_event_paranoid = atoi(text);
	read_text("/proc/self/status", text);
	ret_machine->has_seccomp_filter = strstr(text, "\nSeccomp:\t2") != NULL;
	find_security_modules(ret_machine->security_modules, sizeof(ret_machine->security_modules));
}
