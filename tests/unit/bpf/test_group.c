/* SPDX-License-Identifier: MIT */
/*
 * bpf/lib/services/group.h, compiled for user space: the key that a cgroup's path stands for, by the rules
 * of systemd and of the container runtimes.
 */
#include "tests/unit/testing.h"

#include "bpf/lib/services/group.h"

#include <fnmatch.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UUID "9f8b6d8e-6c1e-4a7b-8b1a-0123456789ab"
#define POD "kubepods-burstable-pod3f6b5b0c_8f5e_4c53_9a0f_5d1f0a2b3c4d.slice"
#define KUBEPODS "/kubepods.slice/kubepods-burstable.slice/" POD

/* The key of a path; ret_steps: how many of its directories were inspected. */
static struct group_key key_of(const char *path, unsigned *ret_steps)
{
	struct group_walk walk;
	unsigned steps = 0;
	int done = 0;

	memset(&walk, 0, sizeof(walk));
	while (*path && !done) {
		path += strspn(path, "/");
		walk.length = (__u32)strcspn(path, "/");
		/* The buffer is not cleared: bytes of the name before follow the NUL. */
		memcpy(walk.name, path, walk.length);
		walk.name[walk.length] = '\0';
		path += walk.length;
		done = group_step(&walk);
		steps++;
	}
	if (ret_steps)
		*ret_steps = steps;
	return walk.key;
}

static void check(const char *path, enum group_kind kind, const char *text)
{
	struct group_key key = key_of(path, NULL);

	CASE("%s", path);
	CHECK_UINT(key.kind, kind);
	CHECK_TEXT(key.text, text);
	for (size_t i = strlen(key.text); i < sizeof(key.text); i++)
		if (key.text[i])
			CHECK_INT(key.text[i], 0);
}

