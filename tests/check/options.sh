#!/bin/sh
# SPDX-License-Identifier: MIT
# Every option that the plugin takes, and every Option that a probe has, is in a manual and in the sample, and neither
# has another one. Those of Table blocks are in the manual for authors of objects.
. "${srcdir:-.}/tests/check/scratch.sh"
release "$work/source"
cd "$work/source"
sample=conf/ebpf.conf manual=docs/collectd-ebpf.pod objects=docs/collectd-ebpf-objects.pod

# wanted FILE REGEX WHAT
wanted() {
	grep -q "$2" "$1" || complain "$1 does not have $3"
}

# parsed FILE...: the options that these files take.
parsed() {
	grep -ho '{ "[A-Z][A-Za-z]*", [a-z_]*parse' "$@" | cut -d '"' -f 2 | sort -u
}

# described MANUAL LIST: each option of the list is in the sample and in the manual.
described() {
	while read -r option; do
		wanted $sample "^#\{0,1\} *<\{0,1\}${option}[ >]" "$option"
		wanted "$1" "^=\(item B<\|head2 Block E<lt>\)${option}\([> ]\|E<gt>\)" "$option"
	done <"$2"
}

parsed plugin/config/*.c >"$work/options"
{
	echo Table
	parsed plugin/config/table_block.c
} >"$work/of_tables"
grep -vxFf "$work/of_tables" "$work/options" >"$work/of_others"
for option in Service ProcessMatch HookSet; do
	wanted "$work/options" "^$option\$" "$option"
done
wanted "$work/of_tables" '^Histogram$' Histogram
described $manual "$work/of_others"
described $objects "$work/of_tables"

{
	grep -Eho '(OPTION|BY_CPU)\("[a-z_]*"\)' bpf/*.bpf.c bpf/lib/*.bpf.h bpf/lib/*/*.bpf.h | cut -d '"' -f 2
	sed -n 's/^const volatile bool option_\([a-z_]*\);.*/\1/p' bpf/*.bpf.c bpf/lib/*.bpf.h bpf/lib/*/*.bpf.h
} | sort -u >"$work/switches"
wanted "$work/switches" '^exact_peak$' exact_peak
while read -r switch; do
	wanted $sample "^# *Option \"$switch\"" "Option $switch"
	wanted $manual "B<Option> C<$switch>" "Option $switch"
done <"$work/switches"

# known WHAT LIST: each line that comes is in the list.
known() {
	while read -r name; do
		grep -qx "$name" "$2" || complain "$1 has $name, which the plugin does not take"
	done
}

sed -n '/^=head1 OPTIONS/,/^=head1 SERVICES/s/^=item B<\([A-Za-z]*\)>.*/\1/p' $manual >"$work/manual"
wanted "$work/manual" '^PidFile$' PidFile
known "$manual" "$work/of_others" <"$work/manual"
sed -n '/^=head2 Block E<lt>Table/,/^=head1/s/^=item B<\([A-Za-z]*\)>.*/\1/p' $objects >"$work/manual"
wanted "$work/manual" '^Decode$' Decode
known "$objects" "$work/options" <"$work/manual"
sed -n 's/^#\{0,1\} *<\{0,1\}\([A-Z][A-Za-z]*\) ["0-9tf].*/\1/p' $sample | grep -vE '^(LoadPlugin|Plugin)$' >"$work/sample"
wanted "$work/sample" '^PidFile$' PidFile
known "$sample" "$work/options" <"$work/sample"
grep -ho 'B<Option> C<[a-z_]*>' $manual | sed 's/.*C<\(.*\)>/\1/' >"$work/manual"
grep -ho 'Option "[a-z_]*"' $sample | cut -d '"' -f 2 >"$work/sample"
known "$manual" "$work/switches" <"$work/manual"
known "$sample" "$work/switches" <"$work/sample"

cat "$work/options" "$work/switches"
exit $broken
