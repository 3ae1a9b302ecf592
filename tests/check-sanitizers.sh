#!/bin/sh
# SPDX-License-Identifier: MIT
# The unit tests and the corpora, with address and undefined behaviour sanitizers.
. "${srcdir:-.}/tests/scratch.sh"

release "$work/source"
mkdir "$work/build"
cd "$work/build"
quietly ../source/configure --enable-sanitizers --enable-werror
quietly make -j2
make -k -j2 check-unit VERBOSE=1