static void test_units(void)
{
	static const struct {
		const char *path, *text;
	} units[] = {
		{ "/init.scope", "init" },
		{ "/system.slice/nginx.service", "nginx" },
		{ "/system.slice/system-postgresql.slice/postgresql@15-main.service",
		  "postgresql@15-main" },
		{ "/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1" },
		{ "/system.slice/nginx.service/docker-" ID ".scope", "nginx" },
		{ "/system.slice/web.service/libpod-payload-" ID, "web" },
		{ "/system.slice/a.b.c.service", "a.b.c" },
		{ "/system.slice/my\\x2dapp.service", "my\\x2dapp" },
		{ "/system.slice/ssh.socket", "ssh" },
		{ "/system.slice/mnt-data.mount", "mnt-data" },
		{ "/system.slice/dev-sda2.swap", "dev-sda2" },
		{ "/system.slice/lvm2-pvscan@254:1.service", "lvm2-pvscan@254:1" },
		{ "/system.slice/ceph-osd@3.service", "ceph-osd@3" },
		{ "/system.slice/backup@7-nightly-2.service", "backup@7-nightly-2" },
		{ "/system.slice/backup@3-7.service", "backup@3-7" },
		/* An underscore comes from systemd; only the first one. */
		{ "/system.slice/_io.service", "io" },
		{ "/system.slice/__x.service", "_x" },
		{ "/system.slice/_.hidden.service", ".hidden" },
		{ "/system.slice/_cgroup.web@a.service", "cgroup.web@a" },
		{ "/system.slice/_pids.socket", "pids" },
		{ "/system.slice/_cpu.scope", "cpu" },
		{ "/_cpu.slice/_cpu-web.slice/x.service", "x" },
		{ "/system.slice/_io.web-17.scope", "io.web" },
		{ "/system.slice/_io.web@3-4711-0.service", "io.web" },
		{ "/system.slice/user-1000.service", "user-1000" },
		{ "/system.slice/-7.scope", "-7" },
		{ "/system.slice/slurmstepd.scope/job_17/step_0", "slurmstepd" },
		{ "/qemu.slice/100.scope", "100" },
		/* The number of a transient unit is not part of its name. */
		{ "/system.slice/run-r0f1e2d3c4b5a69788796a5b4c3d2e1f0.service", "run" },
		{ "/system.slice/run-u17.service", "run" },
		{ "/system.slice/run-u17-s2.scope", "run" },
		{ "/system.slice/run-u17.socket", "run" },
		{ "/system.slice/run-p4711-i4712.scope", "run" },
		{ "/system.slice/run-4711.scope", "run" },
		/* Those are an operator's, or the path of a mount. */
		{ "/system.slice/run-billing.service", "run-billing" },
		{ "/system.slice/run-up.service", "run-up" },
		{ "/system.slice/run-u17x.service", "run-u17x" },
		{ "/system.slice/run-p4711-i.service", "run-p4711-i" },
		{ "/system.slice/run-4711-i4712.service", "run-4711-i4712" },
		{ "/system.slice/run-report-7.scope", "run-report" },
		{ "/system.slice/run-rsync.service", "run-rsync" },
		{ "/system.slice/run-r0f1e2d3c4b5a69788796a5b4c3d2e1f.service",
		  "run-r0f1e2d3c4b5a69788796a5b4c3d2e1f" },
		{ "/system.slice/run-.service", "run-" },
		{ "/system.slice/run.service", "run" },
		{ "/system.slice/run-user-1000.mount", "run-user-1000" },
		{ "/system.slice/" ID ".service", "run" },
		{ "/system.slice/" ID "-5c1f6d0b7e2a4b6c.service", "run" },
		{ "/system.slice/container-" ID ".service", "container" },
		{ "/system.slice/snap.firefox.firefox-" UUID ".scope", "snap.firefox.firefox" },
		{ "/system.slice/snap.lxd.hook." UUID ".scope", "snap.lxd.hook" },
		{ "/nomad.slice/share.slice/" UUID ".web.scope", "web" },
		{ "/system.slice/podman-4711.scope", "podman" },
		{ "/system.slice/job-1764201600000000000.scope", "job" },
		{ "/system.slice/docker-q2v5k8x1z4m7b3n6c9t0w2y5d.scope", "docker" },
		{ "/system.slice/docker-registry.scope", "docker-registry" },
		{ "/machine.slice/crun-buildah-buildah1234567890.scope", "crun-buildah" },
		{ "/docker/buildkit/q2v5k8x1z4m7", "buildkit" },
		{ "/buildkit/q2v5k8x1z4m7", "buildkit" },
		/* Instances of one connection. */
		{ "/system.slice/system-sshd.slice/sshd@3-192.0.2.1:22-198.51.100.7:51000.service",
		  "sshd" },
		{ "/system.slice/sshd@3-8193-192.0.2.1:22-198.51.100.7:51000.service", "sshd" },
		{ "/system.slice/sshd@12-2001:db8::1:22-2001:db8::2:51000.service", "sshd" },
		{ "/system.slice/sshd@1-2:22-3:4294967294.service", "sshd" },
		{ "/system.slice/sshd@1-4097-2:22-3:1023.service", "sshd" },
		{ "/system.slice/systemd-coredump@0-4711-1000.service", "systemd-coredump" },
		{ "/system.slice/systemd-coredump@0-77-4711_4712-1000.service",
		  "systemd-coredump" },
		{ "/system.slice/creds@0-18446744073709551615-300-0.service", "creds" },
		{ "/system.slice/varlink@5-unknown.service", "varlink" },
		{ "/system.slice/varlink@5-8193-unknown.service", "varlink" },
		{ "/system.slice/dbus-:1.2-org.example.Privileged@0.service",
		  "org.example.Privileged" },
		{ "/system.slice/dbus-:x@0.service", "dbus-:x" },
		/* Instances that an operator chose. */
		{ "/system.slice/report@2026-11-27.service", "report@2026-11-27" },
		{ "/system.slice/report@2026-01-05.service", "report@2026-01-05" },
		{ "/system.slice/report@2026-11-27T10:00.service", "report@2026-11-27T10:00" },
		{ "/system.slice/report@2026-11-27T10:00:30.service",
		  "report@2026-11-27T10:00:30" },
		{ "/system.slice/backup@10-20.service", "backup@10-20" },
		{ "/system.slice/app@1-2-3.service", "app@1-2-3" },
		{ "/system.slice/app@1-099-3.service", "app@1-099-3" },
		{ "/system.slice/app@1-2-3-4-500-6.service", "app@1-2-3-4-500-6" },
		{ "/system.slice/app@1--500-6.service", "app@1--500-6" },
		{ "/system.slice/app@1-500-6-.service", "app@1-500-6-" },
		{ "/system.slice/app@-1-500-6.service", "app@-1-500-6" },
		{ "/system.slice/app@01-500-6.service", "app@01-500-6" },
		{ "/system.slice/vpn@192-168-178-1.service", "vpn@192-168-178-1" },
		{ "/system.slice/tunnel@1-db:5432.service", "tunnel@1-db:5432" },
		{ "/system.slice/tunnel@1-db:5432-x.service", "tunnel@1-db:5432-x" },
		{ "/system.slice/tunnel@db:1-a:2.service", "tunnel@db:1-a:2" },
		{ "/system.slice/job@3-state-unknown.service", "job@3-state-unknown" },
		{ "/system.slice/job@unknown.service", "job@unknown" },
		/* The buffer has an @ no more. */
		{ "/sshd@3-192.0.2.1:22-198.51.100.7:51000/ssh.service", "ssh" },
		/* Processes outside that monitor containers. */
		{ "/machine.slice/libpod-conmon-" ID ".scope", "conmon" },
		{ KUBEPODS "/crio-conmon-" ID ".scope", "conmon" },
		{ "/lxc.monitor.web", "lxc.monitor" },
		{ "/lxc.monitor/100", "lxc.monitor" },
		/* A runtime that has its containers below its own cgroup. */
		{ "/system.slice/containerd.service", "containerd" },
		{ "/system.slice/containerd.service/shim", "containerd" },
		{ "/system.slice/containerd.service/x.service", "containerd" },
		{ "/system.slice/containerd.service/docker-" ID ".scope", "containerd" },
		{ "/system.slice/containerd.service/lxc.payload.x", "containerd" },
	};

	for (size_t i = 0; i < COUNT_OF(units); i++)
		check(units[i].path, GROUP_UNIT, units[i].text);
}

