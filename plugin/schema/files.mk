# SPDX-License-Identifier: MIT
libengine_a_SOURCES += \
	plugin/schema/buckets.c plugin/schema/buckets.h \
	plugin/schema/decode.c plugin/schema/decode.h \
	plugin/schema/fields.c plugin/schema/fields.h \
	plugin/schema/file_tag.c plugin/schema/file_tag.h \
	plugin/schema/label.c plugin/schema/label.h \
	plugin/schema/label_block.c plugin/schema/label_block.h \
	plugin/schema/label_choice.c plugin/schema/label_choice.h \
	plugin/schema/label_kind.c plugin/schema/label_kind.h \
	plugin/schema/label_names.h \
	plugin/schema/label_parser.c plugin/schema/label_parser.h \
	plugin/schema/label_tags.c plugin/schema/label_tags.h \
	plugin/schema/map_shape.h \
	plugin/schema/schema.c plugin/schema/schema.h \
	plugin/schema/schema_block.c plugin/schema/schema_block.h \
	plugin/schema/schema_parser.c plugin/schema/schema_parser.h \
	plugin/schema/schema_tags.c plugin/schema/schema_tags.h \
	plugin/schema/selection.c plugin/schema/selection.h \
	plugin/schema/series.c plugin/schema/series.h \
	plugin/schema/stock_type.c plugin/schema/stock_type.h \
	plugin/schema/subject_kind.h \
	plugin/schema/tag.c plugin/schema/tag.h \
	plugin/schema/tag_word.c plugin/schema/tag_word.h \
	plugin/schema/tail.c plugin/schema/tail.h \
	plugin/schema/type.h \
	plugin/schema/type_line.c plugin/schema/type_line.h

# The names of system calls, as the C library has them for the machine that is built for.
SYSCALL_NAMES = plugin/schema/syscall_name.h
$(SYSCALL_NAMES): config.status
	$(AM_V_GEN)$(MKDIR_P) $(@D) && echo '#include <sys/syscall.h>' | $(CC) $(CPPFLAGS) $(CFLAGS) -E -dM - | \
		LC_ALL=C sort | \
		sed -n -e '/__NR_\(arch_specific_syscall\|syscalls\) /d' \
			-e 's/^#define __NR_\([a-z0-9_]*\) .*/	[__NR_\1] = "\1",/p' >$@.tmp && mv $@.tmp $@
plugin/schema/label_kind.$(OBJEXT): $(SYSCALL_NAMES)
