# SPDX-License-Identifier: MIT
# What a build needs and what it may lack: the checks, and the one report about them.

# EBPF_MISSING(WHAT, DEBIAN-PACKAGE)
AC_DEFUN([EBPF_MISSING], [ebpf_missing="$ebpf_missing
    $1: apt-get install $2"])

# EBPF_ABSENT(WHAT, DEBIAN-PACKAGE, USED-BY)
AC_DEFUN([EBPF_ABSENT], [ebpf_absent="$ebpf_absent
    $1, for $3: apt-get install $2"])

# EBPF_PKG(NAME, SPECIFICATION, DEBIAN-PACKAGE)
AC_DEFUN([EBPF_PKG], [
  PKG_CHECK_MODULES(m4_toupper([$1]), [$2],
    [ebpf_has_$1=`$PKG_CONFIG --modversion $1 2>/dev/null`],
    [ebpf_has_$1=no
     AS_IF([ebpf_old=`$PKG_CONFIG --modversion $1 2>/dev/null`],
       [ebpf_missing="$ebpf_missing
    m4_bpatsubst([$2], [ >= \(.*\)], [ \1 or later]) is needed; this machine has $ebpf_old, which is too old"],
       [test -n "$PKG_CONFIG"],
       [EBPF_MISSING([$2], [$3])],
       [EBPF_MISSING([$2], [pkgconf $3])])])
])

# EBPF_OPTIONAL_PKG(NAME, SPECIFICATION, DEBIAN-PACKAGE, USED-BY)
# A library that the build can do without, and does with --without-NAME.
AC_DEFUN([EBPF_OPTIONAL_PKG], [
  AC_ARG_WITH([$1], [AS_HELP_STRING([--without-$1], [build without $1: no $4])],
    [], [with_$1=check])
  ebpf_has_$1=no
  AS_IF([test "x$with_$1" != xno],
    [PKG_CHECK_MODULES(m4_toupper([$1]), [$2],
       [ebpf_has_$1=`$PKG_CONFIG --modversion $1 2>/dev/null`],
       [AS_IF([test "x$with_$1" = xcheck],
          [EBPF_ABSENT([$2], [$3], [$4])],
          [EBPF_MISSING([$2], [$3])])])])
])

# EBPF_LIBIBERTY
# GCC's demangler, which has no .pc file.
AC_DEFUN([EBPF_LIBIBERTY], [
  AC_ARG_WITH([libiberty], [AS_HELP_STRING([--without-libiberty],
      [build without libiberty: functions of C++ and Rust by mangled name alone])],
    [], [with_libiberty=check])
  ebpf_has_libiberty=no
  LIBIBERTY_LIBS=
  AS_IF([test "x$with_libiberty" != xno], [
    AC_MSG_CHECKING([for libiberty])
    ebpf_save_LIBS=$LIBS
    LIBS="-liberty $LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <stddef.h>
#include <libiberty/demangle.h>]], [[return cplus_demangle("_RNvC1a1b", DMGL_AUTO) == NULL;]])],
      [ebpf_has_libiberty=yes LIBIBERTY_LIBS=-liberty])
    LIBS=$ebpf_save_LIBS
    AC_MSG_RESULT([$ebpf_has_libiberty])
    AS_IF([test "x$ebpf_has_libiberty" = xno],
      [AS_IF([test "x$with_libiberty" = xcheck],
         [EBPF_ABSENT([libiberty], [libiberty-dev], [demangled names of C++ and Rust])],
         [EBPF_MISSING([libiberty], [libiberty-dev])])])
  ])
  AC_SUBST([LIBIBERTY_LIBS])
])

# EBPF_TOOL(VARIABLE, PROGRAM, DEBIAN-PACKAGE, USED-BY)
# The sbin directories are often missing from an unprivileged user's path.
AC_DEFUN([EBPF_TOOL], [
  AC_ARG_VAR([$1], [path of $2])
  AC_PATH_PROG([$1], [$2], [], [$PATH:/usr/local/sbin:/usr/sbin:/sbin])
  AS_IF([test -z "$$1"], [EBPF_ABSENT([$2], [$3], [$4])])
])

# EBPF_SUMMARY
AC_DEFUN([EBPF_SUMMARY], [
  AC_CONFIG_COMMANDS_POST([
    cat <<EOF_SUMMARY

  $PACKAGE_STRING
    collectd headers   $ebpf_has_collectd
    libbpf             $ebpf_has_libbpf
    libelf             $ebpf_has_libelf
    libpcre2           $ebpf_has_libpcre2
    jansson            $ebpf_has_jansson
    libdw              $ebpf_has_libdw
    liblzma            $ebpf_has_liblzma
    libiberty          $ebpf_has_libiberty
    C compiler         $CC
    BPF compiler       $ebpf_has_bpf_clang
    bpftool            ${BPFTOOL:-no}
    collectd           ${COLLECTD:-no}
    manual page        ${POD2MAN:-no}
    werror             $enable_werror
    debug              $enable_debug
    sanitizers         $enable_sanitizers
    fuzzers            $enable_fuzzers

EOF_SUMMARY
    AS_IF([test -n "$ebpf_absent"],
      [AC_MSG_WARN([can do without, but not found:$ebpf_absent])])
    AS_IF([test -n "$ebpf_missing"],
      [AC_MSG_ERROR([cannot build without:$ebpf_missing])])
  ])
])
