# SPDX-License-Identifier: MIT
libengine_a_SOURCES += \
	plugin/object/annotation.c plugin/object/annotation.h \
	plugin/object/budget.c plugin/object/budget.h \
	plugin/object/diagnosis.c plugin/object/diagnosis.h \
	plugin/object/image.c plugin/object/image.h \
	plugin/object/map_memory.c plugin/object/map_memory.h \
	plugin/object/mapping.c plugin/object/mapping.h \
	plugin/object/object.c plugin/object/object.h \
	plugin/object/over.c plugin/object/over.h \
	plugin/object/parameter.c plugin/object/parameter.h \
	plugin/object/sample.c plugin/object/sample.h \
	plugin/object/share.c plugin/object/share.h \
	plugin/object/tier.c plugin/object/tier.h \
	plugin/object/variant.c plugin/object/variant.h

# Contains the engine's own object.
plugin/object/image.$(OBJEXT): bpf/engine/service.bpf.o