static void test_users(void)
{
	check("/user.slice/user-1000.slice", GROUP_USER, "user-1000");
	check("/user.slice/user-0.slice/session-3.scope", GROUP_USER, "user-0");
	check("/user.slice/user-4294967294.slice/user@4294967294.service/app.slice/x.service",
	      GROUP_USER, "user-4294967294");
	check("/user.slice/user-1000x.slice", GROUP_COMMAND, "");
	check("/user.slice/user-.slice", GROUP_COMMAND, "");
	check("/user.slice/user-123456789012.slice", GROUP_COMMAND, "");
}

#define MANAGER "/user.slice/user-1000.slice/user@1000.service"

/* Rootless runtimes. */
static void test_user_containers(void)
{
	static const char *const paths[] = {
		MANAGER "/user.slice/libpod-" ID ".scope",
		MANAGER "/user.slice/libpod-" ID ".scope/container/init.scope",
		MANAGER "/user.slice/user-libpod_pod_" ID ".slice/libpod-" ID ".scope",
		MANAGER "/app.slice/web.service/libpod-payload-" ID,
		MANAGER "/user.slice/libpod_parent/libpod-" ID,
		MANAGER "/user.slice/docker-" ID ".scope",
		MANAGER "/user.slice/nerdctl-" ID ".scope",
		MANAGER "/k3s-rootless.service/kubepods/besteffort/pod1/" ID,
		MANAGER "/docker.service/docker/" ID "/docker/" POD,
		"/user.slice/user-1000.slice/" ID,
	};
	static const char *const others[] = {
		MANAGER,
		MANAGER "/init.scope",
		MANAGER "/user.slice/libpod-conmon-" ID ".scope",
		MANAGER "/app.slice/web.service/runtime",
		MANAGER "/app.slice/" ID ".service",
		MANAGER "/user.slice/user-libpod_pod_" ID ".slice",
		MANAGER "/app.slice/docker-" ID "0.scope",
		MANAGER "/app.slice/lxc.payload.web",
		MANAGER "/app.slice/nginx.service",
	};

	for (size_t i = 0; i < COUNT_OF(paths); i++) {
		struct group_key key = key_of(paths[i], NULL);

		CASE("%s", paths[i]);
		CHECK_UINT(key.kind, GROUP_USER_CONTAINER);
		CHECK_TEXT(key.text, "user-1000");
		CHECK_TEXT(key.text + GROUP_USER_SIZE, ID);
		group_key_to_user(&key);
		CASE("the user of %s", paths[i]);
		CHECK_INT(memcmp(&key, &(struct group_key){ GROUP_USER, "user-1000" }, sizeof(key)),
			  0);
	}
	for (size_t i = 0; i < COUNT_OF(others); i++)
		check(others[i], GROUP_USER, "user-1000");
	CASE("the longest number");
	CHECK_TEXT(key_of("/user.slice/user-12345678901.slice/" ID, NULL).text, "user-12345678901");
}

