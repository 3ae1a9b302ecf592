#!/bin/sh
# SPDX-License-Identifier: MIT
# What manual pages, samples, tools and the plugin's messages name of this project is installed, and they name it by its
# installed path.
. "${srcdir:-.}/tests/check/scratch.sh"
cd "$build"
quietly make install DESTDIR="$work/root"
for name in docdir bpfincludedir pkglibexecdir; do
	make -s "print-$name"
done >"$work/places"

# What is read, without the formatter's escapes, and without what the compiler writes for itself.
cd "$work/root"
find . -path '*/man/*' -type f -exec sed -i 's/\\f([A-Z]*//g; s/\\f.//g; s/\\-/-/g' {} +
objcopy -O binary --only-section=.rodata "$build/ebpf.so" "$work/messages"
tr '\0' '\n' <"$work/messages" >messages
find . '(' -path '*/man/*' -o -path '*/examples/*' ')' -type f >"$work/pages"
find . '(' -name messages -o -path '*/bin/*' -o -name '*.py' ')' -type f | sort - "$work/pages" >"$work/read"
cat "$work/read"

# In the tree, where no user looks.
where='(^|[^A-Za-z0-9_./-])(bpf|conf|contrib|docs|m4|plugin|tests)/[A-Za-z0-9_*/-]+\.[a-z]+'
xargs grep -aEn "$where" <"$work/read" >"$work/found" || :
[ ! -s "$work/found" ] || complain "named by where it is in the sources: $(cat "$work/found")"

# By its installed path, which is there.
sed 's,.*,&/[A-Za-z0-9_./*-]*[A-Za-z0-9_*-],' "$work/places" >"$work/paths"
xargs grep -aohf "$work/paths" <"$work/read" | sort -u >"$work/named"
cat "$work/named"
while read -r place; do
	grep -q "^$place/" "$work/named" || complain "nothing names a file in $place"
done <"$work/places"
while read -r name; do
	# shellcheck disable=SC2086 # it may be a pattern
	ls -d "$work/root"$name >/dev/null || complain "named, not installed: $name"
done <"$work/named"

# By its name alone, which says of no place. An ebpf.conf is also among the files of the machine's collectd.
find . '(' -path '*/doc/*' -o -path '*/include/*' ')' -type f ! -name ebpf.conf |
	sed 's,.*/,,; s,[.],[.],g; s,.*,\\(^\\|[^A-Za-z0-9_./-]\\)&,' >"$work/names"
echo '\(^\|[^A-Za-z0-9_./-]\)[a-z]*-\*[.]conf' >>"$work/names"
xargs grep -anf "$work/names" <"$work/pages" >"$work/found" || :
[ ! -s "$work/found" ] || complain "named without its place: $(cat "$work/found")"
exit $broken
