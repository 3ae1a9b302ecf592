# SPDX-License-Identifier: MIT
libengine_a_SOURCES += \
	plugin/table/accumulator.c plugin/table/accumulator.h \
	plugin/table/cells.c plugin/table/cells.h \
	plugin/table/key_name.c plugin/table/key_name.h \
	plugin/table/keys.c plugin/table/keys.h \
	plugin/table/kind.c plugin/table/kind.h \
	plugin/table/rank.c plugin/table/rank.h \
	plugin/table/series.c plugin/table/series.h \
	plugin/table/slots.c plugin/table/slots.h \
	plugin/table/stats.c plugin/table/stats.h \
	plugin/table/table.c plugin/table/table.h \
	plugin/table/table_open.c
