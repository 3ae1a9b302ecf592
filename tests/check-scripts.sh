#!/bin/sh
# SPDX-License-Identifier: MIT
# No shell script of ours gives shellcheck something to say; every Python script is one.
. "${srcdir:-.}/tests/scratch.sh"
if ! command -v shellcheck >/dev/null; then
	echo "shellcheck is missing: apt-get install shellcheck"
	exit 77
fi
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
xargs shellcheck tests/scratch.sh <"$work/shell" || broken=1
# shellcheck disable=SC2046 # a list of files
python3 - $(cat "$work/python") $(find contrib tests -name '*.py') <<'EOF' || broken=1
import ast, sys

broken = 0
for path in sys.argv[1:]:
    try:
        with open(path, "rb") as file:
            ast.parse(file.read(), path)
    except SyntaxError as error:
        print(f"FAIL: {path}: {error}")
        broken = 1
sys.exit(broken)
EOF
exit $broken
