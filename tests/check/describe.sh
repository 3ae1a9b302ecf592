#!/bin/sh
# SPDX-License-Identifier: MIT
# What documents and ebpf-graph say of series is what the objects' tags say, and what documents say of costs and accuracy is what
# docs/measured.md says (`make describe`). That another unit and one more file in an object would show in each of them, that
# another figure would, and that a series without UNIT or HELP is refused, is tried first. A service has no more series by default
# than is promised; how many it has is printed.
. "${srcdir:-.}/tests/check/scratch.sh"
cd "$build"
types=$(make -s print-TYPES_DB)
if [ ! -e "$types" ]; then
	echo "$types is missing: apt-get install collectd-core"
	exit 77
fi
release "$work/source"
quietly make series.json
measured="$work/source/docs/measured.md"
described=$(make -s print-described)

# written DESCRIPTION MEASURED DIR: the files as they would be written, in DIR.
written() {
	mkdir "$3"
	for file in $described; do
		cp "$work/source/$file" "$3"
	done
	# shellcheck disable=SC2046,SC2086 # lists of words
	(cd "$3" && quietly "$work/source/contrib/describe/update-documents" "$1" "$2" $(basename -a $described))
}

# differ DIR: those of the files that are not as they are in the tree.
differ() {
	for file in $described; do
		cmp -s "$work/source/$file" "$1/$(basename "$file")" || echo "$file"
	done
}

# Less one that is on by default: of those a service may have as many as it has.
sed '/total_events-oom_kills/s/"files": \["/&one more", "/; s/"unit": "kills"/"unit": "victims"/; s/"title": "OOM kills"/"title": "Victims"/
/"name": "ps_count"/s/"off": false/"off": true/' series.json >"$work/other.json"
written "$work/other.json" "$measured" "$work/other"
tagged=$(echo "$described" | tr ' ' '\n' | grep -vE '^(conf/(receiver-prometheus-server.yml|threshold.conf)|docs/(costs|howto/alert).md)$')
[ "$(differ "$work/other")" = "$tagged" ] ||
	complain "another unit and one more file show in these only: $(differ "$work/other")"
sed 's/"probe": "oom"/"probe": "mine"/' series.json >"$work/nobody.json"
! written "$work/nobody.json" "$measured" "$work/nobody" >"$work/said" || complain "a probe without a section in the manual passes"
grep -q 'has no section "PROBE mine"' "$work/said" || complain "it said: $(cat "$work/said")"

# Every figure another one, and none.
awk -F'|' -v OFS='|' '/^\|/ && $4 ~ /[0-9]/ { $4 = " 4,711 ns [4,700, 4,720] " } { print }' "$measured" >"$work/measured.md"
written "$build/series.json" "$work/measured.md" "$work/figures"
for file in README.md costs.md receivers.md collectd-ebpf-metrics.pod; do
	grep -qF '4,711 ns [4,700, 4,720]' "$work/figures/$file" || complain "another figure does not show in $file"
done
: >"$work/measured.md"
written "$build/series.json" "$work/measured.md" "$work/missing" >"$work/said"
for file in README.md collectd-ebpf-metrics.pod; do
	grep -q 'not measured' "$work/missing/$file" || complain "$file says nothing of figures that are missing"
done

# refused TEXT OBJECT: ebpf-describe says so of it.
refused() {
	! ./ebpf-describe "$types" "$2" >/dev/null 2>"$work/said" || complain "not refused: $1"
	grep -qF "$1" "$work/said" || complain "for \"$1\" it said: $(cat "$work/said")"
}

# changed FROM TO: the object of the probe oom with another text, as long.
changed() {
	LC_ALL=C sed "s/$1/$2/" bpf/oom.bpf.o >"$work/oom.bpf.o"
	! cmp -s bpf/oom.bpf.o "$work/oom.bpf.o" || complain "the object has no $1"
}

changed 'unit:kills' 'untt:kills'
refused 'map oom_services, member kills: there is no UNIT' "$work/oom.bpf.o"
changed 'help:OOM kills: processes ended' 'hepl:OOM kills: processes ended'
refused 'map oom_services, member kills: there is no HELP' "$work/oom.bpf.o"
changed 'help:OOM kills: processes ended' 'help:OOM kills: processes|ended'
refused 'printable ASCII without |' "$work/oom.bpf.o"
changed 'help:OOM kill: who' 'hepl:OOM kill: who'
refused 'map oom_kills: there is no HELP' "$work/oom.bpf.o"
changed 'metric:total_events-oom_kills' 'metric:total_evenst-oom_kills'
refused "types.db has no type \"total_evenst\"" "$work/oom.bpf.o"
refused 'cannot open it: No such file or directory' "$work/none.bpf.o"
refused 'cannot read it: Is a directory' bpf

# promised TEXT: other.json is refused, as it says.
promised() {
	! "$work/source/contrib/describe/update-documents" "$work/other.json" >/dev/null 2>"$work/said" || complain "not refused: $1"
	grep -qF "$1" "$work/said" || complain "for \"$1\" it said: $(cat "$work/said")"
}

"$work/source/contrib/describe/update-documents" series.json >"$work/said" || complain "a service has too many series"
cat "$work/said"
of_a_service=$(awk -F'|' '$5 ~ / of a service/ { sum += $5 } END { print sum }' "$work/source/README.md")
grep -q "^a service has $of_a_service series by default" "$work/said" || complain "README's table has $of_a_service series of a service"
sed '/"percent-slow_/s/"off": true/"off": false/' series.json >"$work/other.json"
promised 'series by default, and may have 48: mark those that are rarely used by DEFAULT(off)'
sed 's/"probe": "syscalls", "off": true/"probe": "syscalls", "off": false/' series.json >"$work/other.json"
promised 'syscalls: total_operations-syscall-* is on by default, but how many series of it a service has is unknown'

written "$build/series.json" "$measured" "$work/now"
for file in $(differ "$work/now"); do
	complain "$file is not what the tags say; make describe"
	diff -u "$work/source/$file" "$work/now/$(basename "$file")" || :
done
exit $broken