static void test_containers(void)
{
	static const struct {
		const char *path;
		enum group_kind kind;
		const char *text;
	} containers[] = {
		{ "/docker/" ID, GROUP_DOCKER, ID },
		{ "/docker/" ID "/docker/" ID, GROUP_DOCKER, ID },
		{ "/system.slice/docker-" ID ".scope", GROUP_DOCKER, ID },
		{ "/system.slice/docker-" ID ".scope/system.slice/nginx.service", GROUP_DOCKER,
		  ID },
		{ "/of.slice/of-ours.slice/docker-" ID ".scope", GROUP_DOCKER, ID },
		{ "/ours/" ID, GROUP_CONTAINER, ID },
		{ "/docker.slice/" ID, GROUP_CONTAINER, ID },
		{ "/libpod_parent/libpod-" ID, GROUP_PODMAN, ID },
		{ "/libpod_parent/" ID, GROUP_PODMAN, ID },
		{ "/ours/libpod-payload-" ID, GROUP_PODMAN, ID },
		{ "/machine.slice/libpod-" ID ".scope/container", GROUP_PODMAN, ID },
		{ "/machine.slice/machine-libpod_pod_" ID ".slice/libpod-" ID ".scope",
		  GROUP_PODMAN, ID },
		{ KUBEPODS "/cri-containerd-" ID ".scope", GROUP_CONTAINERD, ID },
		{ "/kubepods/burstable/pod3f6b5b0c-8f5e-4c53-9a0f-5d1f0a2b3c4d/" ID,
		  GROUP_CONTAINER, ID },
		{ "/" POD ":cri-containerd:" ID, GROUP_CONTAINERD, ID },
		{ "/system.slice/containerd.service/" POD ":cri-containerd:" ID, GROUP_CONTAINERD,
		  ID },
		{ "/system.slice/k3s.service/" POD ":cri-containerd:" ID, GROUP_CONTAINERD, ID },
		{ "/system.slice/k3s-agent.service/" POD ":cri-containerd:" ID, GROUP_CONTAINERD,
		  ID },
		{ "/system.slice/rke2-agent.service/" POD ":cri-containerd:" ID, GROUP_CONTAINERD,
		  ID },
		{ "/system.slice/rke2-server.service/" POD ":cri-containerd:" ID, GROUP_CONTAINERD,
		  ID },
		{ "/system.slice/nerdctl-" ID ".scope", GROUP_CONTAINERD, ID },
		{ "/default/web", GROUP_CONTAINERD, "web" },
		{ "/default/" ID, GROUP_CONTAINERD, ID },
		{ KUBEPODS "/crio-" ID ".scope/container", GROUP_CRIO, ID },
		{ "/kubepods/besteffort/pod1/crio-" ID, GROUP_CRIO, ID },
		{ "/lxc.payload.web/init.scope", GROUP_LXC, "web" },
		{ "/lxc.payload.web/.lxc", GROUP_LXC, "web" },
		{ "/lxc.payload/web", GROUP_LXC, "web" },
		{ "/lxc/100/ns/system.slice/cron.service", GROUP_LXC, "100" },
		{ "/machine.slice/systemd-nspawn@my\\x2dbox.service/payload", GROUP_MACHINE,
		  "my\\x2dbox" },
		{ "/machine.slice/machine-box.scope/payload/init.scope", GROUP_MACHINE, "box" },
		{ "/machine.slice/machine-qemu\\x2d17\\x2ddb\\x2d1.scope/libvirt", GROUP_MACHINE,
		  "db\\x2d1" },
		{ "/machine.slice/machine-lxc\\x2d4711\\x2dweb.scope", GROUP_MACHINE, "web" },
		{ "/machine.slice/machine-ch\\x2d4\\x2dweb.scope", GROUP_MACHINE, "web" },
		{ "/machine.slice/machine-box\\x2d0123456789abcdef.scope", GROUP_MACHINE, "box" },
		{ "/machine.slice/machine-0123456789abcdef.scope", GROUP_MACHINE,
		  "0123456789abcdef" },
		{ "/machine.slice/machine-\\x2d0123456789abcdef.scope", GROUP_MACHINE,
		  "\\x2d0123456789abcdef" },
		{ "/machine.slice/machine-qemu\\x2dweb.scope", GROUP_MACHINE, "qemu\\x2dweb" },
		{ "/machine.slice/machine-qemu\\x2d17th.scope", GROUP_MACHINE, "qemu\\x2d17th" },
	};

	for (size_t i = 0; i < COUNT_OF(containers); i++)
		check(containers[i].path, containers[i].kind, containers[i].text);
}

