# SPDX-License-Identifier: MIT
# What the probe request sees, against those who know.
evidence_programs = tests/measure/accuracy/inference tests/measure/accuracy/load
# Compiled by the scripts, where compilers and libraries are there.
evidence_cxx = grpc_client grpc_server search
evidence_made = $(evidence_cxx) go_http2 go_server JavaServer.class
EXTRA_PROGRAMS += $(evidence_programs)
tests_measure_accuracy_load_SOURCES = tests/measure/accuracy/load.c \
	tests/measure/accuracy/dns.c tests/measure/accuracy/mysql.c tests/measure/accuracy/postgres.c \
	tests/measure/accuracy/protocol.c tests/measure/accuracy/protocol.h \
	tests/measure/accuracy/record.c tests/measure/accuracy/record.h
tests_measure_accuracy_load_LDADD = -lm

EXTRA_DIST += $(wildcard $(srcdir)/tests/measure/accuracy/*.py) $(evidence_cxx:%=tests/measure/accuracy/%.cc) \
	$(addprefix tests/measure/accuracy/,run go_http2.go go_server.go JavaServer.java)
