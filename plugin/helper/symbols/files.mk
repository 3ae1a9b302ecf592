# SPDX-License-Identifier: MIT
# The program that reads programs and libraries of others.
libsymbols_a_SOURCES = \
	plugin/helper/symbols/address.c plugin/helper/symbols/address.h \
	plugin/helper/symbols/demangle.h \
	plugin/helper/symbols/expand.h \
	plugin/helper/symbols/found.c plugin/helper/symbols/found.h \
	plugin/helper/symbols/function_search.c plugin/helper/symbols/function_search.h \
	plugin/helper/symbols/go.c plugin/helper/symbols/go.h \
	plugin/helper/symbols/image.c plugin/helper/symbols/image.h \
	plugin/helper/symbols/inlined.h \
	plugin/helper/symbols/instruction.h \
	plugin/helper/symbols/marker.c plugin/helper/symbols/marker.h \
	plugin/helper/symbols/naming.c plugin/helper/symbols/naming.h \
	plugin/helper/symbols/offset.c plugin/helper/symbols/offset.h \
	plugin/helper/symbols/perf_map.c plugin/helper/symbols/perf_map.h \
	plugin/helper/symbols/plt.c plugin/helper/symbols/plt.h \
	plugin/helper/symbols/prologue.c plugin/helper/symbols/prologue.h \
	plugin/helper/symbols/returns.c plugin/helper/symbols/returns.h \
	plugin/helper/symbols/search.c plugin/helper/symbols/search.h \
	plugin/helper/symbols/suggestion.c plugin/helper/symbols/suggestion.h \
	plugin/helper/symbols/symbol_table.c plugin/helper/symbols/symbol_table.h \
	plugin/helper/symbols/unwind.h
if X86
libsymbols_a_SOURCES += plugin/helper/symbols/instruction_x86.c
else
libsymbols_a_SOURCES += plugin/helper/symbols/instruction_arm64.c
endif
if LIBLZMA
libsymbols_a_SOURCES += plugin/helper/symbols/expand.c
else
libsymbols_a_SOURCES += plugin/helper/symbols/expand_none.c
endif
if LIBDW
libsymbols_a_SOURCES += plugin/helper/symbols/inlined.c plugin/helper/symbols/unwind.c
else
libsymbols_a_SOURCES += plugin/helper/symbols/inlined_none.c plugin/helper/symbols/unwind_none.c
endif
if LIBIBERTY
libsymbols_a_SOURCES += plugin/helper/symbols/demangle.c
else
libsymbols_a_SOURCES += plugin/helper/symbols/demangle_none.c
endif
ebpf_symbols_SOURCES = \
	plugin/helper/symbols/exchange.c \
	plugin/helper/symbols/exchange.h \
	plugin/helper/symbols/exchange_find.c \
	plugin/helper/symbols/exchange_name.c \
	plugin/helper/symbols/main.c \
	plugin/helper/symbols/sandbox.c \
	plugin/helper/symbols/sandbox.h
