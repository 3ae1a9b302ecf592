#!/bin/sh
# SPDX-License-Identifier: MIT
# BPF objects are made from our own sources, libbpf's headers, the C library's view of the kernel
# (linux-libc-dev) and the compiler's own headers: no kernel headers and no dumped BTF. They carry
# BTF for CO-RE, no debug information and the licence that the kernel asks for.
. "${srcdir:-.}/tests/check/scratch.sh"

sources=$(cd "${srcdir:-.}/bpf" && pwd)
cd "$build"
compile=$(make -s print-BPF_COMPILE)
for object in $(make -s print-bpf_objects); do
	(eval "$compile -M ${object%.o}.c")
done | tr ' ' '\n' | grep '^/' | sort -u >"$work/headers"
cat "$work/headers"
grep -q '/bpf_helpers.h$' "$work/headers" || complain "headers are not listed"
while read -r header; do
	case $header in
	/usr/include/bpf/* | /usr/include/linux/* | /usr/include/asm-generic/*) ;;
	/usr/include/*-linux-gnu/asm/* | /usr/lib/linux/uapi/*/asm/* | /usr/lib/llvm-*/lib/clang/*/include/*) ;;
	*) complain "not every machine that builds has $header" ;;
	esac
	case $header in
	*/vmlinux*.h) complain "made from a kernel's BTF: $header" ;;
	esac
done <"$work/headers"

# Of two CPUs that make storage for one owner at once one is refused, and has to ask again.
others=$(find "$sources" -name '*.bpf.[ch]' ! -name storage.bpf.h \
	-exec grep -l 'STORAGE_GET_F_CREATE' {} +) || true
[ -z "$others" ] || complain "makes storage without lib/storage.bpf.h: $others"

# Of a bool that a callback returns, some compilers do not show the verifier that it is 0 or 1.
find "$sources" -name '*.bpf.[ch]' -exec cat {} + >"$work/all"
callbacks=$(sed -n 's/.*\(bpf_loop\|bpf_for_each_map_elem\)([^,]*, \([a-z0-9_]*\),.*/\2/p' "$work/all" | sort -u)
[ -n "$callbacks" ] || complain "no callbacks"
for callback in $callbacks; do
	sed -n "/^static long $callback(/,/^}/p" "$work/all" >"$work/callback"
	grep -q return "$work/callback" || complain "not found: static long $callback()"
	! grep return "$work/callback" | grep -vE 'return (0|1|ends_loop\(.*\));$' ||
		complain "$callback() is to return 0, 1 or ends_loop()"
done

objects=$(make -s print-bpf_objects)
[ -n "$objects" ] || complain "no objects"
for object in $objects; do
	echo "$object"
	readelf --wide --sections "$object" >"$work/sections"
	for section in $(btf_sections "$sources/$(basename "$object" .o).c") license; do
		grep -qF " $section " "$work/sections" || complain "$object: no section $section"
	done
	! grep -F ' .debug_' "$work/sections" || complain "$object: debug information"
	readelf --string-dump=license "$object" | grep -q ' Dual MIT/GPL$' ||
		complain "$object: the licence is not Dual MIT/GPL"
done
exit $broken
