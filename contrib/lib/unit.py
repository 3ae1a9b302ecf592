# SPDX-License-Identifier: MIT
"""Units and the format of figures in them."""

import dataclasses
import math

# The space between a figure and its unit: no line breaks there, and all have the same width.
NBSP = "\N{NO-BREAK SPACE}"
UNKNOWN = "–"
PREFIXES = "nµm kMGTP"
NONE = PREFIXES.index(" ")
AGES = (86400, "d"), (3600, "h"), (60, "min")


@dataclasses.dataclass(frozen=True)
class Unit:
    name: str               # on the axis of a chart
    symbol: str = ""        # after a figure
    base: int = 1000
    small: bool = False     # prefixes for small values, too: m, µ
    exponent: bool = False  # powers of ten in place of prefixes, which would be wrong for squares
    whole: bool = False     # integers only
    adds: bool = False      # parts of a sum: where a service has no value, it counts as 0 in an average

    def write(self, value):
        """Three digits, prefix and symbol: 12.3 ms, 3.02 MiB."""
        return self._write(value, self._digits)

    def short(self, value):
        """For a narrow column, whose heading has the unit: 12.3ms, 3.02Mi."""
        return self.write(value).removesuffix("/s").removesuffix("B").replace(NBSP, "")

    def json(self):
        """For units.js, which writes figures as write() does."""
        return vars(self)

    def _write(self, value, digits):
        if not math.isfinite(value):
            return UNKNOWN
        if self.exponent:
            number, prefix = self._power(value), ""
        else:
            scaled, prefix = self._scale(value)
            number = digits(scaled)
        suffix = prefix + self.symbol
        return number + NBSP + suffix if suffix else number

    def _scale(self, value):
        power, size = NONE, abs(value)
        # A value that would be rounded up to the base gets the next prefix.
        while size >= self.base - 0.5 and power < len(PREFIXES) - 1:
            size, power = size / self.base, power + 1
        while self.small and 0 < size < 0.9995 and power > 0:
            size, power = size * self.base, power - 1
        prefix = PREFIXES[power].strip()
        if self.base == 1024 and power > NONE:
            prefix = prefix.upper() + "i"
        return math.copysign(size, value), prefix

    @staticmethod
    def _power(value):
        if value == 0 or 0.01 <= abs(value) < 1000:
            return f"{value:.3g}"
        number, _, power = f"{value:.1e}".partition("e")
        raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        return ("" if number == "1.0" else number.removesuffix(".0") + "×") + "10" + raised

    @staticmethod
    def _digits(value):
        size = abs(value)
        if size >= 1e6:
            return f"{value:.2g}"
        if 0 < value < 0.005:
            return "<0.01"
        if size >= 99.95 or math.isclose(size, round(size), rel_tol=1e-6):
            return f"{value:.0f}"
        return f"{value:.1f}" if size >= 9.995 else f"{value:.2f}"


def age(seconds):
    """A time that has passed: 8 s, 12 min."""
    size, symbol = next(((size, symbol) for size, symbol in AGES if seconds >= 2 * size), (1, "s"))
    return f"{seconds / size:.0f}{NBSP}{symbol}"


NUMBER = Unit("number", whole=True)
RATE = Unit("per second", adds=True)
SECONDS = Unit("seconds", "s", small=True)
SQUARES = Unit("square seconds", "s²", exponent=True)
SHARE = Unit("percent")
CPU = Unit("percent of one CPU", adds=True)
THREADS = Unit("threads", adds=True)
REQUESTS = Unit("requests", adds=True)
BYTES = Unit("bytes", "B", 1024)
BYTE_RATE = Unit("bytes per second", "B/s", 1024, adds=True)
