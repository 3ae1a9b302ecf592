# SPDX-License-Identifier: MIT
# The faults that alerts tell of, each by a command, and loads under which no alert may fire.
EXTRA_DIST += $(wildcard $(srcdir)/tests/alerts/*.py) tests/alerts/inject
