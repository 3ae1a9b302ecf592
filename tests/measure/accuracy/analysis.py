# SPDX-License-Identifier: MIT
"""What the RRD files say of each level, beside what the client and the server say."""

import json
import math
import os
import statistics
from functools import cached_property

from measure import ARRIVALS
from store import Store, step_of

MIDDLE = 0.55  # share of the maximum
PREDICTS = 0.4
CAPABLE = 0.2  # error of what is foretold
UNSENT = 0.03
RISEN = 5
SCARCE = 10
SLACK = f"slack below {SCARCE} %"
WAITING = "waiting above 1 (16)"
POLL_IDLE = f"poll idle below {SCARCE} %"
ABOVE = 5  # samples above a percentile, for it to be one
PERCENTILES = ("p50", "p90", "p99")


def known(values):
    return [value for value in values if value is not None and not math.isnan(value)]


def mean(values):
    values = known(values)
    return statistics.fmean(values) if values else math.nan


def median(values):
    values = known(values)
    return statistics.median(values) if values else math.nan


def first_lasting(levels, condition):
    """The level from which on something holds, to the last; None: it does not hold at the last."""
    found = None
    for level in reversed(levels):
        if not condition(level):
            break
        found = level
    return found


def determination(x, y):
    """R^2 of the straight line through the points."""
    pairs = [(a, b) for a, b in zip(x, y) if not math.isnan(a + b)]
    if len(pairs) < 3:
        return math.nan
    return statistics.correlation(*zip(*pairs)) ** 2


class Level:
    def __init__(self, run, data):
        self.run = run
        self.store = run.store
        self.share = data["share"]
        self.offered = data["offered"]
        self.client = data["client"]
        self.server = data["server"]
        self.begin, self.end = self.client["begin"], self.client["end"]
        self.around = data["before"], data["after"]

    @cached_property
    def readings(self):
        """{end of step: (begin, end)} of the whole readings within the level."""
        moments = sorted(self.run.moments.items())
        return {step: (begin, end) for (_, begin), (step, end) in zip(moments, moments[1:])
                if self.begin <= begin and end <= self.end}

    def _values(self, metric):
        return {step: value for step, value in self.store.rows(metric, "value", *self.around).items() if step in self.readings}

    @cached_property
    def answered(self):
        return self.client["latency"]["count"]

    def _counted(self, metric, source):
        return self.store.counted(metric, source, *self.around)

    @cached_property
    def exchanges(self):
        return self._counted("total_requests", "value")

    @cached_property
    def byte_count(self):
        """Exchanges, received and sent, as integers: a counter's."""
        return round(self.exchanges), *(round(self._counted("if_octets", source)) for source in ("rx", "tx"))

    @property
    def agrees(self):
        """Whether exchanges and bytes are exactly those of the service's own log."""
        return self.byte_count == tuple(self.server[key] for key in ("requests", "rx", "tx"))

    @cached_property
    def expected(self):
        return self.answered + self.client.get("extra", 0)

    @cached_property
    def unsent(self):
        """Share of the requests due that found no connection free."""
        return self.client["dropped"] / (self.client["sent"] + self.client["dropped"])

    @cached_property
    def windows(self):
        """{step: (begin, end)} of the readings whose gaps all lie within the level, between two answers of it."""
        samples, frequency = (self.store.rows(f"gauge-send_gap-{figure}", "value", *self.around)
                              for figure in ("samples", "frequency"))
        tenths = self.client["latency"]["tenths"]
        first, last = tenths[0][0] + 0.1, tenths[-1][0]
        found = {}
        for step in samples.keys() & frequency.keys() & self.run.moments.keys():
            # All gaps together: with few samples, of several intervals.
            end = self.run.moments[step]
            begin = end - samples[step] / frequency[step]
            if begin > first and end < last:
                found[step] = begin, end
        return found

    def gap(self, figure, which="send"):
        values = self.store.rows(f"gauge-{which}_gap-{figure}", "value", *self.around)
        # One long gap moves the spread of a whole reading, and no rate.
        middle = mean if figure == "frequency" else median
        return middle(values.get(end) for end in self.windows)

    def _replies(self, begin, end):
        """Answers per second between two moments, as the client counted."""
        count = sum(n * max(0, min(tenth + 0.1, end) - max(tenth, begin)) / 0.1
                    for tenth, n in self.client["latency"]["tenths"])
        return count / (end - begin)

    @cached_property
    def rate(self):
        """Answers per second, over the same windows as the gaps."""
        return mean(self._replies(*window) for window in self.windows.values())

    @cached_property
    def whole_rate(self):
        return self.answered / (self.end - self.begin)

    @cached_property
    def exchange_rate(self):
        return self.exchanges / (self.end - self.begin)

    def percentile(self, metric, which):
        """The median of what was stored in each second, which one bad second does not move."""
        return median(self._values(f"latency-{metric}-percentile-{which[1:]}").values())

    def said(self, record, which):
        """The same as percentile(), of the client's record: "latency" or "open"."""
        column = 2 + PERCENTILES.index(which)
        return median(row[column] for row in self.client[record]["seconds"]
                      if self.begin <= row[0] and row[0] + 1 <= self.end)

    def error(self, metric, column, which):
        """Of a percentile, relative to the service's own log: the median over the readings."""
        stored = self._values(f"latency-{metric}-percentile-{which[1:]}")
        share = float(which[1:]) / 100
        errors = []
        for step, got in stored.items():
            begin, end = self.readings[step]
            truth = sorted(row[column] for row in self.server["log"] if begin < row[0] <= end)
            if (1 - share) * len(truth) >= ABOVE:
                errors.append(got / truth[int(share * (len(truth) - 1))] - 1)
        return median(errors)

    def figure(self, metric):
        """Of a series without percentiles: the mean over the readings."""
        return mean(self._values(metric).values())

    @cached_property
    def concurrency(self):
        """Requests on their way, as the client has them: the time of all, by the time of the level."""
        return self.answered * self.client["latency"]["average"] / (self.end - self.begin)


