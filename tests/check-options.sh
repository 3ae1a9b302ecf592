#!/bin/sh
# SPDX-License-Identifier: MIT
# Every option that the plugin takes, and every Option that a probe has, is in the manual and in the sample.
. "${srcdir:-.}/tests/scratch.sh"
release "$work/source"
cd "$work/source"
sample=conf/ebpf.conf manual=docs/collectd-ebpf.pod

# wanted FILE REGEX WHAT
wanted() {
	grep -q "$2" "$1" || complain "$1 does not have $3"
}

sed -n 's/^\t*{ "\([A-Z][A-Za-z]*\)", take_.*/\1/p' plugin/config/config.c | sort -u >"$work/options"
for option in Service ProcessMatch Tier; do
	wanted "$work/options" "^$option\$" "$option"
done
while read -r option; do
	wanted $sample "^#\{0,1\} *<\{0,1\}$option " "$option"
	wanted $manual "^=\(item B<\|head2 Block E<lt>\)${option}[> ]" "$option"
done <"$work/options"

grep -ho 'OPTION("[a-z_]*")' bpf/*.bpf.c bpf/lib/*.bpf.h | cut -d '"' -f 2 | sort -u >"$work/switches"
wanted "$work/switches" '^exact_peak$' exact_peak
while read -r switch; do
	wanted $sample "^# *Option \"$switch\"" "Option $switch"
	wanted $manual "B<Option> C<$switch>" "Option $switch"
done <"$work/switches"

cat "$work/options" "$work/switches"
exit $broken
