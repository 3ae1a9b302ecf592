# SPDX-License-Identifier: MIT
libengine_a_SOURCES += \
	plugin/object/annotation.c plugin/object/annotation.h \
	plugin/object/budget.c plugin/object/budget.h \
	plugin/object/cause.c plugin/object/cause.h \
	plugin/object/diagnosis.c plugin/object/diagnosis.h \
	plugin/object/engine_object.c plugin/object/engine_object.h \
	plugin/object/hook_set.c plugin/object/hook_set.h \
	plugin/object/hook_set_parts.c plugin/object/hook_set_parts.h \
	plugin/object/iter_map.c plugin/object/iter_map.h \
	plugin/object/machine.c plugin/object/machine.h \
	plugin/object/map_memory.c plugin/object/map_memory.h \
	plugin/object/mapping.c plugin/object/mapping.h \
	plugin/object/object.c plugin/object/object.h \
	plugin/object/parameter.c plugin/object/parameter.h \
	plugin/object/sample.c plugin/object/sample.h \
	plugin/object/shared_map.c plugin/object/shared_map.h

# Contains the engine's own object.
plugin/object/engine_object.$(OBJEXT): bpf/engine/service.bpf.o
