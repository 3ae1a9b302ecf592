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
	# collectd starts only if its machine's name has an address.
	echo debian >"$root/etc/hostname"
	echo 127.0.1.1 debian.example.org debian >>"$root/etc/hosts"
	mount -t proc proc "$root/proc"
	mount --rbind /sys "$root/sys"
	mkdir "$root/tmp/source"
	mount --bind -o ro "$top" "$root/tmp/source"
}

# A root with Debian's collectd, and with what the packages in DIRECTORY, its /tmp/packages, need.
make_root_for() { # RELEASE DIRECTORY [PACKAGE,...]
	needs=$(for package in "$2"/*.deb; do dpkg-deb -f "$package" Depends; done | tr ',' '\n' |
		sed 's/(.*//; s/:any//; s/ //g; /^collectd-ebpf/d; /^$/d' | sort -u | tr '\n' ',')
	# libmnl0: the stock configuration has the plugin processes, which does not load without it.
	make_root "$1" "collectd,libmnl0,librrd8,procps,${needs}${3:-}"
	mkdir "$root/tmp/packages"
	mount --bind -o ro "$2" "$root/tmp/packages"
}

inside() {
	# shellcheck disable=SC2016 # the inner shell's own
	env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin unshare --uts \
		sh -c 'hostname debian; exec chroot "$@"' - "$root" "$@"
}
