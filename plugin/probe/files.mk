# SPDX-License-Identifier: MIT
libengine_a_SOURCES += \
	plugin/probe/collect.c plugin/probe/collect.h \
	plugin/probe/cost.c plugin/probe/cost.h \
	plugin/probe/hook_cost.c plugin/probe/hook_cost.h \
	plugin/probe/hot.c plugin/probe/hot.h \
	plugin/probe/overhead.c plugin/probe/overhead.h \
	plugin/probe/pause.c plugin/probe/pause.h \
	plugin/probe/probe.c plugin/probe/probe.h \
	plugin/probe/probe_mistake.c plugin/probe/probe_mistake.h \
	plugin/probe/profiler.c plugin/probe/profiler.h \
	plugin/probe/reading.c plugin/probe/reading.h \
	plugin/probe/runs.c plugin/probe/runs.h \
	plugin/probe/sampler.c plugin/probe/sampler.h
