# SPDX-License-Identifier: MIT
# Of the engine's own object only.
engine_bpf_headers = \
	bpf/engine/group.bpf.h \
	bpf/engine/match.bpf.h \
	bpf/engine/process_row.bpf.h \
	bpf/engine/row.bpf.h \
	bpf/engine/scan.bpf.h \
	bpf/engine/service_process.bpf.h \
	bpf/engine/visit.bpf.h
