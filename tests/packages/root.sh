# SPDX-License-Identifier: MIT
# For tests in a root of their own, of a Debian release: make_root makes it as $root, and inside COMMAND... runs a command there.
# With the test end the root, what runs there, and its mounts, which nobody else sees. Wants mmdebstrap, and the network for
# Debian's packages.
# shellcheck shell=sh disable=SC2154 # $top is the test's: the tree
[ -n "${own_mounts:-}" ] || own_mounts=yes exec unshare --mount --propagation private "$0" "$@"
root=$(mktemp -d /var/tmp/ebpf-root.XXXXXX)

running() {
	for process in /proc/[0-9]*; do
		[ "$(readlink "$process/root")" != "$root" ] || echo "${process#/proc/}"
	done
}

leave() {
	while running | grep -q .; do
		# shellcheck disable=SC2046 # a list of numbers
		kill -KILL $(running) 2>/dev/null || :
	done
	for mounted in tmp/packages tmp/source sys proc; do
		umount -R "$root/$mounted" 2>/dev/null || :
	done
	rm -rf --one-file-system "$root"
}
trap leave EXIT
trap 'exit 1' HUP INT TERM

make_root() { # RELEASE PACKAGE,...
	mmdebstrap --variant=minbase --include="$2" "$1" "$root"
	echo 127.0.1.1 debian.example.org debian >>"$root/etc/hosts"
	mount -t proc proc "$root/proc"
	mount --rbind /sys "$root/sys"
	mkdir "$root/tmp/source"
	mount --bind -o ro "$top" "$root/tmp/source"
}

inside() {
	# shellcheck disable=SC2016 # the inner shell's own
	env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin unshare --uts \
		sh -c 'hostname debian; exec chroot "$@"' - "$root" "$@"
}
