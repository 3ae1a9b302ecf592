# SPDX-License-Identifier: MIT
# BPF objects that tests load: tests/bpf/NAME.bpf.c and its word here.
check_bpf_objects = \
	tests/bpf/absent.bpf.o \
	tests/bpf/absent_all.bpf.o \
	tests/bpf/attach.bpf.o \
	tests/bpf/attach_arguments.bpf.o \
	tests/bpf/attach_section.bpf.o \
	tests/bpf/blocked.bpf.o \
	tests/bpf/completions.bpf.o \
	tests/bpf/costly.bpf.o \
	tests/bpf/foreign_histograms.bpf.o \
	tests/bpf/foreign_hostile.bpf.o \
	tests/bpf/foreign_names.bpf.o \
	tests/bpf/foreign_shapes.bpf.o \
	tests/bpf/frame.bpf.o \
	tests/bpf/function_links.bpf.o \
	tests/bpf/hostile_event.bpf.o \
	tests/bpf/hostile_full.bpf.o \
	tests/bpf/hostile_hash.bpf.o \
	tests/bpf/hostile_keys.bpf.o \
	tests/bpf/hostile_names.bpf.o \
	tests/bpf/hostile_rows.bpf.o \
	tests/bpf/hostile_section.bpf.o \
	tests/bpf/hostile_sharded.bpf.o \
	tests/bpf/hostile_silent.bpf.o \
	tests/bpf/hostile_tables.bpf.o \
	tests/bpf/hostile_text.bpf.o \
	tests/bpf/hostile_value.bpf.o \
	tests/bpf/hostile_visitor.bpf.o \
	tests/bpf/hostile_walk.bpf.o \
	tests/bpf/iter_map.bpf.o \
	tests/bpf/iter_map_mistakes.bpf.o \
	tests/bpf/lives.bpf.o \
	tests/bpf/members.bpf.o \
	tests/bpf/members_mistakes.bpf.o \
	tests/bpf/mistakes.bpf.o \
	tests/bpf/nonsense.bpf.o \
	tests/bpf/parameters.bpf.o \
	tests/bpf/proprietary.bpf.o \
	tests/bpf/rejected.bpf.o \
	tests/bpf/run_counter.bpf.o \
	tests/bpf/sample.bpf.o \
	tests/bpf/sampler.bpf.o \
	tests/bpf/selection.bpf.o \
	tests/bpf/shared.bpf.o \
	tests/bpf/spin_softirq.bpf.o \
	tests/bpf/tail_mistakes.bpf.o \
	tests/bpf/text.bpf.o \
	tests/bpf/text_mistakes.bpf.o \
	tests/bpf/two_options.bpf.o \
	tests/bpf/walk_mistake.bpf.o
EXTRA_DIST += $(check_bpf_objects:.o=.c) tests/bpf/foreign.h tests/bpf/sample_event.h
