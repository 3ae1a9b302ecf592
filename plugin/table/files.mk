# SPDX-License-Identifier: MIT
libengine_a_SOURCES += \
	plugin/table/accumulator.c plugin/table/accumulator.h \
	plugin/table/cells.c plugin/table/cells.h \
	plugin/table/key_name.c plugin/table/key_name.h \
	plugin/table/key_state.h \
	plugin/table/key_text.c plugin/table/key_text.h \
	plugin/table/keys.c plugin/table/keys.h \
	plugin/table/kind.c plugin/table/kind.h \
	plugin/table/moments.c plugin/table/moments.h \
	plugin/table/percentile.c plugin/table/percentile.h \
	plugin/table/rank.c plugin/table/rank.h \
	plugin/table/slots.c plugin/table/slots.h \
	plugin/table/table.c plugin/table/table.h \
	plugin/table/table_open.c \
	plugin/table/table_row.c plugin/table/table_row.h \
	plugin/table/table_series.c plugin/table/table_series.h \
	plugin/table/table_state.h \
	plugin/table/tail_percentile.c plugin/table/tail_percentile.h
