# SPDX-License-Identifier: MIT
libengine_a_SOURCES += \
	plugin/event/event.c plugin/event/event.h \
	plugin/event/limit.c plugin/event/limit.h \
	plugin/event/text.c
