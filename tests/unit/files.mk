# SPDX-License-Identifier: MIT
# Tests of one file each, without privilege: tests/unit/ROOM/test_FILE.c and its word here.
UNIT_TESTS = \
	tests/unit/attach/test_argument \
	tests/unit/attach/test_attach \
	tests/unit/attach/test_attachment_list \
	tests/unit/attach/test_attachment_message \
	tests/unit/attach/test_frame \
	tests/unit/attach/test_function_program \
	tests/unit/attach/test_traceable \
	tests/unit/bpf/test_cputime \
	tests/unit/bpf/test_group \
	tests/unit/bpf/test_hist \
	tests/unit/bpf/test_split \
	tests/unit/bpf/test_woken \
	tests/unit/cgroup/test_cgroup_name \
	tests/unit/cgroup/test_container \
	tests/unit/cgroup/test_container_names \
	tests/unit/cgroup/test_description \
	tests/unit/cgroup/test_match \
	tests/unit/cgroup/test_pod \
	tests/unit/cgroup/test_recorded \
	tests/unit/cgroup/test_runtime \
	tests/unit/cgroup/test_service_cgroups \
	tests/unit/cgroup/test_state \
	tests/unit/cgroup/test_storage_list \
	tests/unit/cgroup/test_tree \
	tests/unit/cgroup/test_user \
	tests/unit/cgroup/test_user_state \
	tests/unit/config/test_block \
	tests/unit/config/test_bounds \
	tests/unit/config/test_cgroup \
	tests/unit/config/test_config \
	tests/unit/config/test_function_block \
	tests/unit/config/test_hook \
	tests/unit/config/test_mistake \
	tests/unit/config/test_name \
	tests/unit/config/test_response_rule \
	tests/unit/config/test_unit \
	tests/unit/daemon/test_batch \
	tests/unit/daemon/test_dispatch \
	tests/unit/daemon/test_event_file \
	tests/unit/daemon/test_lacking \
	tests/unit/daemon/test_leaks \
	tests/unit/daemon/test_main \
	tests/unit/daemon/test_main_reading \
	tests/unit/daemon/test_memory \
	tests/unit/daemon/test_notifier \
	tests/unit/daemon/test_publish \
	tests/unit/daemon/test_recorder \
	tests/unit/daemon/test_threshold \
	tests/unit/describe/test_help \
	tests/unit/device/test_device_name \
	tests/unit/event/test_event \
	tests/unit/event/test_event_line \
	tests/unit/event/test_limit \
	tests/unit/helper/symbols/test_code \
	tests/unit/helper/symbols/test_made \
	tests/unit/helper/symbols/test_returns \
	tests/unit/helper/symbols/test_symbols \
	tests/unit/helper/test_confined \
	tests/unit/helper/test_file \
	tests/unit/helper/test_file_helper \
	tests/unit/helper/test_file_read \
	tests/unit/helper/test_helper_process \
	tests/unit/helper/test_symbol \
	tests/unit/helper/test_symbol_debug \
	tests/unit/helper/test_symbol_name \
	tests/unit/helper/test_symbol_name_made \
	tests/unit/helper/test_symbol_reply \
	tests/unit/object/test_budget \
	tests/unit/object/test_cause \
	tests/unit/object/test_diagnosis \
	tests/unit/object/test_hook_set \
	tests/unit/object/test_hook_set_parts \
	tests/unit/object/test_iter_map \
	tests/unit/object/test_machine \
	tests/unit/object/test_object \
	tests/unit/object/test_object_walk \
	tests/unit/object/test_parameter \
	tests/unit/object/test_sample \
	tests/unit/object/test_shared_map \
	tests/unit/probe/test_cpus \
	tests/unit/probe/test_metric_choice \
	tests/unit/probe/test_open \
	tests/unit/probe/test_overhead \
	tests/unit/probe/test_probe \
	tests/unit/probe/test_reading \
	tests/unit/probe/test_run_counter \
	tests/unit/probe/test_run_statistics \
	tests/unit/probe/test_sampler \
	tests/unit/probe/test_trial \
	tests/unit/probe/test_upkeep \
	tests/unit/probe/test_version \
	tests/unit/schema/test_buckets \
	tests/unit/schema/test_decode \
	tests/unit/schema/test_fields \
	tests/unit/schema/test_file_tag \
	tests/unit/schema/test_label \
	tests/unit/schema/test_label_choice \
	tests/unit/schema/test_schema \
	tests/unit/schema/test_schema_block \
	tests/unit/schema/test_schema_tags \
	tests/unit/schema/test_selection \
	tests/unit/schema/test_tag \
	tests/unit/schema/test_tail \
	tests/unit/service/test_cgroup_rule \
	tests/unit/service/test_fit \
	tests/unit/service/test_idle \
	tests/unit/service/test_lifecycle \
	tests/unit/service/test_pidfile \
	tests/unit/service/test_process_row \
	tests/unit/service/test_quota \
	tests/unit/service/test_resolve \
	tests/unit/service/test_restart \
	tests/unit/service/test_restart \
	tests/unit/service/test_row_name \
	tests/unit/service/test_row_renamed \
	tests/unit/service/test_row_replicas \
	tests/unit/service/test_rule \
	tests/unit/service/test_service \
	tests/unit/service/test_subject \
	tests/unit/service/test_subscriber \
	tests/unit/service/test_unassigned \
	tests/unit/service/test_unnamed \
	tests/unit/service/test_walk \
	tests/unit/source/test_cgroup1 \
	tests/unit/source/test_rows \
	tests/unit/source/test_text \
	tests/unit/source/test_text_files \
	tests/unit/source/test_text_rows \
	tests/unit/stack/test_code \
	tests/unit/stack/test_collector \
	tests/unit/stack/test_folded \
	tests/unit/stack/test_frame_text \
	tests/unit/stack/test_process_map \
	tests/unit/stack/test_safe_directory \
	tests/unit/stack/test_stacks \
	tests/unit/stack/test_store \
	tests/unit/stack/test_trigger \
	tests/unit/table/test_cells \
	tests/unit/table/test_key_pending \
	tests/unit/table/test_keys \
	tests/unit/table/test_keys_alike \
	tests/unit/table/test_percentile \
	tests/unit/table/test_process_slots \
	tests/unit/table/test_rank \
	tests/unit/table/test_series \
	tests/unit/table/test_slots \
	tests/unit/table/test_table \
	tests/unit/util/test_allowance \
	tests/unit/util/test_glob \
	tests/unit/util/test_kernel_directory \
	tests/unit/util/test_kernel_file \
	tests/unit/util/test_message \
	tests/unit/util/test_number \
	tests/unit/util/test_regex \
	tests/unit/util/test_utf8

