# SPDX-License-Identifier: MIT
# For checks of the build: $work, a directory of the check's own that ends with it, and ways to get a
# build into it. Run by `make check-build`, which says where the build is.
# shellcheck shell=sh
set -eu
build=${abs_top_builddir:-$PWD}
work=$(mktemp -d "${TMPDIR:-/tmp}/ebpf-check.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# Configure would choose bash, and make would start one for each command.
export CONFIG_SHELL=/bin/sh
# shellcheck disable=SC2034 # the check reads it
broken=0

# complain TEXT: the check goes on, but has failed.
complain() {
	echo "FAIL: $*"
	# shellcheck disable=SC2034
	broken=1
}

# quietly COMMAND...: its output is shown only if it fails.
quietly() {
	echo "+ $*"
	"$@" >"$work/output" 2>&1 || {
		cat "$work/output"
		return 1
	}
}

# release DIR: the sources into DIR, as a release has them.
release() {
	quietly make -C "$build" distdir distdir="$1"
}

# take_objects DIR: the BPF objects of this build become those of the one that has just been configured there.
take_objects() {
	(cd "$build" && find bpf tests/bpf -name '*.bpf.o' | tar -c -T -) | tar -x -m -C "$1"
}

# btf_sections SOURCE: what its object has of BTF. .BTF.ext is of programs, and what only reads text files has none.
btf_sections() {
	echo .BTF
	! grep -q 'SEC("[^l.]' "$1" || echo .BTF.ext
}
