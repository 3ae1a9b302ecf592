# SPDX-License-Identifier: MIT
"""Analyses a bpftrace program: its maps and the functions that fill them. Adds lines that print the maps in each interval."""

import re

AGGREGATES = ("count", "sum", "min", "max", "avg", "stats", "hist", "lhist")
# Maps of these are cleared after each print, so that values are of one interval.
EXTREMES = ("min", "max")
# Functions whose values are texts or times.
NO_NUMBERS = ('"', "nsecs", "elapsed")
# A map whose only key is a newline: its print shows how bpftrace escapes keys.
PROOF = "@ebpf_bpftrace_proof"
PLAIN, INCREMENT, ZERO = "plain", "increment", "zero"

# Comments and strings.
BESIDE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"', re.DOTALL)
MAP = re.compile(r"@[A-Za-z0-9_]*")
CALL = re.compile(r"\b(print|clear|zero|delete)\s*\(\s*(@[A-Za-z0-9_]*)\s*([,)[])")
ASSIGNED = re.compile(r'\s*(\+\+|--|\+=|-=|=(?!=))\s*(\w+|"|)')


class Map:
    def __init__(self, name):
        self.name = name
        self.kinds = set()
        self.calls = set()
        self.is_number = True   # not a text or a time
        self.is_partial = False # the program prints only some of its rows

    @property
    def kind(self):
        """The function that fills the map; a plain value if there are several. A map that is first set to zero is of the
        function that follows."""
        kinds = self.kinds - {ZERO} or {PLAIN}
        return next(iter(kinds)) if len(kinds) == 1 else PLAIN

    @property
    def is_state(self):
        """Whether the map is internal state, as the start of a call, or a name."""
        return self.kind == PLAIN and (not self.is_number or "delete" in self.calls)

    @property
    def is_printed(self):
        """Whether the program prints the map itself, at its own times."""
        return "print" in self.calls

    @property
    def is_cleared(self):
        """Whether the program clears the map, so that each print is the growth since the last one."""
        return self.is_printed and bool({"clear", "zero"} & self.calls)


def blank(text):
    """The text with comments and strings blanked, except the first quotation mark of a string."""
    return BESIDE.sub(lambda found: re.sub(r'(?!^")[^\n]', " ", found.group()), text)


def end_of_key(code, at):
    """The position after the key that may follow a map's name."""
    depth = 0
    start = re.compile(r"\s*").match(code, at).end()
    if code[start:start + 1] != "[":
        return at
    for index in range(start, len(code)):
        depth += (code[index] == "[") - (code[index] == "]")
        if depth == 0:
            return index + 1
    return len(code)


def without_end(code):
    """The code without END probes, whose prints belong to no interval."""
    found = re.search(r"\bEND\s*(?=\{)", code)
    if not found:
        return code
    depth = 0
    for index in range(found.end(), len(code)):
        depth += (code[index] == "{") - (code[index] == "}")
        if depth == 0:
            return code[:found.start()] + code[index + 1:]
    return code[:found.start()]


class Program:
    """text: the program; maps: {name: Map}, in the order of the text."""

    def __init__(self, text):
        self.text, self.maps = text, {}
        self.averages = []      # the positions of avg
        code = blank(text)
        for found in MAP.finditer(code):
            self._inspect(code, found)
        for call, name, behind in CALL.findall(without_end(code)):
            self.maps[name].calls.add(call)
            self.maps[name].is_partial |= call == "print" and behind == ","

    def _inspect(self, code, found):
        one = self.maps.setdefault(found.group(), Map(found.group()))
        assigned = ASSIGNED.match(code, end_of_key(code, found.end()))
        if assigned:
            operator, word = assigned.groups()
            is_call = word in AGGREGATES and re.compile(r"\s*\(").match(code, assigned.end())
            one.kinds.add(INCREMENT if operator in ("++", "+=") else PLAIN if operator != "=" else
                          word if is_call else ZERO if word == "0" else PLAIN)
            one.is_number &= operator != "=" or word not in NO_NUMBERS
            if is_call and word == "avg":
                self.averages.append(assigned.start(2))
        elif code[:found.start()].endswith("++"):
            one.kinds.add(INCREMENT)

    def shown(self, wanted=()):
        """The maps that become series: these, or all except internal state."""
        return [one for one in self.maps.values()
                if (one.name in wanted if wanted else one.kinds and not one.is_state)]

    def _with_totals(self):
        """Replaces avg() by stats(). bpftrace prints the average since the start; that of an interval needs count and total."""
        text = self.text
        for at in reversed(self.averages):
            text = text[:at] + "stats" + text[at + len("avg"):]
        return text

    def with_prints(self, maps, milliseconds, mark):
        """The program with lines that print, in each interval, those of these maps that it does not print itself, and then the
        mark."""
        prints = [f'{PROOF}["\\n"] = 1; print({PROOF});']
        for one in maps:
            if not one.is_printed:
                prints.append(f"print({one.name});")
                prints += [f"clear({one.name});"] if one.kind in EXTREMES else []
        return f'{self._with_totals()}\ninterval:ms:{milliseconds} {{ {" ".join(prints)} printf("{mark}\\n"); }}\n'
