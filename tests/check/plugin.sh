#!/bin/sh
# SPDX-License-Identifier: MIT
# The plugin exports module_register alone, and whatever it imports the daemon or a library that it
# names has: a plugin with a missing symbol builds, but does not load.
. "${srcdir:-.}/tests/check/scratch.sh"
plugin=$build/ebpf.so

exports=$(nm --dynamic --defined-only --format=posix "$plugin" | cut -d' ' -f1)
[ "$exports" = module_register ] || complain "exports: $exports"

if [ -x "${COLLECTD:-}" ]; then
	# Undefined without a version: no library's; weak ones may stay away.
	nm --dynamic --undefined-only --format=posix "$plugin" |
		awk '$2 == "U" && $1 !~ /@/ { print $1 }' | sort >"$work/imports"
	# PCRE2 gives its symbols no versions.
	pcre2=$(ldd "$plugin" | sed -n 's/.*libpcre2-8[^ ]* => \([^ ]*\).*/\1/p')
	for file in "$COLLECTD" "$pcre2"; do
		nm --dynamic --defined-only --format=posix "$file"
	done | cut -d' ' -f1 | sed 's/@.*//' | sort >"$work/daemon"
	grep -qx plugin_register_init "$work/imports" || complain "plugin_register_init is not imported"
	missing=$(comm -23 "$work/imports" "$work/daemon")
	[ -z "$missing" ] || complain "collectd does not have: $missing"
else
	echo "collectd is missing: its symbols are not compared"
fi

ldd "$plugin" >"$work/ldd"
cat "$work/ldd"
! grep 'not found' "$work/ldd" || complain "a library is missing"
needed=$(readelf --wide --dynamic "$plugin" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for library in $needed; do
	case $library in
	libbpf.so.1 | libc.so.6 | libjansson.so.4 | libm.so.6 | libpcre2-8.so.0) ;;
	*) complain "needs $library" ;;
	esac
done
! readelf --wide --dynamic "$plugin" | grep -E 'RPATH|RUNPATH|TEXTREL' || complain "not relocatable"
exit $broken
