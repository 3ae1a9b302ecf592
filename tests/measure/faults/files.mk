# SPDX-License-Identifier: MIT
# Real services that are broken, and whether the probe delay names the cause.
# Compiled by the scripts, where compilers are there.
faults_made = app_server AppServer.class
EXTRA_DIST += $(wildcard $(srcdir)/tests/measure/faults/*.py) \
	$(addprefix tests/measure/faults/,run app_server.go app_server.js AppServer.java)
