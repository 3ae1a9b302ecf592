# SPDX-License-Identifier: MIT
libengine_a_SOURCES += \
	plugin/util/allowance.c plugin/util/allowance.h \
	plugin/util/clock.h \
	plugin/util/glob.c plugin/util/glob.h \
	plugin/util/health.h \
	plugin/util/index.c plugin/util/index.h \
	plugin/util/message.c plugin/util/message.h \
	plugin/util/number.c plugin/util/number.h \
	plugin/util/pace.c plugin/util/pace.h \
	plugin/util/pattern.c plugin/util/pattern.h \
	plugin/util/pseudo.c plugin/util/pseudo.h \
	plugin/util/pseudo_file.c plugin/util/pseudo_file.h \
	plugin/util/scoped_open.c plugin/util/scoped_open.h
