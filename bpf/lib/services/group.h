/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Which unit, user or container a cgroup is, derived from the names in its path only: those that
 * systemd and the container runtimes use. The names are parsed from the root down, and the
 * outermost that says something decides: directories below it are made by the service, which may
 * name them as it likes. Below a user's slice the outermost id of a container counts, too. The
 * user may have made it up: the engine has to confirm it. Included by the BPF side and by the
 * engine.
 */
#ifndef GROUP_H
#define GROUP_H

#include "group_connection.h"

/* What a key names. The kinds of containers come last. */
enum group_kind {
	GROUP_COMMAND,        /* nothing: the command name decides */
	GROUP_UNIT,           /* nginx, postgresql@15-main */
	GROUP_USER,           /* user-1000: what is below the slice of that user */
	GROUP_CONTAINER,      /* an id, of a runtime that the path does not name */
	GROUP_DOCKER,         /* an id */
	GROUP_PODMAN,         /* an id */
	GROUP_CONTAINERD,     /* an id; with ctr a name */
	GROUP_CRIO,           /* an id */
	GROUP_LXC,            /* a name */
	GROUP_MACHINE,        /* a name, by systemd-machined: of systemd-nspawn and libvirt */
	GROUP_USER_CONTAINER, /* user-1000 and, at GROUP_USER_SIZE, an id */
};

/* Makes the key of a user's container that of the user. */
GROUP_INLINE void group_key_to_user(struct group_key *key)
{
	key->kind = GROUP_USER;
	__builtin_memset(key->text + GROUP_USER_SIZE, 0, GROUP_ID_LENGTH);
}

/* What a directory says about the names below it. */
enum group_parent {
	GROUP_BELOW_ANY,
	GROUP_BELOW_DOCKER,
	GROUP_BELOW_PODMAN,
	GROUP_BELOW_CONTAINERD,
	GROUP_BELOW_LXC,
};

enum group_type {
	GROUP_DIRECTORY, /* not made by systemd */
	GROUP_SLICE,
	GROUP_SERVICE,
	GROUP_SCOPE,
	GROUP_OTHER_UNIT,
};

/* The functions up to group_step() return 1 if the name decides, with `begin` set to the start of
 * the text, else 0. */
GROUP_INLINE int group_found(struct group_walk *walk, __u32 kind, __u32 begin)
{
	walk->key.kind = kind;
	walk->begin = begin;
	return 1;
}

/* A unit whose name ends at `end`. */
GROUP_INLINE int group_found_unit(struct group_walk *walk, __u32 end)
{
	group_cut(walk, end);
	return group_found(walk, GROUP_UNIT, walk->begin);
}

/* Does systemd-run make up such names? run-rHEX with 32 digits, run-uNUMBER, run-uNUMBER-sNUMBER,
 * run-pNUMBER-iNUMBER; old versions: run-NUMBER. */
GROUP_INLINE int group_is_run(const struct group_walk *walk)
{
	__u32 at = sizeof("run-") - 1, letter, digits;

	if (!GROUP_BEGINS(walk, "run-"))
		return 0;
	if (GROUP_SAME(walk, at, "r"))
		return walk->length == at + 1 + 32 && group_is_hex(walk, at + 1, 32);
	letter = GROUP_SAME(walk, at, "u") || GROUP_SAME(walk, at, "p");
	at += letter;
	digits = group_digits(walk, at);
	at += digits;
	if (digits == 0 || at == walk->length)
		return digits != 0;
	if (!letter || !(GROUP_SAME(walk, at, "-s") || GROUP_SAME(walk, at, "-i")))
		return 0;
	digits = group_digits(walk, at + 2);
	return digits && at + 2 + digits == walk->length;
}

/* They share the key "run". */
GROUP_INLINE int group_found_run(struct group_walk *walk)
{
	walk->name[0] = 'r';
	walk->name[1] = 'u';
	walk->name[2] = 'n';
	return group_found_unit(walk, 3);
}

