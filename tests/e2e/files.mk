# SPDX-License-Identifier: MIT
# Tests of collectd, the tools and the documents as a user has them.
E2E_TESTS = \
	tests/e2e/test_again.py \
	tests/e2e/test_alert_queries.py \
	tests/e2e/test_alert_rules.py \
	tests/e2e/test_bpftrace.py \
	tests/e2e/test_bpftrace_program.py \
	tests/e2e/test_check.py \
	tests/e2e/test_check_process.py \
	tests/e2e/test_check_trial.py \
	tests/e2e/test_collection3.py \
	tests/e2e/test_commands.py \
	tests/e2e/test_configurations.py \
	tests/e2e/test_writing.py \
	tests/e2e/test_convert.py \
	tests/e2e/test_dashboards_json.py \
	tests/e2e/test_dashboards.py \
	tests/e2e/test_definitions.py \
	tests/e2e/test_events.py \
	tests/e2e/test_graph.py \
	tests/e2e/test_graph_options.py \
	tests/e2e/test_graphite.py \
	tests/e2e/test_influxdb.py \
	tests/e2e/test_links.py \
	tests/e2e/test_metric_names.py \
	tests/e2e/test_receiver_names.py \
	tests/e2e/test_figures.py \
	tests/e2e/test_network.py \
	tests/e2e/test_one_value.py \
	tests/e2e/test_page.py \
	tests/e2e/test_png.py \
	tests/e2e/test_profile_start.py \
	tests/e2e/test_prometheus.py \
	tests/e2e/test_howto.py \
	tests/e2e/test_responses.py \
	tests/e2e/test_rrdcached.py \
	tests/e2e/test_samples.py \
	tests/e2e/test_servers.py \
	tests/e2e/test_switch_conf.py \
	tests/e2e/test_top.py \
	tests/e2e/test_triage.py \
	tests/e2e/test_ages.py \
	tests/e2e/test_colors.py \
	tests/fuzz/tools.py \
	tests/e2e/test_flame.py \
	tests/e2e/test_heat.py \
	tests/e2e/test_functions.py \
	tests/e2e/test_quickstart.py \
	tests/e2e/test_quickstart_steps.py \
	tests/e2e/test_install_deps.py \
	tests/e2e/test_threshold.py \
	tests/e2e/test_tool.py \
	tests/e2e/test_queries.py \
	tests/e2e/test_tidy.py
LONG_E2E_TESTS = \
	tests/e2e/test_alerts.py \
	tests/e2e/test_collection3_pictures.py \
	tests/e2e/test_dashboards_live.py \
	tests/e2e/test_evidence.py \
	tests/e2e/test_grafana_schema.py \
	tests/e2e/test_minute.py \
	tests/e2e/test_pages.py \
	tests/e2e/test_tutorial.py \
	tests/e2e/test_why.py
EXTRA_DIST += tests/e2e
