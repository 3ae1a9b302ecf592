#!/bin/sh
# SPDX-License-Identifier: MIT
# Objects of the oldest clang that is supported (13 has no declaration tags) and of Debian 13's both load, all probes with all
# options: what a compiler makes of a source decides whether the verifier takes it. Those of the build's own are in all other
# tests.
. "${srcdir:-.}/tests/check/scratch.sh"
sources=$(cd "${srcdir:-.}" && pwd)

major() {
	"$1" --version | sed -n 's/.*clang version \([0-9]*\)\..*/\1/p'
}

# load CLANG: with the build's engine, but for the object that it holds.
load() {
	mkdir "$work/$1"
	cd "$work/$1"
	eval "quietly ../source/configure $("$build/config.status" --config) BPF_CLANG=$1 LLVM_STRIP=$("$1" -print-prog-name=llvm-strip)"
	(cd "$build" && find plugin ebpf-describe tests/kernel \( -name '*.o' ! -name image.o -o -name 'load_*' -o -name ebpf-describe \) \
		-type f | tar -c -T -) | tar -x -m
	# shellcheck disable=SC2046 # a list of files
	quietly make -j2 ebpf.so $(make -s print-bpf_objects)
	abs_top_builddir=$PWD python3 "$sources/tests/kernel/test_all.py"
}

own=$(major "$(make -s -C "$build" print-BPF_CLANG)")
release "$work/source"
loaded=0
for version in 14 19; do
	if [ "$version" = "$own" ]; then
		continue
	elif ! command -v clang-$version >/dev/null; then
		echo "skip: clang-$version is missing"
		continue
	fi
	(load clang-$version)
	loaded=1
done
[ $loaded = 1 ] || exit 77
