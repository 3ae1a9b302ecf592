# SPDX-License-Identifier: MIT
libengine_a_SOURCES += \
	plugin/cgroup/cgroup_name.c plugin/cgroup/cgroup_name.h \
	plugin/cgroup/container.c plugin/cgroup/container.h \
	plugin/cgroup/container_names.c plugin/cgroup/container_names.h \
	plugin/cgroup/description.c plugin/cgroup/description.h \
	plugin/cgroup/match.c plugin/cgroup/match.h \
	plugin/cgroup/named_state.c plugin/cgroup/named_state.h \
	plugin/cgroup/pod.c plugin/cgroup/pod.h \
	plugin/cgroup/runtime.c plugin/cgroup/runtime.h \
	plugin/cgroup/runtime_config.c plugin/cgroup/runtime_config.h \
	plugin/cgroup/state_files.c plugin/cgroup/state_files.h \
	plugin/cgroup/runtime_process.c plugin/cgroup/runtime_process.h \
	plugin/cgroup/runtime_trust.c plugin/cgroup/runtime_trust.h \
	plugin/cgroup/service_cgroups.c plugin/cgroup/service_cgroups.h \
	plugin/cgroup/state.h \
	plugin/cgroup/storage_list.c plugin/cgroup/storage_list.h \
	plugin/cgroup/tree.c plugin/cgroup/tree.h \
	plugin/cgroup/user.c plugin/cgroup/user.h \
	plugin/cgroup/user_state.c plugin/cgroup/user_state.h \
	plugin/cgroup/workload.h
if JANSSON
libengine_a_SOURCES += plugin/cgroup/state.c
else
libengine_a_SOURCES += plugin/cgroup/state_none.c
endif
