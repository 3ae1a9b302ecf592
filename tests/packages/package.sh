# SPDX-License-Identifier: MIT
# For tests that install the packages in $directory: install PACKAGE..., and other VERSION, which makes $work/other-VERSION.deb.
# shellcheck shell=sh disable=SC2154 # the test's

install() {
	DEBIAN_FRONTEND=noninteractive dpkg --install "$@" >"$work/dpkg" 2>&1 || { cat "$work/dpkg"; return 1; }
}

other() { # VERSION
	rm -rf "$work/package"
	dpkg-deb -R "$directory"/collectd-ebpf_*.deb "$work/package"
	sed -i "s/^Version: .*/Version: $1/" "$work/package/DEBIAN/control"
	dpkg-deb -b "$work/package" "$work/other-$1.deb" >/dev/null
}
