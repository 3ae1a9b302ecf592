#!/bin/sh
# SPDX-License-Identifier: MIT
# `make install` puts each file where collectd and the manual say, below DESTDIR alone.
. "${srcdir:-.}/tests/check/scratch.sh"
cd "$build"

quietly make install DESTDIR="$work/root" prefix=/usr libdir=/usr/lib
(cd "$work/root" && find . -type f -o -type l) | sort >"$work/installed"
cat "$work/installed"
for file in ebpf.so $(make -s print-probe_objects | sed 's,bpf/,ebpf/,g'); do
	grep -qx "./usr/lib/collectd/$file" "$work/installed" || complain "not installed: $file"
done
! grep -qF service.bpf.o "$work/installed" || complain "the engine's own object is installed"
stray=$(grep -vE '^\./usr/(lib/collectd/(ebpf\.so|ebpf/[^/]*\.bpf\.o)|include/collectd-ebpf/((kernel|requests|services)/)?[^/]*\.h|bin/ebpf-[a-z]*|libexec/collectd-ebpf/ebpf-symbols|share/collectd-ebpf/[^/]*|share/(man|doc)/.*)$' \
	"$work/installed" || :)
[ -z "$stray" ] || complain "installed too: $stray"

grep -qx ./usr/libexec/collectd-ebpf/ebpf-symbols "$work/installed" || complain "not installed: ebpf-symbols"

# The tools find their modules.
for tool in $(make -s print-tools); do
	quietly "$work/root/usr/bin/$tool" --help
	[ -e "$work/root/usr/share/man/man1/$tool.1" ] || complain "not installed: the manual page of $tool"
done

# The default places are compiled in.
for want in "$(make -s print-objectdir)" "$(make -s print-pkglibexecdir)/ebpf-symbols"; do
	grep -qaF "$want" ebpf.so || complain "ebpf.so does not know $want"
done

quietly make uninstall DESTDIR="$work/root" prefix=/usr libdir=/usr/lib
left=$(find "$work/root" -type f -o -type l)
[ -z "$left" ] || complain "not uninstalled: $left"
exit $broken
