# SPDX-License-Identifier: MIT
"""The rows on probes and the tools that say the same."""

import rows
from markdown import added

TIMES = 0.5
COUNT_PART = 0.01
SHARE_PART = 0.02


class Unit:
    """What figures are in; per_ns: how many of them are a nanosecond of the clock; where: if not on this machine."""

    def __init__(self, name, per_ns=1, where=""):
        self.name = name
        self.per_ns = per_ns
        self.where = where

    def number(self, value):
        return f"{value * self.per_ns:,.0f}"

    def figure(self, value):
        return self.number(value.median)

    def sure(self, value):
        return f"{self.figure(value)} [{self.number(value.low)}, {self.number(value.high)}]"

    def added(self, value):
        return added(value, self.per_ns)


def label(pair):
    return f"{pair.name}: the probe {pair.probe}" if pair.command else f"the probe {pair.name}"


def _add(what, got, unit, wanted="", verdict=""):
    rows.add(what, got + (f", {unit.where}" if unit.where else ""), wanted, verdict)


def _costs(rounds, unit):
    """Other work makes CPU time too unsure to decide by, but where the clock goes by instructions."""
    what, pair = label(rounds.pair), rounds.pair
    programs = f"{unit.sure(rounds.in_programs('probe'))} {unit.name} in {rounds.runs('probe').median:.1f} runs"
    beside = f"{unit.added(rounds.added('probe'))} {unit.name}"
    _add(f"{what}, in the programs", programs, unit, *(_wanted(rounds, "in_programs", unit) if pair.command else ()))
    _add(f"{what}, added", beside, unit, *(_wanted(rounds, "added", unit) if pair.command and unit.where else ()))
    if pair.command:
        _add(f"{pair.name}, added", f"{unit.added(rounds.added('tool'))} {unit.name}", unit)


def _wanted(rounds, figure, unit):
    theirs, excess = getattr(rounds, figure)("tool"), getattr(rounds, f"excess_{figure}")(TIMES)
    return f"at most {TIMES:g} times {unit.figure(theirs)} {unit.name}, of {rounds.pair.name}", excess.at_most(0)


def _results(results, unit):
    name = results.pair.name
    for what, true, ours, theirs in results.counts:
        _add(f"{name}: {what}, counted", f"{ours:,.0f}; {name} {theirs:,.0f}", unit,
             f"{true:,.0f} within {100 * COUNT_PART:.0f} %", rows.judge(abs(ours - true) <= COUNT_PART * true))
    for what, differences in results.shares:
        most = max((abs(ours - theirs) for _, _, ours, theirs in differences), default=1)
        wanted = () if results.pair.note else (f"at most {100 * SHARE_PART:.0f} points", rows.judge(most <= SHARE_PART))
        _add(f"{name}: {what}, greatest difference of a share by powers of two", f"{100 * most:.1f} points", unit, *wanted)


def add(rounds, results, unit):
    """results: None if there is no tool."""
    _costs(rounds, unit)
    if results:
        _results(results, unit)


def add_absent(pair, reason, unit):
    _add(f"{label(pair)}, in the programs", f"not here: {reason}", unit)
