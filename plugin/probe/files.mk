# SPDX-License-Identifier: MIT
libengine_a_SOURCES += \
	plugin/probe/cost.c plugin/probe/cost.h \
	plugin/probe/hook_cost.c plugin/probe/hook_cost.h \
	plugin/probe/metric_choice.c plugin/probe/metric_choice.h \
	plugin/probe/online_cpus.c plugin/probe/online_cpus.h \
	plugin/probe/open.c plugin/probe/open.h \
	plugin/probe/overhead.c plugin/probe/overhead.h \
	plugin/probe/pause.c plugin/probe/pause.h \
	plugin/probe/probe.c plugin/probe/probe.h \
	plugin/probe/probe_mistake.c plugin/probe/probe_mistake.h \
	plugin/probe/profiler.c plugin/probe/profiler.h \
	plugin/probe/reading.c plugin/probe/reading.h \
	plugin/probe/run_counter.c plugin/probe/run_counter.h \
	plugin/probe/run_statistics.c plugin/probe/run_statistics.h \
	plugin/probe/sampler.c plugin/probe/sampler.h \
	plugin/probe/upkeep.c plugin/probe/upkeep.h
