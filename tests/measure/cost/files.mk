# SPDX-License-Identifier: MIT
# What the plugin costs.
bench_programs = tests/measure/cost/code tests/measure/cost/processes tests/measure/cost/event tests/measure/cost/hash_loop tests/measure/cost/hooks \
	tests/measure/cost/kinds tests/measure/cost/loads.so tests/measure/cost/text tests/measure/cost/threads tests/measure/cost/walk
bench_bpf_objects = tests/measure/cost/bpf/floor.bpf.o tests/measure/cost/bpf/floor_functions.bpf.o \
	tests/measure/cost/bpf/kinds.bpf.o tests/measure/cost/bpf/listing.bpf.o tests/measure/cost/bpf/reads.bpf.o \
	tests/measure/cost/bpf/walk.bpf.o
EXTRA_PROGRAMS += $(bench_programs)
bench_events = tests/measure/cost/events.c tests/measure/cost/events.h
tests_measure_cost_event_SOURCES = tests/measure/cost/event.c $(bench_events)
tests_measure_cost_event_LDFLAGS = -static
tests_measure_cost_event_LDADD =
tests_measure_cost_hash_loop_LDADD = $(LIBBPF_LIBS)
tests_measure_cost_kinds_SOURCES = tests/measure/cost/kinds.c tests/unit/marker.h $(bench_events)
tests_measure_cost_kinds_LDADD = $(engine)
tests_measure_cost_loads_so_SOURCES = tests/measure/cost/loads.c
tests_measure_cost_loads_so_LDFLAGS = -shared
tests_measure_cost_loads_so_LDADD =
tests_measure_cost_walk_LDADD = $(LIBBPF_LIBS)
tests_measure_cost_hooks_SOURCES = tests/measure/cost/hooks.c tests/measure/cost/bpf/listing.h
tests_measure_cost_hooks_LDADD = $(LIBBPF_LIBS)
# By hand: make tests/measure/cost/code && tests/measure/cost/code FILE...
tests_measure_cost_code_LDADD = $(symbols)
tests_measure_cost_text_LDADD = $(engine)

EXTRA_DIST += $(bench_bpf_objects:.o=.c) $(wildcard $(srcdir)/tests/measure/cost/*.py) \
	$(addprefix tests/measure/cost/,run run-kernels run-kinds run-requests run-toolbox bpf/biosnoop.bt bpf/cachestat.bt bpf/listing.bt)
