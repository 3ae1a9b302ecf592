# SPDX-License-Identifier: MIT
libengine_a_SOURCES += \
	plugin/device/device_list.c plugin/device/device_list.h \
	plugin/device/device_name.c plugin/device/device_name.h
