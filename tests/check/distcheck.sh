#!/bin/sh
# SPDX-License-Identifier: MIT
# `make distcheck` of a release, by somebody who is not root: it builds, installs and leaves nothing behind. That its tests
# build and pass check-sanitizers.sh shows.
. "${srcdir:-.}/tests/check/scratch.sh"

release "$work/source"
set --
if [ "$(id -u)" = 0 ]; then
	chown -R nobody: "$work"
	set -- setpriv --reuid=nobody --regid=nogroup --clear-groups env HOME="$work"
fi
cd "$work/source"
quietly "$@" ./configure
quietly "$@" make -j2 distcheck TESTS= check_PROGRAMS= check_DATA=
