# SPDX-License-Identifier: MIT
# What is measured and decides nothing: all, or the parts PARTS; measured/ has the logs, and the pages for docs/.
# MEASURE_FLAGS=--short: each in less than a minute. BEFORE: a build tree of another version, with whose request probe this
# one's is compared. EXPORTER: a checkout of ebpf_exporter.
PARTS =
MEASURE_FLAGS =
BEFORE =
EXPORTER =
measured_programs = $(bench_programs) $(bench_bpf_objects) $(evidence_programs) $(servers_programs)
measure: all $(check_PROGRAMS) $(check_DATA) $(measured_programs)
	$(AM_TESTS_ENVIRONMENT) MEASURE_BEFORE='$(BEFORE)' MEASURE_EXPORTER='$(EXPORTER)' \
		$(srcdir)/tests/measure/run $(MEASURE_FLAGS) measured $(PARTS)

EXTRA_DIST += $(addprefix tests/measure/,measured.py measured_parts.py rows.py run statistic.py)
.PHONY: measure
