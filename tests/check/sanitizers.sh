#!/bin/sh
# SPDX-License-Identifier: MIT
# The unit tests and the corpora, with address and undefined behaviour sanitizers; those with threads that share what the
# engine has, with the thread sanitizer. The latter is built by clang, so that another compiler has its say, too.
. "${srcdir:-.}/tests/check/scratch.sh"

release "$work/source"
mkdir "$work/build" "$work/threads"
cd "$work/build"
# Compiling is most of the time that this takes. Warnings are another build's: at -O1 some are wrong.
quietly ../source/configure CFLAGS="-O1 -g" --enable-debug --enable-sanitizers
take_objects .
quietly make -j2
# Without the loads of kernel tests.
make -k -j2 check-unit check_PROGRAMS="ebpf-describe $(make -s print-tests_unit)" VERBOSE=1
cd "$work/threads"
quietly ../source/configure CC=clang CFLAGS="-O1 -g -fsanitize=thread" LDFLAGS=-fsanitize=thread --enable-debug --enable-werror
take_objects .
tests="tests/unit/probe/test_reading tests/unit/service/test_service"
# shellcheck disable=SC2086 # a list
quietly make -j2 $tests
for test in $tests; do
	"$test"
done
