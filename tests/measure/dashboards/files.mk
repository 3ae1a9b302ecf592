# SPDX-License-Identifier: MIT
EXTRA_DIST += tests/measure/dashboards/run
