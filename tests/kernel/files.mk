# SPDX-License-Identifier: MIT
# Tests with real hooks or a real daemon, as root. The longest first.
KERNEL_TESTS = \
	tests/kernel/test_limits.py \
	tests/kernel/test_http2.py \
	tests/kernel/test_requests.py \
	tests/kernel/test_symbols.py \
	tests/kernel/test_upkeep.py \
	tests/kernel/test_convert.py \
	tests/kernel/test_bpftrace.py \
	tests/kernel/test_foreign.py \
	tests/kernel/test_functions.py \
	tests/kernel/test_function_links.py \
	tests/kernel/test_function_messages.py \
	tests/kernel/test_preemption.py \
	tests/kernel/test_process_ends.py \
	tests/kernel/test_pagecache.py \
	tests/kernel/test_tcp.py \
	tests/kernel/test_file_systems.py \
	tests/kernel/test_events.py \
	tests/kernel/test_files.py \
	tests/kernel/test_syscalls.py \
	tests/kernel/test_services.py \
	tests/kernel/test_groups.py \
	tests/kernel/test_renamed.py \
	tests/kernel/test_replicas.py \
	tests/kernel/test_runtimes.py \
	tests/kernel/test_walk.py \
	tests/kernel/test_absence.py \
	tests/kernel/test_datagrams.py \
	tests/kernel/test_receivers.py \
	tests/kernel/test_selection.py \
	tests/kernel/test_memory.py \
	tests/kernel/test_profile.py \
	tests/kernel/test_progress.py \
	tests/kernel/test_poll.py \
	tests/kernel/test_text.py \
	tests/kernel/test_types.py \
	tests/kernel/test_lifecycle.py \
	tests/kernel/test_streams.py \
	tests/kernel/test_request_roles.py \
	tests/kernel/test_attach_files.py \
	tests/kernel/test_peers.py \
	tests/kernel/test_perprocess.py \
	tests/kernel/test_io.py \
	tests/kernel/test_tls.py \
	tests/kernel/test_tls_handshakes.py \
	tests/kernel/test_container_calls.py \
	tests/kernel/test_hostile.py \
	tests/kernel/test_responses.py \
	tests/kernel/test_request_cases.py \
	tests/kernel/test_attached.py \
	tests/kernel/test_cpufreq.py \
	tests/kernel/test_keys.py \
	tests/kernel/test_all.py \
	tests/kernel/test_members.py \
	tests/kernel/test_oom.py \
	tests/kernel/test_option_fails.py \
	tests/kernel/test_reuse.py \
	tests/kernel/test_http2_responses.py \
	tests/kernel/test_iter_map.py \
	tests/kernel/test_attach.py \
	tests/kernel/test_attach_cpus.py \
	tests/kernel/test_map_memory.py \
	tests/kernel/test_blocked.py \
	tests/kernel/test_cpu.py \
	tests/kernel/test_delay.py \
	tests/kernel/test_delay_cases.py \
	tests/kernel/test_delay_tail.py \
	tests/kernel/test_delay_window.py \
	tests/kernel/test_discarded.py \
	tests/kernel/test_disk.py \
	tests/kernel/test_disk_requests.py \
	tests/kernel/test_loops.py \
	tests/kernel/test_offcpu.py \
	tests/kernel/test_other.py \
	tests/kernel/test_sched.py \
	tests/kernel/test_hostile_user.py \
	tests/kernel/test_first_events.py \
	tests/kernel/test_pause.py \
	tests/kernel/test_payload.py \
	tests/kernel/test_protocols.py \
	tests/kernel/test_request_figures.py \
	tests/kernel/test_unasked.py \
	tests/kernel/test_upstreams.py \
	tests/kernel/test_restart.py \
	tests/kernel/test_returns.py \
	tests/kernel/test_rootless.py \
	tests/kernel/test_runqlat.py \
	tests/kernel/test_self.py \
	tests/kernel/test_short_lives.py \
	tests/kernel/test_sizes.py \
	tests/kernel/test_slack.py \
	tests/kernel/test_in_hand.py \
	tests/kernel/test_stuck.py \
	tests/kernel/test_softirq.py \
	tests/kernel/test_split.py \
	tests/kernel/test_hardirq.py \
	tests/kernel/test_reclaim.py \
	tests/kernel/test_stalls.py
