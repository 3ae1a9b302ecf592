# SPDX-License-Identifier: MIT
libengine_a_SOURCES += \
	plugin/config/block.c plugin/config/block.h \
	plugin/config/cgroup.c plugin/config/cgroup.h \
	plugin/config/config.c plugin/config/config.h \
	plugin/config/function_block.c plugin/config/function_block.h \
	plugin/config/hook.c plugin/config/hook.h \
	plugin/config/mistake.c plugin/config/mistake.h \
	plugin/config/name.c plugin/config/name.h \
	plugin/config/option.c plugin/config/option.h \
	plugin/config/plugin_block.c \
	plugin/config/probe_block.c plugin/config/probe_block.h \
	plugin/config/profiles_block.c plugin/config/profiles_block.h \
	plugin/config/response_rule.c plugin/config/response_rule.h \
	plugin/config/service_block.c plugin/config/service_block.h \
	plugin/config/string_list.c plugin/config/string_list.h \
	plugin/config/table_block.c plugin/config/table_block.h \
	plugin/config/table_config.c plugin/config/table_config.h \
	plugin/config/unit.c plugin/config/unit.h