static void test_nothing(void)
{
	static const char *const paths[] = {
		"/",
		"/system.slice",
		"/user.slice",
		"/kubepods.slice/kubepods-burstable.slice",
		KUBEPODS,
		"/docker",
		"/docker/web",
		"/libpod_parent/conmon",
		"/lxc",
		"/default",
		"/a/b/c",
		/* One digit too few, one character that is no digit, and one digit too many
		 * without a separator. */
		"/docker-123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		"/docker-0123456789Abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		"/dockerx" ID,
		"/.service",
		"/_.service",
		"/@1-500-3.service",
		"/systemd-nspawn@.service",
		"/machine-.scope",
		"/lxc.payload.",
		"/.scope",
		"/service",
	};

	for (size_t i = 0; i < COUNT_OF(paths); i++)
		check(paths[i], GROUP_COMMAND, "");
}

static void test_steps(void)
{
	unsigned steps;

	CASE("a unit is known at its own name");
	key_of("/system.slice/nginx.service/a/b", &steps);
	CHECK_UINT(steps, 2);
	CASE("a user's container at its id");
	key_of("/user.slice/user-7.slice/a/b/" ID "/c/d", &steps);
	CHECK_UINT(steps, 5);
	CASE("a runtime's at the next");
	key_of("/system.slice/containerd.service/a/b", &steps);
	CHECK_UINT(steps, 3);
}

/* A unit with a name of this length, whose last byte is `last`. */
static void long_key(char *text, size_t length, char last)
{
	char path[512] = "/system.slice/";
	size_t begin = strlen(path);
	struct group_key key;

	memset(path + begin, 'x', length);
	path[begin + length - 1] = last;
	strcpy(path + begin + length, ".service");
	key = key_of(path, NULL);
	CHECK_UINT(key.kind, GROUP_UNIT);
	memcpy(text, key.text, sizeof(key.text));
}

static void test_length(void)
{
	char a[GROUP_TEXT_MAX], b[GROUP_TEXT_MAX];

	CASE("as long as it can be");
	long_key(a, GROUP_TEXT_MAX - 1, 'y');
	CHECK_UINT(strlen(a), GROUP_TEXT_MAX - 1);
	CHECK_HAS(a, "xxxxy");
	CASE("longer: its hash tells it from others");
	for (size_t length = GROUP_TEXT_MAX; length < GROUP_DIRECTORY_MAX - 8; length++) {
		long_key(a, length, 'y');
		long_key(b, length, 'z');
		CHECK_UINT(strlen(a), GROUP_TEXT_MAX - 1);
		CHECK_UINT(strspn(a, "x"), GROUP_TEXT_MAX - 1 - GROUP_HASH_LENGTH);
		CHECK_INT(a[GROUP_TEXT_MAX - 1 - GROUP_HASH_LENGTH], '+');
		CHECK_UINT(strspn(a + GROUP_TEXT_MAX - GROUP_HASH_LENGTH, "0123456789abcdef"),
			   GROUP_HASH_LENGTH - 1);
		CHECK_INT(strcmp(a, b) != 0, true);
	}
}

/* Paths that were recorded by tests/vm/cgroups, and their keys; the first entry that fits a path
 * applies. */