# Only in `make check-long`: they bring the engine to its limits, or what they have is figures.
LONG_KERNEL_TESTS = \
	tests/kernel/test_crowd.py \
	tests/kernel/test_group_storm.py \
	tests/kernel/test_names.py \
	tests/kernel/test_overhead.py \
	tests/kernel/test_process_slots.py \
	tests/kernel/test_resolve.py \
	tests/kernel/test_sampler.py \
	tests/kernel/test_storm.py
# Of machines booted for them, as BOOT, POSSIBLE_CPUS, NVME_PATHS or SYSTEMD in each says.
VM_TESTS = tests/kernel/test_all_cpus.py tests/kernel/test_device_names.py tests/kernel/test_integrity.py \
	tests/kernel/test_lockdown.py tests/kernel/test_preemption_full.py tests/kernel/test_rootless_units.py \
	tests/kernel/test_units.py tests/kernel/test_units_hybrid.py

# What the kernel tests watch: tests/kernel/load_NAME.c and its word here.
LOADS = \
	tests/kernel/load_allocate \
	tests/kernel/load_blocked \
	tests/kernel/load_call \
	tests/kernel/load_case \
	tests/kernel/load_churn \
	tests/kernel/load_crowd \
	tests/kernel/load_cycle \
	tests/kernel/load_delay \
	tests/kernel/load_files \
	tests/kernel/load_function \
	tests/kernel/load_ends \
	tests/kernel/load_first \
	tests/kernel/load_flood \
	tests/kernel/load_flow \
	tests/kernel/load_getppid \
	tests/kernel/load_group \
	tests/kernel/load_hostile \
	tests/kernel/load_io \
	tests/kernel/load_lives \
	tests/kernel/load_many \
	tests/kernel/load_memory \
	tests/kernel/load_poll \
	tests/kernel/load_preempt \
	tests/kernel/load_profile \
	tests/kernel/load_push \
	tests/kernel/load_quit \
	tests/kernel/load_receivers \
	tests/kernel/load_request \
	tests/kernel/load_returns \
	tests/kernel/load_reuse \
	tests/kernel/load_runs \
	tests/kernel/load_offcpu \
	tests/kernel/load_sched \
	tests/kernel/load_slack \
	tests/kernel/load_slow_symbols \
	tests/kernel/load_spin \
	tests/kernel/load_storm \
	tests/kernel/load_stuck \
	tests/kernel/load_syscall \
	tests/kernel/load_talk \
	tests/kernel/load_task \
	tests/kernel/load_tiny

tests_kernel_load_returns_SOURCES = tests/kernel/load_returns.c tests/kernel/returns_coroutines.c tests/kernel/returns_threads.c
tests_kernel_load_delay_SOURCES = tests/kernel/load_delay.c tests/kernel/delay_peer.c tests/kernel/delay_work.c
tests_kernel_load_offcpu_CFLAGS = $(AM_CFLAGS) -fno-omit-frame-pointer -fno-optimize-sibling-calls
tests_kernel_load_profile_CFLAGS = $(AM_CFLAGS) -fno-omit-frame-pointer -fno-optimize-sibling-calls
# Its functions have names also where its symbols are removed.
tests_kernel_load_profile_LDFLAGS = $(AM_LDFLAGS) -rdynamic

# In other languages: without their compilers they are not made, and test_returns says so.
OTHER_LOADS = tests/kernel/load_goroutine tests/kernel/load_panic tests/kernel/load_throw
compile_load = $(srcdir)/tests/kernel/compile
tests/kernel/load_goroutine: tests/kernel/load_goroutine.go
	$(compile_load) $@ $^
tests/kernel/load_panic: tests/kernel/load_panic.rs
	$(compile_load) $@ $^
tests/kernel/load_throw: tests/kernel/load_throw.cc tests/kernel/throw_in_c.c tests/kernel/returns.h tests/kernel/load.h
	$(compile_load) $@ $(filter-out %.h,$^)
EXTRA_DIST += $(wildcard $(srcdir)/tests/kernel/*.[hp]*) tests/kernel/compile \
	tests/kernel/load_goroutine.go tests/kernel/load_panic.rs tests/kernel/load_throw.cc tests/kernel/throw_in_c.c
