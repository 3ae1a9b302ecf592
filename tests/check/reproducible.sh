#!/bin/sh
# SPDX-License-Identifier: MIT
# Another build of the same sources gives the same bytes as this one, whatever the directory, the way to build, the time zone and
# the language.
. "${srcdir:-.}/tests/check/scratch.sh"

mkdir "$work/other"
release "$work/other/place"
cd "$work/other/place"
(
	export TZ=Asia/Tokyo LC_ALL=C.UTF-8 HOME="$work/other"
	umask 077
	eval "quietly ./configure $("$build/config.status" --config)"
	quietly make -j2
)

for file in ebpf.so ebpf-symbols $(make -s print-bpf_objects) $(make -s print-manuals); do
	cmp "$build/$file" "$file" || broken=1
	! grep -aF "$work" "$file" >/dev/null || complain "$file knows where it was built"
	sha256sum "$file"
done
exit $broken
