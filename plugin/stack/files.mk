# SPDX-License-Identifier: MIT
libengine_a_SOURCES += \
	plugin/stack/code.c plugin/stack/code.h \
	plugin/stack/code_file.c plugin/stack/code_file.h \
	plugin/stack/code_process.c plugin/stack/code_process.h \
	plugin/stack/collector.c plugin/stack/collector.h \
	plugin/stack/folded.c plugin/stack/folded.h \
	plugin/stack/folded_file.c plugin/stack/folded_file.h \
	plugin/stack/frame_text.c plugin/stack/frame_text.h \
	plugin/stack/kept_files.c plugin/stack/kept_files.h \
	plugin/stack/process_map.c plugin/stack/process_map.h \
	plugin/stack/safe_directory.c plugin/stack/safe_directory.h \
	plugin/stack/stacks.c plugin/stack/stacks.h \
	plugin/stack/store.c plugin/stack/store.h \
	plugin/stack/texts.c plugin/stack/texts.h \
	plugin/stack/trigger.c plugin/stack/trigger.h \
	plugin/stack/view.c plugin/stack/view.h
