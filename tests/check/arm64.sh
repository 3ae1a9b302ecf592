#!/bin/sh
# SPDX-License-Identifier: MIT
# The BPF objects compile for arm64, by the build's own command. Only the registers of probed
# functions differ there, which libbpf's macros hide: nothing may name one, or an entry point that
# only x86-64 has, but where both are told apart (bpf/lib/kernel). A source that does is tried
# first, and must be found.
. "${srcdir:-.}/tests/check/scratch.sh"

cd "$build"
compile=$(make -s print-BPF_COMPILE)
sources=$(make -s print-abs_srcdir)

# for_arm64 SOURCE OBJECT
for_arm64() {
	(eval "$compile -U__TARGET_ARCH_x86 -U__TARGET_ARCH_arm64 -D__TARGET_ARCH_arm64 \
		-Werror -c '$1' -o '$2'")
}

# x86_only FILE...: the lines that hold on x86-64 alone.
x86_only() {
	grep -nE -- '->r?(ax|bx|cx|dx|si|di|bp|sp|ip|r8|r9|r10|r11)\>|__(x64|ia32)_|__x86_64__' "$@"
}

cat >"$work/macro.bpf.c" <<'EOF'
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
struct pt_regs {
	unsigned long di, rdi;
};
SEC("kprobe/f") long count(struct pt_regs *ctx)
{
	return PT_REGS_PARM1(ctx);
}
EOF
sed 's/PT_REGS_PARM1(ctx)/ctx->di/' "$work/macro.bpf.c" >"$work/register.bpf.c"
! for_arm64 "$work/macro.bpf.c" "$work/macro.o" 2>/dev/null ||
	complain "registers of x86-64 are taken for those of arm64"
for_arm64 "$work/register.bpf.c" "$work/register.o" || complain "nothing compiles for arm64"
x86_only "$work/register.bpf.c" >/dev/null || complain "a register of x86-64 is not found"

for object in $(make -s print-bpf_objects); do
	result=$work/$(basename "$object")
	for_arm64 "${object%.o}.c" "$result" || {
		complain "$object does not compile for arm64"
		continue
	}
	readelf --wide --sections "$result" >"$work/sections"
	for section in $(btf_sections "$sources/${object%.o}.c"); do
		grep -qF " $section " "$work/sections" || complain "$object: no section $section"
	done
	echo "$object"
done
cd "$sources"
! x86_only bpf/*.[ch] bpf/*/*.[ch] bpf/lib/requests/*.h bpf/lib/services/*.h || complain "holds on x86-64 only"
exit $broken
