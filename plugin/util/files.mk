# SPDX-License-Identifier: MIT
libengine_a_SOURCES += \
	plugin/util/allowance.c plugin/util/allowance.h \
	plugin/util/clock.h \
	plugin/util/glob.c plugin/util/glob.h \
	plugin/util/health.h \
	plugin/util/index.c plugin/util/index.h \
	plugin/util/kernel_directory.c plugin/util/kernel_directory.h \
	plugin/util/kernel_file.c plugin/util/kernel_file.h \
	plugin/util/lock.c plugin/util/lock.h \
	plugin/util/message.c plugin/util/message.h \
	plugin/util/number.c plugin/util/number.h \
	plugin/util/pace.c plugin/util/pace.h \
	plugin/util/regex.c plugin/util/regex.h \
	plugin/util/scoped_open.c plugin/util/scoped_open.h \
	plugin/util/thread.c plugin/util/thread.h \
	plugin/util/utf8.c plugin/util/utf8.h
