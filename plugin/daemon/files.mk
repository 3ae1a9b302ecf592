# SPDX-License-Identifier: MIT
libengine_a_SOURCES += \
	plugin/daemon/batch.c plugin/daemon/batch.h \
	plugin/daemon/dispatch.c plugin/daemon/dispatch.h \
	plugin/daemon/event_file.c plugin/daemon/event_file.h \
	plugin/daemon/lacking.c plugin/daemon/lacking.h \
	plugin/daemon/notifier.c plugin/daemon/notifier.h \
	plugin/daemon/probe_list.c plugin/daemon/probe_list.h \
	plugin/daemon/publication.c plugin/daemon/publication.h \
	plugin/daemon/publish.c plugin/daemon/publish.h \
	plugin/daemon/recorder.c plugin/daemon/recorder.h \
	plugin/daemon/restart_event.c plugin/daemon/restart_event.h \
	plugin/daemon/self.c plugin/daemon/self.h \
	plugin/daemon/summary.c plugin/daemon/summary.h \
	plugin/daemon/threshold.c plugin/daemon/threshold.h
