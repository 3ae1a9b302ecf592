#!/bin/sh
# SPDX-License-Identifier: MIT
# No script of ours gives shellcheck or pyflakes something to say.
. "${srcdir:-.}/tests/check/scratch.sh"
for tool in shellcheck pyflakes3; do
	if ! command -v $tool >/dev/null; then
		echo "$tool is missing: apt-get install $tool"
		exit 77
	fi
done
release "$work/source"
cd "$work/source"

# with_interpreter REGEX: files whose first line is #! and matches.
with_interpreter() {
	find .ci contrib tests -type f -exec awk -v regex="$1" '
		/^#!/ && $0 ~ regex { print FILENAME }
		{ nextfile }' {} +
}
with_interpreter '(/| )(ba|da)?sh( |$)' >"$work/shell"
with_interpreter 'python3' >"$work/python"
grep -qx 'tests/run' "$work/shell" || complain "tests/run is not among the shell scripts"
cat "$work/shell" "$work/python" | tee "$work/scripts"
while read -r file; do
	[ -x "$file" ] || complain "$file may not be executed"
done <"$work/scripts"
find contrib tests -name '*.sh' | sort -u - "$work/shell" | xargs shellcheck || broken=1
find contrib tests -name '*.py' | sort -u - "$work/python" | xargs pyflakes3 || broken=1
exit $broken