/* The runtime of a bare id. */
GROUP_INLINE __u32 group_runtime_above(const struct group_walk *walk)
{
	switch (walk->parent) {
	case GROUP_BELOW_DOCKER:
		return GROUP_DOCKER;
	case GROUP_BELOW_PODMAN:
		return GROUP_PODMAN;
	case GROUP_BELOW_CONTAINERD:
		return GROUP_CONTAINERD;
	case GROUP_BELOW_LXC:
		return GROUP_LXC;
	default:
		return GROUP_CONTAINER;
	}
}

/* The runtime by the text before the separator. */
GROUP_INLINE __u32 group_runtime_before(const struct group_walk *walk, __u32 end)
{
	if (GROUP_ENDS(walk, end, "docker"))
		return GROUP_DOCKER;
	if (GROUP_ENDS(walk, end, "libpod") || GROUP_ENDS(walk, end, "libpod-payload"))
		return GROUP_PODMAN;
	if (GROUP_ENDS(walk, end, "cri-containerd") || GROUP_ENDS(walk, end, "nerdctl"))
		return GROUP_CONTAINERD;
	return GROUP_ENDS(walk, end, "crio") ? GROUP_CRIO : GROUP_CONTAINER;
}

/* ID, RUNTIME-ID, SLICE:RUNTIME:ID. conmon runs outside of the container that it monitors. */
GROUP_LOOP int group_of_id(struct group_walk *walk)
{
	__u32 begin;

	if (!walk || !group_ends_with_id(walk))
		return 0;
	begin = walk->length - GROUP_ID_LENGTH;
	if (begin == 0)
		return group_found(walk, group_runtime_above(walk), 0);
	if (!GROUP_ENDS(walk, begin - 1, "conmon"))
		return group_found(walk, group_runtime_before(walk, begin - 1), begin);
	group_cut(walk, begin - 1);
	return group_found(walk, GROUP_UNIT, begin - 1 - (sizeof("conmon") - 1));
}

/* Cuts off what systemd-nspawn --ephemeral appends: a dash, escaped, and 16 digits. */
GROUP_INLINE void group_cut_ephemeral(struct group_walk *walk)
{
	__u32 digits = walk->length - 16, end = digits - (sizeof("\\x2d") - 1);

	if (walk->length > sizeof("machine-\\x2d") - 1 + 16 && group_is_hex(walk, digits, 16) &&
	    GROUP_SAME(walk, end, "\\x2d"))
		group_cut(walk, end);
}

/* machine-NAME. libvirt prefixes its driver and a number: machine-qemu\x2d7\x2dNAME. */
GROUP_INLINE int group_of_machine(struct group_walk *walk)
{
	__u32 begin = sizeof("machine-") - 1, digits = 0;

	if (!GROUP_BEGINS(walk, "machine-"))
		return 0;
	if (GROUP_SAME(walk, begin, "qemu\\x2d"))
		digits = begin + sizeof("qemu\\x2d") - 1;
	else if (GROUP_SAME(walk, begin, "lxc\\x2d"))
		digits = begin + sizeof("lxc\\x2d") - 1;
	else if (GROUP_SAME(walk, begin, "ch\\x2d"))
		digits = begin + sizeof("ch\\x2d") - 1;
	if (digits && group_digits(walk, digits)) {
		digits += group_digits(walk, digits);
		if (GROUP_SAME(walk, digits, "\\x2d"))
			begin = digits + sizeof("\\x2d") - 1;
	}
	group_cut_ephemeral(walk);
	return group_found(walk, GROUP_MACHINE, begin);
}

#define GROUP_BUILD_LENGTH 25 /* of the name that BuildKit gives a step of a build */

/* A scope that is no container is named after the program that made it, with a number or a UUID:
 * NAME-7, NAME.UUID, UUID.NAME. Steps of builds are docker-WORD and buildah-buildah7. */