static struct recorded {
	const char *glob;
	enum group_kind kind;
	const char *text;
	unsigned seen;
} recorded[] = {
	{ "/", GROUP_COMMAND, "", 0 },
	{ "/init.scope", GROUP_UNIT, "init", 0 },
	{ "/machine.slice", GROUP_COMMAND, "", 0 },
	{ "/machine.slice/libpod-conmon-*.scope", GROUP_UNIT, "conmon", 0 },
	{ "/machine.slice/libpod-*.scope", GROUP_PODMAN, NULL, 0 },
	{ "/machine.slice/libpod-*.scope/container", GROUP_PODMAN, NULL, 0 },
	{ "/system.slice", GROUP_COMMAND, "", 0 },
	{ "/system.slice/batch.service", GROUP_UNIT, "batch", 0 },
	{ "/system.slice/cron.service", GROUP_UNIT, "cron", 0 },
	{ "/system.slice/dbus.service", GROUP_UNIT, "dbus", 0 },
	{ "/system.slice/job-17.scope", GROUP_UNIT, "job", 0 },
	{ "/system.slice/nginx.service", GROUP_UNIT, "nginx", 0 },
	{ "/system.slice/_io.service", GROUP_UNIT, "io", 0 },
	{ "/system.slice/my\\\\x2dapp.service", GROUP_UNIT, "my\\x2dapp", 0 },
	{ "/system.slice/run-billing.service", GROUP_UNIT, "run-billing", 0 },
	{ "/system.slice/run-r*.service", GROUP_UNIT, "run", 0 },
	{ "/system.slice/system-*.slice", GROUP_COMMAND, "", 0 },
	{ "/system.slice/system-echo.slice/echo@*.service", GROUP_UNIT, "echo", 0 },
	{ "/system.slice/system-postgresql.slice/postgresql@15-main.service", GROUP_UNIT,
	  "postgresql@15-main", 0 },
	{ "/system.slice/system-job.slice/job@north\\\\x2dwest.service", GROUP_UNIT,
	  "job@north\\x2dwest", 0 },
	{ "/system.slice/system-job.slice/job@10-20.service", GROUP_UNIT, "job@10-20", 0 },
	{ "/system.slice/system-job.slice/job@2026-11-27.service", GROUP_UNIT, "job@2026-11-27",
	  0 },
	{ "/system.slice/system-job.slice/job@south.service", GROUP_UNIT, "job@south", 0 },
	{ "/system.slice/systemd-journald.service", GROUP_UNIT, "systemd-journald", 0 },
	{ "/system.slice/systemd-logind.service", GROUP_UNIT, "systemd-logind", 0 },
	{ "/system.slice/vm.service", GROUP_UNIT, "vm", 0 },
	{ "/user.slice", GROUP_COMMAND, "", 0 },
	{ "/user.slice/user-2000.slice/*", GROUP_USER, "user-2000", 0 },
};

static void check_recorded(const char *path)
{
	const char *digits = strpbrk(path, "-") ? strpbrk(path, "-") + 1 : "";
	char id[GROUP_ID_LENGTH + 1];

	for (struct recorded *r = recorded; r < recorded + COUNT_OF(recorded); r++) {
		if (fnmatch(r->glob, path, r->kind == GROUP_USER ? 0 : FNM_PATHNAME) != 0)
			continue;
		snprintf(id, sizeof(id), "%s", digits);
		check(path, r->kind, r->text ? r->text : id);
		r->seen++;
		return;
	}
	CASE("%s", path);
	CHECK_TEXT("no pattern", "a pattern for it");
}

static void test_recorded(void)
{
	const char *top = getenv("abs_top_srcdir");
	char path[512], line[1024];
	unsigned lines = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/tests/vm/cgroups", top ? top : ".");
	file = fopen(path, "r");
	CASE("recorded cgroups");
	CHECK_INT(file != NULL, true);
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '#')
			continue;
		check_recorded(strrchr(line, ' ') + 1);
		lines++;
	}
	if (file)
		fclose(file);
	CHECK_INT(lines > 200, true);
	for (size_t i = 0; i < COUNT_OF(recorded); i++) {
		CASE("recorded: %s", recorded[i].glob);
		CHECK_INT(recorded[i].seen > 0, true);
	}
}

int main(void)
{
	test_recorded();
	test_units();
	test_users();
	test_user_containers();
	test_containers();
	test_nothing();
	test_steps();
	test_length();
	return testing_end();
}
