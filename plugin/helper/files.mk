# SPDX-License-Identifier: MIT
libengine_a_SOURCES += \
	plugin/helper/confined_program.c plugin/helper/confined_program.h \
	plugin/helper/descriptor.c plugin/helper/descriptor.h \
	plugin/helper/file.c plugin/helper/file.h \
	plugin/helper/file_helper.c plugin/helper/file_helper.h \
	plugin/helper/helper_message.h \
	plugin/helper/helper_process.c plugin/helper/helper_process.h \
	plugin/helper/helper_request.c plugin/helper/helper_request.h \
	plugin/helper/ksym.c plugin/helper/ksym.h \
	plugin/helper/symbol_debug.c plugin/helper/symbol_debug.h \
	plugin/helper/symbol_file.c plugin/helper/symbol_file.h \
	plugin/helper/symbol_location.c plugin/helper/symbol_location.h \
	plugin/helper/symbol_message.h \
	plugin/helper/symbol_name.c plugin/helper/symbol_name.h \
	plugin/helper/symbol_process.c plugin/helper/symbol_process.h \
	plugin/helper/symbol_reply.c plugin/helper/symbol_reply.h \
	plugin/helper/symbol_result.c plugin/helper/symbol_result.h
