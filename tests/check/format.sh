#!/bin/sh
# SPDX-License-Identifier: MIT
# C and C++ sources are as clang-format 14 leaves them (`make format`): another version has another opinion.
. "${srcdir:-.}/tests/check/scratch.sh"
if ! "$CLANG_FORMAT" --version 2>/dev/null | grep -q 'version 14\.'; then
	echo "clang-format 14 is missing (Debian 12: apt-get install clang-format-14)"
	exit 77
fi
release "$work/source"
cd "$work/source"
find . -name '*.[ch]' -o -name '*.cc' | sort >"$work/files"
grep -qx ./plugin/daemon/main.c "$work/files" || complain "plugin/daemon/main.c is not among the sources"
xargs "$CLANG_FORMAT" --dry-run --Werror <"$work/files" || broken=1
wc -l <"$work/files"
exit $broken
