#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each message that docs/troubleshooting.md names exists in the code: in a string of plugin/, or of ebpf-top for what it prints.

"..." stands for any text. Checked are the first column of the table of messages, and the quotes of the paragraph about ebpf-top.
"""

import glob
import os
import re
import sys

TOP = os.environ.get("abs_top_srcdir") or os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
PAGE = "docs/troubleshooting.md"
TABLE = "| message | meaning and remedy |"
LEAST = 25   # messages: fewer mean that the table was not found as a whole


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        return file.read()


def strings_of(text):
    """The text of all files' strings; neighbours are one string, as in C."""
    text = re.sub(r'"\s*(?:PRI\w+\s*)?"', "", text)
    return text.replace('\\"', '"')


def parts_of(message):
    return [part.strip(" /") for part in message.split("...") if part.strip(" /")]


def missing_parts(messages, strings):
    return [(message, part) for message in messages for part in parts_of(message) if part not in strings]


def messages_of_table(page):
    rows = page[page.index(TABLE):].splitlines()[2:]
    return [message for row in rows if row.startswith("|") for message in re.findall(r"`([^`]*)`", row.split("|")[1])]


def messages_of_top(page):
    paragraph = re.search(r"^\*\*`ebpf-top` cannot connect\.\*\*(.*?)\n\n", page, re.M | re.S).group(1)
    return [message for message in re.findall(r"`([^`]*)`:", paragraph) if " " in message]


def main():
    page = read(PAGE)
    plugin = "\n".join(read(os.path.relpath(path, TOP)) for path in sorted(glob.glob(f"{TOP}/plugin/**/*.[ch]", recursive=True)))
    top = "\n".join(map(read, ("contrib/ebpf-top", "contrib/lib/live.py", "contrib/lib/unixsock.py")))
    table, of_top = messages_of_table(page), messages_of_top(page)
    assert missing_parts(["no such ... message"], strings_of('"no such "\n "text"')) == [("no such ... message", "message")]
    assert strings_of('"one "\n\t"two %" PRIu64 " three"') == '"one two % three"'
    complaints = [f"{PAGE}: \"{message}\": no string of the code has \"{part}\""
                  for messages, code in ((table, plugin), (of_top, top))
                  for message, part in missing_parts(messages, strings_of(code))]
    if len(table) < LEAST or not of_top:
        complaints.append(f"{PAGE}: {len(table)} messages in the table, at least {LEAST} are expected; {len(of_top)} of ebpf-top")
    for complaint in complaints:
        print("FAIL:", complaint)
    print(f"{len(table)} messages, {len(of_top)} of ebpf-top")
    return 1 if complaints else 0


sys.exit(main())
