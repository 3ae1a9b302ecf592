#!/bin/sh
# SPDX-License-Identifier: MIT
# `make distcheck` of a release, by somebody who is not root, with the unit tests and with those of the tools that draw.
. "${srcdir:-.}/tests/scratch.sh"

release "$work/source"
set --
if [ "$(id -u)" = 0 ]; then
	chown -R nobody: "$work"
	set -- setpriv --reuid=nobody --regid=nogroup --clear-groups env HOME="$work"
fi
cd "$work/source"
quietly "$@" ./configure
quietly "$@" make -j2 distcheck TESTS="$(make -s print-tests_unit) tests/e2e/test_graph.py tests/e2e/test_look.py"
grep -E '^(PASS|SKIP|# (TOTAL|PASS|SKIP|FAIL|ERROR))' "$work/output"
