# SPDX-License-Identifier: MIT
# Real services that are broken, and whether the probe delay names the cause. make why WHY_FLAGS="nginx-disk": this alone.
why: all $(evidence_programs)
	$(AM_TESTS_ENVIRONMENT) $(srcdir)/tests/measure/faults/run $(WHY_FLAGS)

EXTRA_DIST += $(wildcard $(srcdir)/tests/measure/faults/*.py) tests/measure/faults/run
.PHONY: why
