# SPDX-License-Identifier: MIT
# Real services that are broken, and whether the probe delay names the cause.
EXTRA_DIST += $(wildcard $(srcdir)/tests/measure/faults/*.py) tests/measure/faults/run
