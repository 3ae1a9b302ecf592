# SPDX-License-Identifier: MIT
"""All that was measured of one server: at full load beside its client and at other loads round after round."""

import time
from typing import NamedTuple

import setup
from crossover import EVENTS, SETTLED_S, Crossover
from samples import Samples
from server import Pair

LOADS = {"half": 0.5, "usual": 0.7, "full": 0}  # of the throughput of full load, 0: as fast as the answers come
TAILS_OF = ("probe", "floor")


class Size(NamedTuple):
    """Rounds on one CPU, with other loads, and of the 99th percentile, which differs more from span to span than CPU time.
    Spans of each, of which the best counts, and their seconds."""

    rounds: int = 1
    load_rounds: int = 1
    tail_rounds: int = 1
    spans: int = 1
    load_spans: int = 1
    tail_spans: int = 1
    span_s: float = 0.05
    load_span_s: float = 0.05
    events_part: int = 10  # so many times fewer events than usual


def size(name, rounds):
    """HTTP/2 is far from what is wanted of it, so that half of the rounds decide, and nothing is wanted of its tail."""
    http2 = name == "nghttpd"
    rounds = max(1, rounds // 2) if http2 else rounds
    return Size(rounds, min(rounds, 6), 0 if http2 else max(1, rounds * 5 // 4), 6, 2, 4, 0.05, 0.15, 1)


class Rounds:
    def __init__(self, site, name, measured):
        self.site, self.name, self.size = site, name, measured
        self.setups = setup.setups(site)
        with Pair(site, name) as self.pair:
            self.full = max(self.pair.order(0, measured.load_span_s)["throughput"] for _ in range(3))
            events = {kind: count // measured.events_part for kind, count in EVENTS.items()}
            self.crossover = Crossover(site, self.pair, self.setups, measured.rounds, measured.spans, measured.span_s, events,
                                       beside=self._loads)
            self.tails = Samples([self._tails(i) for i in range(measured.tail_rounds)])
        rounds = self.crossover.beside[:measured.load_rounds]
        self.loads = {load: Samples([{name: (figures[load], nothing[load]) for name, (figures, nothing) in found.items()}
                                     for found in rounds]) for load in LOADS}
        self.loads["together"] = self.crossover.samples

    def _loads(self, i):
        if i >= self.size.load_rounds:
            return None
        return {load: self._quietest(part * self.full, self.size.load_spans) for load, part in LOADS.items()}

    def _tails(self, i):
        """99th percentiles at the usual load."""
        nothing, order = self._tail(), TAILS_OF if i % 2 else TAILS_OF[::-1]
        found = {}
        for name in order:
            with setup.on(name, self.site, self.pair):
                time.sleep(SETTLED_S)
                found[name] = self._tail(), nothing
        return found

    def _tail(self):
        return self._quietest(LOADS["usual"] * self.full, self.size.tail_spans)

    def _quietest(self, rate, count):
        spans = [self.pair.order(rate, self.size.load_span_s) for _ in range(count)]
        best = min(spans, key=lambda span: span["server_ns"])
        return {**best, "throughput": max(span["throughput"] for span in spans),
                "p99": min(span["p99"] for span in spans)}