GROUP_INLINE int group_of_program(struct group_walk *walk)
{
	__u32 length = walk->length, begin = length - group_digits_before(walk, length);

	if (GROUP_BEGINS(walk, "docker-") && length == sizeof("docker-") - 1 + GROUP_BUILD_LENGTH)
		return group_found_unit(walk, sizeof("docker") - 1);
	if (length > 37 && group_is_uuid(walk, 0) && GROUP_SAME(walk, 36, "."))
		return group_found(walk, GROUP_UNIT, 37);
	if (length > 37 && group_is_uuid(walk, length - 36))
		return group_found_unit(walk, length - 37);
	if (begin < length && GROUP_ENDS(walk, begin, "buildah-buildah"))
		return group_found_unit(walk, begin - (sizeof("-buildah") - 1));
	if (begin < length && begin > 1 && group_class(walk, begin - 1) & GROUP_DASH)
		return group_found_unit(walk, begin - 1);
	return group_found_unit(walk, length);
}

GROUP_INLINE int group_of_scope(struct group_walk *walk)
{
	return group_of_id(walk) || group_of_machine(walk) || group_of_program(walk);
}

/* Position of the @ before the instance, or the length. */
GROUP_LOOP __u32 group_instance(const struct group_walk *walk)
{
	__u32 before = GROUP_TEXT, at = 0;

	if (!walk)
		return 0;
	for (__u32 i = 0; i < GROUP_DIRECTORY_MAX - 1; i++) {
		__u32 class = group_class(walk, i);

		before &= class & ~(class / GROUP_AT);
		at += before;
	}
	return at;
}

/* dbus-:1.2-NAME@7: the bus starts NAME for its client :1.2. */
GROUP_INLINE __u32 group_bus_name(const struct group_walk *walk)
{
	__u32 at = sizeof("dbus-:") - 1;

	at += group_digits(walk, at) + 1;
	at += group_digits(walk, at) + 1;
	return group_class(walk, at - 1) & GROUP_DASH ? at : 0;
}

GROUP_INLINE int group_of_service(struct group_walk *walk)
{
	__u32 at = group_instance(walk), id = walk->length - GROUP_ID_LENGTH;

	if (GROUP_BEGINS(walk, "systemd-nspawn@"))
		return group_found(walk, GROUP_MACHINE, sizeof("systemd-nspawn@") - 1);
	if (group_is_hex(walk, 0, GROUP_ID_LENGTH)) /* of podman, for its health checks */
		return group_found_run(walk);
	if (group_ends_with_id(walk))
		return group_found_unit(walk, id - 1);
	if (GROUP_BEGINS(walk, "dbus-:")) {
		group_cut(walk, at);
		return group_found(walk, GROUP_UNIT, group_bus_name(walk));
	}
	if (at < walk->length && group_is_connection(walk, at + 1))
		return group_found_unit(walk, at);
	return group_found_unit(walk, walk->length);
}

GROUP_INLINE int group_of_slice(struct group_walk *walk)
{
	__u32 begin = sizeof("user-") - 1;

	if (!GROUP_BEGINS(walk, "user-") || walk->length == begin ||
	    group_digits(walk, begin) != walk->length - begin)
		return 0;
	return group_found(walk, GROUP_USER, 0);
}

/* What this directory says about the names below it. */
GROUP_INLINE __u32 group_parent(const struct group_walk *walk)
{
	if (GROUP_IS(walk, "docker"))
		return GROUP_BELOW_DOCKER;
	if (GROUP_IS(walk, "libpod_parent"))
		return GROUP_BELOW_PODMAN;
	if (GROUP_IS(walk, "lxc") || GROUP_IS(walk, "lxc.payload"))
		return GROUP_BELOW_LXC;
	return GROUP_IS(walk, "default") ? GROUP_BELOW_CONTAINERD : GROUP_BELOW_ANY;
}

/* A directory that systemd has not made. */
GROUP_INLINE int group_of_directory(struct group_walk *walk)
{
	if (group_of_id(walk))
		return 1;
	if (walk->parent == GROUP_BELOW_LXC || walk->parent == GROUP_BELOW_CONTAINERD)
		return group_found(walk, group_runtime_above(walk), 0);
	if (GROUP_BEGINS(walk, "lxc.payload."))
		return group_found(walk, GROUP_LXC, sizeof("lxc.payload.") - 1);
	if (GROUP_BEGINS(walk, "lxc.monitor"))
		return group_found_unit(walk, sizeof("lxc.monitor") - 1);
	if (GROUP_IS(walk, "buildkit"))
		return group_found_unit(walk, walk->length);
	return 0;
}

