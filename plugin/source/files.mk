# SPDX-License-Identifier: MIT
libengine_a_SOURCES += \
	plugin/source/cgroup1.c plugin/source/cgroup1.h \
	plugin/source/rows.c plugin/source/rows.h \
	plugin/source/source.c plugin/source/source.h \
	plugin/source/source_array.c \
	plugin/source/source_copied.c \
	plugin/source/source_hash.c \
	plugin/source/source_text.c plugin/source/source_text.h \
	plugin/source/text.c plugin/source/text.h \
	plugin/source/text_cgroups.c plugin/source/text_cgroups.h \
	plugin/source/text_file.c plugin/source/text_file.h \
	plugin/source/text_files.c plugin/source/text_files.h \
	plugin/source/text_rows.c plugin/source/text_rows.h
