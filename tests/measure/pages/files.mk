# SPDX-License-Identifier: MIT
EXTRA_DIST += tests/measure/pages/run
