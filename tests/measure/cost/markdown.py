# SPDX-License-Identifier: MIT
"""Tables of a document in Markdown."""


def added(value, factor=1):
    """With its sign."""
    return f"{value.median * factor:+,.0f} [{value.low * factor:+,.0f}, {value.high * factor:+,.0f}]"


def percent(value):
    return f"{100 * (value.median - 1):+.1f} % [{100 * (value.low - 1):+.1f}, {100 * (value.high - 1):+.1f}]"


def table(title, columns, rows):
    print(f"\n{title}\n")
    print(f"| | {' | '.join(columns)} |")
    print("|---" + "|---:" * len(columns) + "|")
    for label, cells in rows:
        print(f"| {label} | {' | '.join(cells)} |")
