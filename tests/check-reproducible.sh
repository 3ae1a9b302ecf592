#!/bin/sh
# SPDX-License-Identifier: MIT
# Two builds of one release give the same bytes, whatever the directory, the way to build, the time
# zone and the language.
. "${srcdir:-.}/tests/scratch.sh"

release "$work/source"
cp -a "$work/source" "$work/a"
mkdir -p "$work/other/place/build"
cp -a "$work/source" "$work/other/place/tree"

cd "$work/a"
quietly ./configure
quietly make
cd "$work/other/place/build"
(
	export TZ=Asia/Tokyo LC_ALL=C.UTF-8 HOME="$work/other"
	umask 077
	quietly ../tree/configure
	quietly make -j2
)

for file in ebpf.so $(make -s print-bpf_objects) $(make -s print-manuals); do
	cmp "$work/a/$file" "$work/other/place/build/$file" || broken=1
	! grep -aF "$work" "$work/a/$file" >/dev/null || complain "$file knows where it was built"
	sha256sum "$work/a/$file" | sed "s,$work/,,"
done
exit $broken
