#!/bin/sh
# SPDX-License-Identifier: MIT
# --with-collectd takes collectd's source tree as well: there its headers lie elsewhere, and one of
# them is called config.h like one of ours. The tree is laid out from Debian's headers.
. "${srcdir:-.}/tests/check/scratch.sh"
headers=/usr/include/collectd/core
if [ ! -d $headers ]; then
	echo "Debian's headers are missing: apt-get install collectd-dev"
	exit 77
fi
mkdir "$work/collectd" "$work/build"
cp -r $headers "$work/collectd/src"
cp -r $headers/../liboconfig "$work/collectd/src"
find "$work/collectd" -name '*.h' -exec sed -i 's,#include "collectd/core/,#include ",' {} +
release "$work/source"
cd "$work/build"

quietly ../source/configure --with-collectd="$work/collectd" --enable-werror
# Those that include its headers.
objects=$(cd ../source && grep -l '^#include <collectd.h>' plugin/*/*.c | sed 's/c$/o/')
[ -n "$objects" ] || complain "no source includes collectd's headers"
# shellcheck disable=SC2086 # a list of files
quietly make -j2 $objects
grep -qF "$work/collectd/src/config.h" plugin/*/.deps/* || complain "collectd's config.h is not found"
! grep -F /usr/include/collectd plugin/*/.deps/* || complain "made from the installed headers"
exit $broken
