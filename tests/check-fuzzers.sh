#!/bin/sh
# SPDX-License-Identifier: MIT
# Each fuzzer replays its corpus and then looks for more for a while: FUZZ_SECONDS, 10 by default.
# Also the build with clang.
. "${srcdir:-.}/tests/scratch.sh"

release "$work/source"
mkdir "$work/build" "$work/found"
cd "$work/build"
# clang, although the build may have another compiler.
unset CC
quietly ../source/configure --enable-fuzzers --enable-sanitizers --enable-werror
quietly make -j2
make -k check VERBOSE=1
for fuzzer in $(make -s print-FUZZERS); do
	name=${fuzzer##*/fuzz_}
	mkdir "$work/found/$name"
	quietly "$fuzzer" -max_total_time="${FUZZ_SECONDS:-10}" -timeout=10 -rss_limit_mb=1024 \
		-artifact_prefix="$work/found/" "$work/found/$name" "../source/tests/fuzz/corpus/$name" ||
		complain "$fuzzer"
	tail -n 1 "$work/output"
done
exit $broken
