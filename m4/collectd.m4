# SPDX-License-Identifier: MIT
# collectd's own headers: as Debian installs them, or from its source tree.

# EBPF_COLLECTD
# Sets COLLECTD_CPPFLAGS. System headers, so that our warnings do not apply to them.
AC_DEFUN([EBPF_COLLECTD], [
  AC_ARG_WITH([collectd],
    [AS_HELP_STRING([--with-collectd=DIR],
       [collectd's headers: a configured source tree of collectd, or a directory
        like Debian's (default: /usr/include/collectd)])],
    [], [with_collectd=/usr/include/collectd])

  AC_MSG_CHECKING([for collectd's headers in $with_collectd])
  ebpf_has_collectd=no
  COLLECTD_CPPFLAGS=
  AS_IF([test -f "$with_collectd/core/daemon/plugin.h"], [
    # "collectd/core/config.h" is included by that name.
    ebpf_dir=`cd "$with_collectd/.." && pwd`
    COLLECTD_CPPFLAGS="-isystem $ebpf_dir/collectd -isystem $ebpf_dir/collectd/core -isystem $ebpf_dir/collectd/core/daemon"
    AS_CASE([$ebpf_dir], [/usr/include], [],
      [COLLECTD_CPPFLAGS="$COLLECTD_CPPFLAGS -isystem $ebpf_dir"])
  ], [test -f "$with_collectd/src/daemon/plugin.h"], [
    ebpf_dir=`cd "$with_collectd" && pwd`
    AS_IF([test ! -f "$ebpf_dir/src/config.h"], [
      AC_MSG_RESULT([not configured])
      AC_MSG_ERROR([$with_collectd is collectd's source tree, but it is not configured:
    src/config.h is missing. Run ./build.sh and ./configure there first, or take
    Debian's headers instead: apt-get install collectd-dev])
    ])
    COLLECTD_CPPFLAGS="-isystem $ebpf_dir/src -isystem $ebpf_dir/src/daemon"
  ])
  AS_IF([test -n "$COLLECTD_CPPFLAGS"], [
    ebpf_save_CPPFLAGS=$CPPFLAGS
    CPPFLAGS="$CPPFLAGS -DHAVE_CONFIG_H $COLLECTD_CPPFLAGS"
    # confdefs.h defines PACKAGE_NAME as collectd's config.h does; its own value must win.
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#undef PACKAGE_BUGREPORT
#undef PACKAGE_NAME
#undef PACKAGE_STRING
#undef PACKAGE_TARNAME
#undef PACKAGE_URL
#undef PACKAGE_VERSION
#include "collectd.h"
#include "plugin.h"
#include "utils/common/common.h"
void module_register(void) { plugin_register_init("ebpf", 0); }
]])], [ebpf_has_collectd=$with_collectd])
    CPPFLAGS=$ebpf_save_CPPFLAGS
  ])
  AC_MSG_RESULT([$ebpf_has_collectd])
  AS_IF([test "x$ebpf_has_collectd" = xno],
    [EBPF_MISSING([collectd's headers (--with-collectd=DIR)], [collectd-dev])])
  AC_SUBST([COLLECTD_CPPFLAGS])
])
