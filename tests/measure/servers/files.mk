# SPDX-License-Identifier: MIT
# Real servers, by the probe request and by their clients.
servers_programs = tests/measure/servers/talk
EXTRA_PROGRAMS += $(servers_programs)
tests_measure_servers_talk_LDADD = -lm

EXTRA_DIST += $(wildcard $(srcdir)/tests/measure/servers/*.py) tests/measure/servers/run
