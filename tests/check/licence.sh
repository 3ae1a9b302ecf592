#!/bin/sh
# SPDX-License-Identifier: MIT
# Every source names its licence once, in its first lines.
. "${srcdir:-.}/tests/check/scratch.sh"
release "$work/source"
cd "$work/source"

find . -name build-aux -prune -o -name corpus -prune -o -type f \
	! -name aclocal.m4 ! -name configure -exec awk '
	/^#!/ || FILENAME ~ /\.(ac|am|bt|c|cc|conf|css|go|h|html|java|js|m4|pod|py|sh|yml)$/ { print FILENAME }
	{ nextfile }' {} + >"$work/files"
for file in ./configure.ac ./tests/run ./plugin/daemon/main.c ./bpf/engine/service.bpf.c; do
	grep -qx "$file" "$work/files" || complain "$file is not among the sources"
done
while read -r file; do
	case $file in
	./bpf/* | ./tests/measure/cost/bpf/*) licence='(MIT OR GPL-2.0-only)' ;;
	*) licence=MIT ;;
	esac
	found=$(head -n 5 "$file" | grep -o 'SPDX-License-Identifier: .*' | sed 's, \*/$,,')
	[ "$found" = "SPDX-License-Identifier: $licence" ] || complain "$file: want $licence, got '$found'"
done <"$work/files"
wc -l <"$work/files"
exit $broken
