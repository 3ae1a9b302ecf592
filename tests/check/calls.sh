#!/bin/sh
# SPDX-License-Identifier: MIT
# The tables of system calls (kernel/syscall.bpf.h) have the numbers of the kernel's headers, where these know the call.
. "${srcdir:-.}/tests/check/scratch.sh"

table=$(make -C "$build" -s print-abs_srcdir)/bpf/lib/kernel/syscall.bpf.h

# calls WORD: NUMBER NAME of the entries between #ifdef and #else (x86), or from there on (arm64), of both tables.
calls() {
	awk -v part="$1" '
		/^#ifdef __TARGET_ARCH_x86/ { in_part = "x86"; count++ }
		/^#else/ { in_part = "arm64" }
		/^#endif/ { in_part = part }
		count <= 2 && in_part == part && /^\t\[/ { gsub(/[][]/, " "); print $1, $(NF - 1) }' "$table"
}

# compare WORD HEADER
compare() {
	calls "$1" >"$work/calls"
	[ "$(wc -l <"$work/calls")" -gt 50 ] || complain "$1: no table is found"
	{
		echo "#include <$2>"
		sed 's/\(.*\) \(.*\)/\1 \2 __NR_\2/' "$work/calls"
	} | ${CPP:-cpp} -P - | awk -v arch="$1" '
		$3 ~ /^__NR/ { unknown++; next }
		NF == 3 && $1 != $3 { print arch ": " $2 " is " $3 ", not " $1; wrong = 1 }
		NF == 3 { known++ }
		END { print arch ": " known " calls, and " unknown + 0 " that the header does not know"; exit wrong || known < 50 }' ||
		broken=1
}

compare x86 asm/unistd_64.h
compare arm64 asm-generic/unistd.h
exit $broken
