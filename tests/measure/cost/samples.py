# SPDX-License-Identifier: MIT
"""What was found with each variant, round after round. All that is compared is of the same round."""

import statistics

from statistic import Estimate


class Samples:
    """rounds: of each {variant: (figures with it, figures with nothing)}, where figures are {key: number}"""

    def __init__(self, rounds):
        self.rounds = rounds

    def without(self, key):
        return Estimate(statistics.median(nothing[key] for _, nothing in found.values()) for found in self.rounds)

    def _added(self, name, key):
        return [found[name][0][key] - found[name][1][key] for found in self.rounds]

    def added(self, name, key):
        """More than with nothing."""
        return Estimate(self._added(name, key))

    def excess(self, name, times, other, key):
        """What one adds, less so many times what the other adds."""
        return Estimate(one - times * two for one, two in zip(self._added(name, key), self._added(other, key)))

    def beyond(self, names, key):
        """What the first adds, less what the others add."""
        one, *others = (self._added(name, key) for name in names)
        return Estimate(first - sum(less) for first, *less in zip(one, *others))

    def quotient(self, name, other, key):
        """What one adds, divided by what the other adds."""
        return Estimate(one / two for one, two in zip(self._added(name, key), self._added(other, key)))

    def ratio(self, name, key):
        """Times what it is with nothing."""
        return Estimate(found[name][0][key] / found[name][1][key] for found in self.rounds)
