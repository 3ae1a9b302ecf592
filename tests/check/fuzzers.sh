#!/bin/sh
# SPDX-License-Identifier: MIT
# Each fuzzer replays its corpus and then looks for more: FUZZ_RUNS inputs, or for FUZZ_SECONDS, 5 by default. FUZZ
# names those that shall look, all by default.
# What it finds is kept in FUZZ_DIR, if there is one. Also the build with clang.
. "${srcdir:-.}/tests/check/scratch.sh"

found=${FUZZ_DIR:-$work/found}
release "$work/source"
mkdir -p "$work/build" "$found"
cd "$work/build"
# clang, although the build may have another compiler.
unset CC
quietly ../source/configure --enable-fuzzers --enable-sanitizers --enable-werror
quietly make -j2
quietly make -k check
limit=-max_total_time=${FUZZ_SECONDS:-5}
[ -z "${FUZZ_RUNS:-}" ] || limit=-runs=$FUZZ_RUNS
fuzzers=$(make -s print-FUZZERS)
# shellcheck disable=SC2086 # words of a list
[ -z "${FUZZ:-}" ] || fuzzers=$(printf 'tests/fuzz/fuzz_%s ' $FUZZ)
# shellcheck disable=SC2086 # words of a list
../source/tests/fuzz/explore "$found" $fuzzers "$limit"
