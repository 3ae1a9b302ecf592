# SPDX-License-Identifier: MIT
libengine_a_SOURCES += \
	plugin/helper/answer.c plugin/helper/answer.h \
	plugin/helper/answer_symbol.c \
	plugin/helper/confined.c plugin/helper/confined.h \
	plugin/helper/descriptor.c plugin/helper/descriptor.h \
	plugin/helper/file.c plugin/helper/file.h \
	plugin/helper/ksym.c plugin/helper/ksym.h \
	plugin/helper/symbol.c plugin/helper/symbol.h \
	plugin/helper/symbol_answer.c plugin/helper/symbol_answer.h \
	plugin/helper/symbol_ask.c plugin/helper/symbol_ask.h \
	plugin/helper/symbol_debug.c plugin/helper/symbol_debug.h \
	plugin/helper/symbol_message.h \
	plugin/helper/symbol_name.c plugin/helper/symbol_name.h \
	plugin/helper/worker.c plugin/helper/worker.h
