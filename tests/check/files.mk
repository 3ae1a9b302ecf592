# SPDX-License-Identifier: MIT
# Checks of the tree and of the build itself: not in `make check`, but in tests/run. The longest first, so that none is
# left when all others have ended.
BUILD_TESTS = \
	tests/check/sanitizers.sh \
	tests/check/distcheck.sh \
	tests/check/reproducible.sh \
	tests/check/arm64.sh \
	tests/check/bpf.sh \
	tests/check/calls.sh \
	tests/check/clang.sh \
	tests/check/configure.sh \
	tests/check/describe.sh \
	tests/check/documents.py \
	tests/check/figures.py \
	tests/check/format.sh \
	tests/check/install.sh \
	tests/check/licence.sh \
	tests/check/messages.py \
	tests/check/names.sh \
	tests/check/quantities.py \
	tests/check/options.sh \
	tests/check/plugin.sh \
	tests/check/rooms.py \
	tests/check/scripts.sh \
	tests/check/tree.sh \
	tests/check/words.py
EXTRA_DIST += $(BUILD_TESTS) tests/check/fuzzers.sh tests/check/phrases tests/check/prose.py tests/check/quantities.txt tests/check/said.py tests/check/scratch.sh tests/check/words
