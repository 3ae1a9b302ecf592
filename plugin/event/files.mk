# SPDX-License-Identifier: MIT
libengine_a_SOURCES += \
	plugin/event/event.c plugin/event/event.h \
	plugin/event/event_line.c plugin/event/event_line.h \
	plugin/event/event_text.c \
	plugin/event/limit.c plugin/event/limit.h
