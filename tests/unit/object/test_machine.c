/* SPDX-License-Identifier: MIT */
/*
 * What is known of this machine, before and after this process loses something.
 */
#include "tests/unit/testing.h"

#include "plugin/object/machine.h"

#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static void test_lost(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog filter = { .len = 1, .filter = &allow };
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { { 0 } };
	struct machine before, after;

	CASE("a filter");
	machine_read(&before);
	CHECK_INT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	CHECK_INT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0), 0);
	machine_read(&after);
	CHECK_INT(after.has_seccomp_filter, true);
	CHECK_INT(after.in_user_namespace, before.in_user_namespace);
	CHECK_UINT(after.capabilities, before.capabilities);
	CASE("a user namespace");
	if (unshare(CLONE_NEWUSER) == 0) {
		machine_read(&after);
		CHECK_INT(after.in_user_namespace, true);
	} else {
		printf("a user namespace: left out, the kernel refuses one\n");
	}
	CASE("no capability");
	CHECK_INT(syscall(SYS_capset, &header, none), 0);
	machine_read(&after);
	CHECK_UINT(after.capabilities, 0);
}

static void test_files(void)
{
	struct machine machine;

	CASE("files");
	machine_read(&machine);
	CHECK_INT(machine.btf == READABLE, access("/sys/kernel/btf/vmlinux", R_OK) == 0);
	CHECK_INT(machine.tracefs == READABLE,
		  access("/sys/kernel/tracing/events", R_OK) == 0 ||
			  access("/sys/kernel/debug/tracing/events", R_OK) == 0);
	CHECK_INT(machine.has_kprobes, access("/sys/bus/event_source/devices/kprobe", F_OK) == 0);
}

int main(void)
{
	test_files();
	test_lost();
	return testing_end();
}
