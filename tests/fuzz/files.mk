# SPDX-License-Identifier: MIT
# Parsers under fuzz: tests/fuzz/fuzz_NAME.c, tests/fuzz/corpus/NAME/ and its word here.
FUZZERS = \
	tests/fuzz/fuzz_cgroup \
	tests/fuzz/fuzz_command_line \
	tests/fuzz/fuzz_config \
	tests/fuzz/fuzz_cpus \
	tests/fuzz/fuzz_elf \
	tests/fuzz/fuzz_folded \
	tests/fuzz/fuzz_group \
	tests/fuzz/fuzz_made \
	tests/fuzz/fuzz_memlock \
	tests/fuzz/fuzz_name \
	tests/fuzz/fuzz_naming \
	tests/fuzz/fuzz_pid \
	tests/fuzz/fuzz_regex \
	tests/fuzz/fuzz_schema \
	tests/fuzz/fuzz_state \
	tests/fuzz/fuzz_tag \
	tests/fuzz/fuzz_text \
	tests/fuzz/fuzz_user
tests_fuzz_fuzz_tag_SOURCES = tests/fuzz/fuzz_tag.c contrib/describe/help.c
tests_fuzz_fuzz_cgroup_SOURCES = tests/fuzz/fuzz_cgroup.c $(fake_maps)
tests_fuzz_fuzz_elf_LDADD = $(symbols) tests/libtest.a
tests_fuzz_fuzz_made_LDADD = $(symbols) tests/libtest.a
tests_fuzz_fuzz_naming_LDADD = $(symbols) tests/libtest.a
EXTRA_DIST += tests/fuzz/README.md tests/fuzz/tools.py tests/fuzz/explore \
	tests/fuzz/choices.h tests/fuzz/fuzz.h tests/fuzz/tags.h $(FUZZERS:tests/fuzz/fuzz_%=tests/fuzz/corpus/%)