check_LIBRARIES = tests/libtest.a
tests_libtest_a_SOURCES = \
	tests/unit/fake/blocks.h \
	tests/unit/fake/callbacks.h \
	tests/unit/fake/configuration.h \
	tests/unit/fake/daemon.c \
	tests/unit/fake/daemon.h \
	tests/unit/fake/helper.h \
	tests/unit/fake/label.h \
	tests/unit/fake/keys.h \
	tests/unit/fake/named_rows.h \
	tests/unit/fake/names.h \
	tests/unit/fake/oconfig.c \
	tests/unit/fake/oconfig.h \
	tests/unit/fake/probe.h \
	tests/unit/fake/resolver.h \
	tests/unit/fake/row.c \
	tests/unit/fake/row.h \
	tests/unit/fake/run_counter.h \
	tests/unit/fake/sample.h \
	tests/unit/fake/services.h \
	tests/unit/fake/slots.h \
	tests/unit/fake/snapshot.h \
	tests/unit/fake/state.h \
	tests/unit/fake/string_list.h \
	tests/unit/fake/table.h \
	tests/unit/fake/text_file.h \
	tests/unit/fake/walks.h \
	tests/unit/marker.h \
	tests/unit/may_load.h \
	tests/unit/messages.h \
	tests/unit/named_program.h \
	tests/unit/scratch_directory.h \
	tests/unit/separate_debug.h \
	tests/unit/testing.h \
	tests/unit/values.h \
	tests/fuzz/replay.c