class Run:
    """One workload's result."""

    def __init__(self, result, directory):
        self.interval = result["interval"]
        self.store = Store(directory, result["name"], self.interval, self._span(result["levels"]))
        self.result = result
        self.levels = [Level(self, data) for data in result["levels"]]

    def _span(self, levels):
        """Of the readings that tell of all levels."""
        return levels[0]["before"] - self.interval, levels[-1]["after"] + self.interval

    def __getattr__(self, name):
        return self.result[name]

    @property
    def kernel_series(self):
        return ".".join(self.kernel.split(".")[:2])

    @property
    def where(self):
        return f"{self.kernel_series}, {self.network}, {self.arrivals}"

    @cached_property
    def moments(self):
        """{end of step: time of its reading}"""
        return {step_of(moment): moment for moment in self.readings}

    @cached_property
    def r2_observed(self):
        return determination([level.rate for level in self.levels], [level.gap("frequency") for level in self.levels])

    @cached_property
    def r2_exchanges(self):
        return determination([level.whole_rate for level in self.levels],
                             [level.exchange_rate for level in self.levels])

    @cached_property
    def missed(self):
        """The largest error of exchanges, relative."""
        return max(abs(level.exchanges - level.expected) / level.expected for level in self.levels)

    def usual(self, figure):
        """Of the levels up to the middle."""
        return median(figure(level) for level in self.levels if level.share <= MIDDLE)

    def _rises(self, figure, times):
        usual = self.usual(figure)
        return first_lasting(self.levels, lambda level: figure(level) > times * usual)

    @cached_property
    def knee(self):
        """Where the client's median or its p99 have left what they were, or requests stay behind the plan."""
        usual = {p: self.usual(lambda level, p=p: level.said("open", p)) for p in ("p50", "p99")}
        return first_lasting(self.levels, lambda level: level.unsent > UNSENT or
                             any(level.said("open", p) > RISEN * usual[p] for p in usual))

    @cached_property
    def batch(self):
        return ARRIVALS[self.arrivals]

    @cached_property
    def signals(self):
        """{what: the level from which on it tells of saturation, or None}"""
        return {
            SLACK: first_lasting(self.levels, lambda level: level.figure("percent-slack") < SCARCE),
            WAITING: first_lasting(self.levels, lambda level: level.figure("gauge-requests_waiting") > self.batch),
            POLL_IDLE: first_lasting(self.levels, lambda level: level.figure("percent-poll_idle") < SCARCE),
            "wait p50 rises": self._rises(lambda level: level.percentile("wait", "p50"), RISEN),
            "response p50 rises": self._rises(lambda level: level.percentile("response", "p50"), RISEN),
        }

    @cached_property
    def telling(self):
        """Whether its levels are those of the service alone: nothing else has its CPU, or is waited for."""
        return not self.shares_cpu and self.network == "loopback"

    def is_near_knee(self, signal):
        """Whether it shows saturation within a level of the client's knee, which there must be."""
        distance = self.from_knee(signal)
        return distance is not None and abs(distance) <= 1

    def from_knee(self, signal):
        """How many levels above the client's knee the signal shows saturation; None: one of them is nowhere."""
        level = self.signals[signal]
        return self.levels.index(level) - self.levels.index(self.knee) if level and self.knee else None

    @cached_property
    def predicted(self):
        """Requests per second that it is capable of, as said where it is not busy yet."""
        return mean(level.figure("gauge-request_capacity") for level in self.levels if level.share == PREDICTS)

    @cached_property
    def capacity_error(self):
        """Relative to the maximum."""
        return self.predicted / self.most - 1

    @property
    def foretold(self):
        return abs(self.capacity_error) <= CAPABLE

    @cached_property
    def cost(self):
        """CPU time of a request where the capacity is foretold, in seconds."""
        return mean(level.figure("gauge-request_cpu") for level in self.levels if level.share == PREDICTS)

    @cached_property
    def busiest(self):
        """The level at which most is answered."""
        return max(self.levels, key=lambda level: level.whole_rate)

    @property
    def capacity_reason(self):
        """Why its maximum is not foretold, where it would be if each request cost what it costs at the busiest level."""
        cost = self.busiest.figure("gauge-request_cpu")
        if self.foretold or not abs(1 / cost / self.most - 1) <= CAPABLE:
            return None
        return (f"a request costs {1e6 * self.cost:.1f} us of CPU time at {100 * PREDICTS:.0f} %, and {1e6 * cost:.1f} us at "
                f"{100 * self.busiest.share:.0f} %")

    def beside_client(self, which):
        """The response time as the probe sees it, divided by that of the client: the median of the levels up to the middle."""
        return self.usual(lambda level: level.percentile("response", which) / level.said("latency", which))


def load(path):
    """The run of this result, or None."""
    try:
        with open(path, encoding="utf-8") as file:
            return Run(json.load(file), os.path.dirname(path))
    except FileNotFoundError:
        return None
