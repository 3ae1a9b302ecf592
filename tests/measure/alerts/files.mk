# SPDX-License-Identifier: MIT
# How soon alerts fire, and loads in which none may.
EXTRA_DIST += $(addprefix tests/measure/alerts/,faults quiet)
