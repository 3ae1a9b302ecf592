# SPDX-License-Identifier: MIT
# Compiler flags, each tried before it is used.

# EBPF_TRY_CFLAG(VARIABLE, FLAG): appends FLAG if the compiler takes it without a word.
AC_DEFUN([EBPF_TRY_CFLAG], [
  AS_VAR_PUSHDEF([CACHEVAR], [ebpf_cv_cflag_$2])
  AC_CACHE_CHECK([whether $CC accepts $2], [CACHEVAR], [
    ebpf_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -Werror $2"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
      [AS_VAR_SET([CACHEVAR], [yes])], [AS_VAR_SET([CACHEVAR], [no])])
    CFLAGS=$ebpf_save_CFLAGS
  ])
  AS_VAR_IF([CACHEVAR], [yes], [AS_VAR_APPEND([$1], [" $2"])])
  AS_VAR_POPDEF([CACHEVAR])
])

# EBPF_FLAGS: sets EBPF_CFLAGS, and PREFIX_MAP if the compiler can forget where it was built.
AC_DEFUN([EBPF_FLAGS], [
  EBPF_CFLAGS=
  m4_foreach_w([flag], [-std=gnu11 -fvisibility=hidden -fno-common -fstack-protector-strong
      -Wall -Wextra -Wshadow -Wformat=2 -Wstrict-prototypes -Wmissing-prototypes
      -Wold-style-definition -Wpointer-arith -Wwrite-strings -Wvla -Wundef
      -Wimplicit-fallthrough -Wnull-dereference
      -Wduplicated-cond -Wlogical-op],
    [EBPF_TRY_CFLAG([EBPF_CFLAGS], flag)])
  BPF_WERROR=
  AS_IF([test "x$enable_werror" = xyes],
    [EBPF_CFLAGS="$EBPF_CFLAGS -Werror" BPF_WERROR=-Werror])
  AC_SUBST([BPF_WERROR])
  AC_SUBST([EBPF_CFLAGS])

  EBPF_TRY_CFLAG([ebpf_prefix_map], [-ffile-prefix-map=/a=b])
  PREFIX_MAP=
  AS_IF([test -n "$ebpf_prefix_map"],
    [PREFIX_MAP='-ffile-prefix-map=$(srcdir)/= -ffile-prefix-map=$(abs_srcdir)=. -ffile-prefix-map=$(abs_builddir)=.'])
  AC_SUBST([PREFIX_MAP])
  AM_SUBST_NOTMAKE([PREFIX_MAP])
])

# EBPF_INSTRUMENT: appends to EBPF_CFLAGS what --enable-debug, --enable-sanitizers and --enable-fuzzers ask for.
AC_DEFUN([EBPF_INSTRUMENT], [
  AS_IF([test "x$enable_debug" = xyes], [EBPF_CFLAGS="$EBPF_CFLAGS -DEBPF_DEBUG"])
  AS_IF([test "x$enable_sanitizers" = xyes], [
    EBPF_CFLAGS="$EBPF_CFLAGS -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
    EBPF_LINKS([-fsanitize=address,undefined], [the sanitizers], [libclang-rt-dev])
  ])
  AS_IF([test "x$enable_fuzzers" = xyes], [
    EBPF_CFLAGS="$EBPF_CFLAGS -fsanitize=fuzzer-no-link"
    EBPF_LINKS([-fsanitize=fuzzer-no-link], [libFuzzer (CC=clang)], [clang libclang-rt-dev])
  ])
])

# EBPF_LINKS(FLAG, WHAT, DEBIAN-PACKAGE)
AC_DEFUN([EBPF_LINKS], [
  AC_MSG_CHECKING([whether $CC links with $1])
  ebpf_save_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS $1"
  AC_LINK_IFELSE([AC_LANG_PROGRAM()], [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     EBPF_MISSING([$2], [$3])])
  CFLAGS=$ebpf_save_CFLAGS
])