/* Units below which Kubernetes has its containers, where its cgroup driver is systemd and that of
 * containerd is not. */
GROUP_INLINE int group_is_runtime(const struct group_walk *walk)
{
	return GROUP_IS(walk, "containerd") || GROUP_IS(walk, "k3s") ||
	       GROUP_IS(walk, "k3s-agent") || GROUP_IS(walk, "rke2-agent") ||
	       GROUP_IS(walk, "rke2-server");
}

/* Cuts off a suffix, unless it is the whole name. */
GROUP_INLINE int group_strip(struct group_walk *walk, const char *text, __u32 length)
{
	if (walk->length <= length || !group_same(walk, walk->length - length, text, length))
		return 0;
	group_cut(walk, walk->length - length);
	return 1;
}

#define GROUP_STRIP(walk, text) group_strip(walk, text, sizeof(text) - 1)

/* The type by the suffix of the name, which is cut off. */
GROUP_INLINE __u32 group_type(struct group_walk *walk)
{
	if (GROUP_STRIP(walk, ".slice"))
		return GROUP_SLICE;
	if (GROUP_STRIP(walk, ".service"))
		return GROUP_SERVICE;
	if (GROUP_STRIP(walk, ".scope"))
		return GROUP_SCOPE;
	if (GROUP_STRIP(walk, ".socket") || GROUP_STRIP(walk, ".mount") ||
	    GROUP_STRIP(walk, ".swap"))
		return GROUP_OTHER_UNIT;
	return GROUP_DIRECTORY;
}

GROUP_INLINE int group_of_type(struct group_walk *walk, __u32 type)
{
	/* An underscore precedes names that the kernel's own files could have: _io.service. */
	walk->begin = type != GROUP_DIRECTORY && GROUP_BEGINS(walk, "_");
	if (type >= GROUP_SERVICE && group_is_run(walk))
		return group_found_run(walk);
	switch (type) {
	case GROUP_SLICE:
		return group_of_slice(walk);
	case GROUP_SERVICE:
		return group_of_service(walk);
	case GROUP_SCOPE:
		return group_of_scope(walk);
	case GROUP_OTHER_UNIT:
		return group_found_unit(walk, walk->length);
	default:
		return group_of_directory(walk);
	}
}

/* A directory below a user's slice: scopes and directories of containers have an id. */
GROUP_INLINE int group_step_of_user(struct group_walk *walk, __u32 type)
{
	int found = (type == GROUP_SCOPE || type == GROUP_DIRECTORY) && group_of_id(walk) &&
		    walk->key.kind != GROUP_UNIT;

	walk->key.kind = found ? GROUP_USER_CONTAINER : GROUP_USER;
	if (found)
		group_add_id(walk);
	return found;
}

/* Parses walk->name, the next directory below the root on the way down: walk->length bytes, fewer
 * than GROUP_DIRECTORY_MAX, followed by a NUL. 1: the key is final. 0: a name further down may
 * change it. */
GROUP_INLINE int group_step(struct group_walk *walk)
{
	__u32 type = group_type(walk), known = walk->key.kind;
	int found;

	if (known == GROUP_USER)
		return group_step_of_user(walk, type);
	found = known == GROUP_COMMAND ? group_of_type(walk, type)
				       : type == GROUP_DIRECTORY && group_of_id(walk);
	walk->parent = type == GROUP_DIRECTORY ? group_parent(walk) : GROUP_BELOW_ANY;
	/* An empty text names nothing. */
	found = found && walk->begin < walk->length;
	if (found)
		group_set_text(walk);
	else
		walk->key.kind = known;
	if (known != GROUP_COMMAND)
		return 1;
	return found && walk->key.kind != GROUP_USER &&
	       !(type == GROUP_SERVICE && group_is_runtime(walk));
}

#endif