# --- flags
# What rows are made with, and the test itself does not name.
tests_unit_daemon_test_publish_LDFLAGS = $(AM_LDFLAGS) -Wl,-u,schema_read
tests_unit_table_test_series_LDFLAGS = $(AM_LDFLAGS) -Wl,-u,schema_read
tests_unit_table_test_cells_LDFLAGS = $(AM_LDFLAGS) -Wl,-u,dispatch_type -Wl,-u,schema_read
tests_unit_table_test_keys_LDFLAGS = $(AM_LDFLAGS) -Wl,-u,dispatch_type -Wl,-u,schema_read
tests_unit_table_test_keys_alike_LDFLAGS = $(tests_unit_table_test_keys_LDFLAGS)
tests_unit_table_test_key_pending_LDFLAGS = $(tests_unit_table_test_keys_LDFLAGS)
tests_unit_table_test_process_slots_LDFLAGS = $(AM_LDFLAGS) -Wl,-u,dispatch_type -Wl,-u,schema_read
tests_unit_table_test_slots_LDFLAGS = $(AM_LDFLAGS) -Wl,-u,dispatch_type -Wl,-u,schema_read
tests_unit_table_test_rank_LDFLAGS = $(AM_LDFLAGS) -Wl,-u,dispatch_type -Wl,-u,schema_read
tests_unit_attach_test_attachment_list_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=bpf_link__destroy,--wrap=kernel_links_open
# Flags of their own, for objects of their own.
tests_unit_bpf_test_split_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bpf/lib
tests_unit_bpf_test_woken_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bpf/lib
tests_unit_daemon_test_leaks_CPPFLAGS = $(AM_CPPFLAGS) -DPROBES='"$(PROBES)"'
tests_unit_daemon_test_leaks_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_gettime,--wrap=usleep
tests_unit_daemon_test_leaks_SOURCES = tests/unit/daemon/test_leaks.c plugin/daemon/main.c
tests_unit_daemon_test_main_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_daemon_test_main_SOURCES = tests/unit/daemon/test_main.c plugin/daemon/main.c
tests_unit_daemon_test_main_reading_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_daemon_test_main_reading_SOURCES = tests/unit/daemon/test_main_reading.c plugin/daemon/main.c
tests_unit_daemon_test_memory_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=asprintf,--wrap=calloc,--wrap=realloc,--wrap=reallocarray,--wrap=strdup
tests_unit_daemon_test_notifier_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=bpf_map__fd,--wrap=calloc \
	-Wl,--wrap=ring_buffer__consume,--wrap=ring_buffer__epoll_fd,--wrap=ring_buffer__free,--wrap=ring_buffer__new
tests_unit_daemon_test_recorder_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=event_file_append
tests_unit_stack_test_collector_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=symbol_name,--wrap=symbol_name_made
tests_unit_stack_test_code_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=symbol_name,--wrap=symbol_name_made
# The kernel's statistics, and a clock that the test turns.
tests_unit_probe_test_run_statistics_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=bpf_enable_stats,--wrap=bpf_obj_get_info_by_fd,--wrap=clock_gettime,--wrap=usleep
# In place of libbpf's functions of these names: not in the library, where every test would get them.
fake_maps = tests/unit/fake/maps.c tests/unit/fake/maps.h
# A machine of as many CPUs as the test says, where nothing is loaded.
tests_unit_probe_test_cpus_CPPFLAGS = $(AM_CPPFLAGS) -DTYPES_DB='"$(TYPES_DB)"'
tests_unit_probe_test_cpus_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=bpf_map__reuse_fd,--wrap=dispatch_type \
	-Wl,--wrap=libbpf_num_possible_cpus,--wrap=object_load
