# SPDX-License-Identifier: MIT
libengine_a_SOURCES += \
	plugin/service/cgroup_row.c plugin/service/cgroup_row.h \
	plugin/service/cgroup_rule.c plugin/service/cgroup_rule.h \
	plugin/service/fit.c plugin/service/fit.h \
	plugin/service/idle.c plugin/service/idle.h \
	plugin/service/lifecycle.c plugin/service/lifecycle.h \
	plugin/service/lifecycle_state.h \
	plugin/service/name_tables.c plugin/service/name_tables.h \
	plugin/service/pidfile.c plugin/service/pidfile.h \
	plugin/service/process_row.c plugin/service/process_row.h \
	plugin/service/quota.c plugin/service/quota.h \
	plugin/service/registry.c plugin/service/registry.h \
	plugin/service/resolve.c plugin/service/resolve.h \
	plugin/service/response_map.c plugin/service/response_map.h \
	plugin/service/restart.c plugin/service/restart.h \
	plugin/service/row_name.c plugin/service/row_name.h \
	plugin/service/rule.c plugin/service/rule.h \
	plugin/service/scan.c plugin/service/scan.h \
	plugin/service/service.c plugin/service/service.h \
	plugin/service/service_process.c plugin/service/service_process.h \
	plugin/service/snapshot.c plugin/service/snapshot.h \
	plugin/service/subject.c plugin/service/subject.h \
	plugin/service/subscriber.c plugin/service/subscriber.h \
	plugin/service/unassigned.c plugin/service/unassigned.h \
	plugin/service/unnamed.c plugin/service/unnamed.h \
	plugin/service/walk.c plugin/service/walk.h
