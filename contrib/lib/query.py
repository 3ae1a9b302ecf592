# SPDX-License-Identifier: MIT
"""What a query of a dashboard asks for, in no store's language."""

import dataclasses
import functools
import re

from metric_names import COUNTED
from name import varying
from series import PROBES

SERVICE = "$service"    # the subject that the reader of a dashboard chooses
EACH = "*"              # every subject but processes and the machine, so that nothing is counted twice
HOSTS = "$host"         # one or several, as the reader chooses

# A process is SERVICE-PID-TICKS. It has run since more than a second after the boot, so that replicas such as app-2-1 are none.
PROCESS = "-[0-9]+-[0-9]{3,}"

PRESENT = "ps_rss"      # a series of every service, and of no other subject but processes

NUMBER = "[0-9][0-9.]*"
PERCENTILE = "-percentile-*"
ENTRIES = {file: (probe, rows) for _, probe, many in PROBES for file, *_, rows in many}
SOURCES = {file.partition("-")[0]: tuple(name for name, _ in sources)
           for _, _, many in PROBES for file, _, _, _, sources, _ in many}


@functools.cache
def entry(pattern):
    """The entry of the catalogue of which these files are, the most exact one; "" if there is none."""
    return max((one for one in ENTRIES if pattern == one or pattern.startswith(one + "-") or varying(one, pattern) is not None
                or varying(pattern, one) is not None), key=lambda one: (pattern.startswith(one), len(one)), default="")


def better_described(pattern):
    """What the `*` of an entry of the catalogue does not stand for, as globs: what a more exact entry is for."""
    found = {varying(pattern, file) for file in ENTRIES if file != pattern} if pattern in ENTRIES and "*" in pattern else set()
    return found - {None}


def alternatives(globs):
    """A regular expression of what these globs match, for Python and RE2."""
    return "|".join(".*".join(map(escaped, one.split("*"))) for one in sorted(globs))


def escaped(text):
    """Python's re.escape() escapes more than the letters of names need, and more than RE2 takes."""
    return re.sub(r"([.+*?^$|(){}\[\]\\])", r"\\\1", text)


@dataclasses.dataclass(frozen=True)
class Target:
    """Series of subjects on the chosen hosts, each a curve, or their sums."""
    file: str                           # TYPE[-INSTANCE], perhaps with one `*`
    source: str = "value"               # data source
    subject: str = SERVICE              # or EACH, or a name
    label: str = "*"                    # of the curve; see varies
    scale: float = 1
    by: tuple = ()                      # (): each series is a curve. Otherwise one for each of these: "host", "service"
    how: str = "sum"                    # with by: "sum", "max" or "min" of all series of a curve
    only: frozenset = frozenset()       # what the `*` of the file may stand for; empty: anything
    without: frozenset = frozenset()    # but these

    @property
    def kind(self):
        """The collectd type."""
        return self.file.partition("-")[0]

    @property
    def instance(self):
        """The type instance, perhaps with a `*`."""
        return self.file.partition("-")[2]

    @property
    def counted(self):
        """Whether it is a counter, whose rate per second is asked for."""
        return self.kind in COUNTED

    @property
    def is_keyed(self):
        return "*" in self.file

    @property
    def is_percentile(self):
        """Whether the `*` stands for percentiles: numbers, and nothing else."""
        return self.file.endswith(PERCENTILE)

    @property
    def rows(self):
        """What the series are counted for, as in the catalogue."""
        return ENTRIES.get(entry(self.file), ("", ()))[1]

    @property
    def machine(self):
        """The subject that is the whole machine, and none of EACH, if the series are of services and the machine; or ""."""
        return ENTRIES[entry(self.file)][0] if {"service", "probe"} <= set(self.rows) else ""

    @property
    def without_keys(self):
        """What the `*` of the file does not stand for, as globs."""
        return self.without | better_described(self.file)

    @property
    def varies(self):
        """What the `*` of the label stands for: several of "host", "service" and "key" have a space between them."""
        if self.by:
            return self.by
        found = (("service",) if self.subject == EACH else ()) + (("key",) if self.is_keyed else ())
        return found or ("host",)

    def admits(self, key):
        """Whether the `*` of the file may stand for it."""
        if self.is_percentile and not re.fullmatch(NUMBER, key) or self.only and key not in self.only:
            return False
        return not (self.without_keys and re.fullmatch(alternatives(self.without_keys), key))


def excluded_subjects(target, text=".*"):
    """A regular expression of the subjects that are none of EACH. text: one of what may precede a process id"""
    return f"{target.machine}|{text}{PROCESS}" if target.machine else text + PROCESS
