# SPDX-License-Identifier: MIT
# The BPF compiler, and what finishes its objects.

# EBPF_BPF_CLANG
# Sets BPF_CLANG, BPF_CPPFLAGS and LLVM_STRIP. Compiles what a probe needs: a tag, an atomic
# addition that returns (-mcpu=v3) and libbpf's own headers; no kernel headers, no BTF.
AC_DEFUN([EBPF_BPF_CLANG], [
  AC_REQUIRE([AC_CANONICAL_HOST])
  AC_ARG_VAR([BPF_CLANG], [clang with the BPF target])
  AC_ARG_VAR([BPF_CFLAGS], [flags for the BPF compiler (default: -O2 -g)])
  AC_ARG_VAR([LLVM_STRIP], [llvm-strip, as old as BPF_CLANG])
  : ${BPF_CFLAGS="-O2 -g"}
  AC_CHECK_PROGS([BPF_CLANG], [clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14])

  AC_MSG_CHECKING([for the BPF target architecture])
  AS_CASE([$host_cpu],
    [x86_64], [ebpf_arch=x86],
    [aarch64], [ebpf_arch=arm64],
    [AC_MSG_ERROR([$host_cpu is not supported: x86_64 and aarch64 are])])
  AC_MSG_RESULT([$ebpf_arch])
  # libbpf's headers; where Debian keeps asm/types.h the BPF target does not look by itself, but the C compiler does.
  BPF_CPPFLAGS="-D__TARGET_ARCH_$ebpf_arch $LIBBPF_CFLAGS"
  ebpf_asm=`echo '#include <asm/types.h>' | $CC -E - 2>/dev/null | $SED -n 's,^# 1 "\(.*\)/asm/types\.h".*,\1,p'`
  AS_IF([test -n "$ebpf_asm"], [BPF_CPPFLAGS="$BPF_CPPFLAGS -idirafter $ebpf_asm"])
  AC_SUBST([BPF_CPPFLAGS])

  ebpf_has_bpf_clang=no
  AS_IF([test -n "$BPF_CLANG"], [
    : ${LLVM_STRIP=`$BPF_CLANG -print-prog-name=llvm-strip`}
    AC_MSG_CHECKING([whether $BPF_CLANG makes BPF objects])
    cat >conftest.bpf.c <<'EOF_BPF'
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
struct row {
	__u64 count __attribute__((btf_decl_tag("count")));
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct row);
} rows SEC(".maps");
SEC("raw_tp/sched_switch") int count(void *ctx)
{
	__u32 key = 0;
	struct row *row = bpf_map_lookup_elem(&rows, &key);
	return row ? __sync_fetch_and_add(&row->count, 1) : 0;
}
char _license[[]] SEC("license") = "Dual MIT/GPL";
EOF_BPF
    AS_IF([$BPF_CLANG $BPF_CFLAGS -Werror -target bpf -mcpu=v3 $BPF_CPPFLAGS -c conftest.bpf.c -o conftest.bpf.o >&AS_MESSAGE_LOG_FD 2>&1],
      [ebpf_has_bpf_clang=`$BPF_CLANG --version | $SED 1q`])
    AC_MSG_RESULT([$ebpf_has_bpf_clang])
  ])
  AS_IF([test "x$ebpf_has_bpf_clang" = xno],
    [EBPF_MISSING([clang 14 or newer, with the BPF target and libbpf's headers (BPF_CLANG)],
       [clang libbpf-dev linux-libc-dev])])

  # The debug sections hold nothing that a loader wants; BTF must stay.
  AS_IF([test "x$ebpf_has_bpf_clang" != xno], [
      AC_MSG_CHECKING([whether $LLVM_STRIP keeps BTF])
      AS_IF([$LLVM_STRIP -g conftest.bpf.o >&AS_MESSAGE_LOG_FD 2>&1 &&
             grep '\.BTF\.ext' conftest.bpf.o >/dev/null &&
             ! grep '\.debug_info' conftest.bpf.o >/dev/null],
        [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])
         EBPF_MISSING([llvm-strip that keeps BTF (LLVM_STRIP)], [llvm])])
  ])
  rm -f conftest.bpf.c conftest.bpf.o
])