tests_unit_probe_test_cpus_SOURCES = tests/unit/probe/test_cpus.c contrib/describe/types.c
tests_unit_cgroup_test_cgroup_name_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=cgroup_open,--wrap=open_by_handle_at
tests_unit_cgroup_test_container_names_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_gettime,--wrap=file_read
tests_unit_cgroup_test_description_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=file_read
tests_unit_cgroup_test_recorded_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=file_read
tests_unit_cgroup_test_runtime_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=file_read,--wrap=runtime_process_is_trusted
tests_unit_probe_test_upkeep_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_gettime -Wl,--wrap=services_resolve \
	-Wl,--wrap=resolver_log_fits -Wl,--wrap=attachments_any -Wl,--wrap=attachments_check \
	-Wl,--wrap=bpf_enable_stats
tests_unit_probe_test_upkeep_SOURCES = tests/unit/probe/test_upkeep.c $(fake_maps)
tests_unit_probe_test_reading_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=file_read
tests_unit_probe_test_reading_SOURCES = tests/unit/probe/test_reading.c $(fake_maps)
tests_unit_service_test_walk_SOURCES = tests/unit/service/test_walk.c $(fake_maps)
tests_unit_object_test_object_walk_SOURCES = tests/unit/object/test_object_walk.c $(fake_maps)
tests_unit_service_test_resolve_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_gettime,--wrap=regex_match
tests_unit_service_test_resolve_SOURCES = tests/unit/service/test_resolve.c $(fake_maps)
tests_unit_service_test_pidfile_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_gettime,--wrap=file_read
tests_unit_service_test_process_row_SOURCES = tests/unit/service/test_process_row.c $(fake_maps)
tests_unit_helper_symbols_test_symbols_LDADD = $(symbols)
tests_unit_helper_test_symbol_name_LDADD = $(symbols) $(LDADD)
tests_unit_helper_symbols_test_returns_LDADD = $(symbols)
tests_unit_helper_symbols_test_code_LDADD = $(symbols)
tests_unit_helper_symbols_test_made_LDADD = $(symbols)
tests_unit_service_test_unassigned_SOURCES = tests/unit/service/test_unassigned.c $(fake_maps)
tests_unit_config_test_response_rule_SOURCES = tests/unit/config/test_response_rule.c $(fake_maps)
tests_unit_service_test_rule_SOURCES = tests/unit/service/test_rule.c $(fake_maps)
tests_unit_service_test_service_SOURCES = tests/unit/service/test_service.c $(fake_maps)
tests_unit_service_test_subscriber_SOURCES = tests/unit/service/test_subscriber.c $(fake_maps)
tests_unit_service_test_fit_SOURCES = tests/unit/service/test_fit.c $(fake_maps)
tests_unit_service_test_cgroup_rule_SOURCES = tests/unit/service/test_cgroup_rule.c $(fake_maps)
tests_unit_service_test_cgroup_rule_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_gettime,--wrap=file_read
tests_unit_service_test_restart_SOURCES = tests/unit/service/test_restart.c $(fake_maps)
tests_unit_service_test_row_name_SOURCES = tests/unit/service/test_row_name.c $(fake_maps)
tests_unit_service_test_row_renamed_SOURCES = tests/unit/service/test_row_renamed.c $(fake_maps)
tests_unit_service_test_row_replicas_SOURCES = tests/unit/service/test_row_replicas.c $(fake_maps)
tests_unit_service_test_lifecycle_SOURCES = tests/unit/service/test_lifecycle.c $(fake_maps)
tests_unit_describe_test_help_SOURCES = tests/unit/describe/test_help.c contrib/describe/help.c
EXTRA_DIST += tests/unit/state
