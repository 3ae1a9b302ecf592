#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Polls of a service: their number, their duration and the share of time that they take, by each set of hooks that
this kernel has, all of them at once on the same polls.

Truth: the polling program's own log (load_poll.c).
"""

import fcntl
import os
import struct
import termios
import time

import lib
from lib import Test, without
from request_hook_sets import no_readings
from test_absence import WITH_TRACEFS, in_mounts, said
from truth import Curve

CALLS = ("epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select", "pselect6", "io_uring_enter")
IO_URING = "io_uring_enter"
SERVICES = list(CALLS) + ["s20", "s50", "s80", "busy", "slow", "long", "end"]
INTERVAL = 4 if lib.SLOWNESS >= 2 or os.environ.get("TEST_FIGURES") else 1
ROUNDING = INTERVAL / 8  # seconds, of a time stamp
WALKS = 0.2  # between walks where another probe has more of them
HOOK_SETS = (1, 2, 3, 4)
WITHOUT_IO_URING = (2, 4)
NEEDS_OPTION = (3, 4)
SLACK = 30e-6 * lib.SLOWNESS  # between the kernel's clock and the program's
LONG_S = max(6, 4 * INTERVAL)

ALONE = without("delay", "process", "request")
BESIDE_PROCESS = f'<Probe "process">\n Interval {WALKS}\n</Probe>\n' + without("request")


def command(service):
    """Not longer than a command name may be."""
    return f"kt_p{SERVICES.index(service)}"


def configuration(hook_set, option, others):
    services = "".join(f'<Service "{name}">\n Process "{command(name)}"\n</Service>\n' for name in SERVICES)
    words = 'Option "syscalls"\n' if option else ""
    return f'{services}{others}<Probe "poll">\n Enable true\n HookSet {hook_set}\n {words}</Probe>\n'


def start(test, hook_set, option=True, others=ALONE):
    return test.collectd(configuration(hook_set, option, others), interval=INTERVAL, wrap=in_mounts(WITH_TRACEFS),
                         collect=("poll",))


def hook_set_of(daemon):
    return int(daemon.wait_rows("self", "count-tier_poll")[-1][1])


def start_all(test):
    """The hook sets that this kernel has. That of the system calls is available everywhere."""
    daemons = {hook_set: start(test, hook_set) for hook_set in HOOK_SETS}
    for hook_set, daemon in list(daemons.items()):
        if hook_set_of(daemon) == hook_set:
            continue
        message = " ".join(said(daemon, "probe poll is off: "))
        test.true(f"hook set {hook_set}: {message} is for want of rights", "Operation not permitted" in message)
        test.true(f"hook set {hook_set} may be missing", hook_set not in NEEDS_OPTION)
        test.stop(daemons.pop(hook_set))
    return daemons


def check_without_option(test, daemon, hook_sets):
    """The line is ignored, and a hook set that needs no option is used if there is one."""
    test.equal("without the option: hook set", hook_set_of(daemon), min(set(hook_sets) - set(NEEDS_OPTION), default=0))
    message = " ".join(said(daemon, "probe poll: ignoring HookSet 3"))
    test.true(f"without the option: {message!r} names it", 'it needs Option "syscalls"' in message)
    test.stop(daemon)


def polls(daemon, service, moment):
    """How many until then. A window of samples is of its own interval and of those before, to 6 in all, none of which
    follows one without; here none has 2048."""
    end = daemon.row_after(service, "gauge-poll-samples", moment)[0]
    counts = [0]
    for stamp, samples in daemon.rows(service, "gauge-poll-samples"):
        first = len(counts)
        while samples and len(counts) - first < 5 and first > 1 and counts[first - 1] and counts[first - 2]:
            first -= 1
        if stamp <= end:
            counts.append(samples - sum(counts[first:]))
    return sum(counts)


class Caller:
    """A program that polls by one call."""

    def __init__(self, test, service, call):
        self.service = service
        self.load = test.load("poll", "calls", call, name=command(service))
        self.polls = 0

    def say(self, count, short_us, long_us, signal_us):
        self.load.say(f"{count} {short_us} {long_us} {signal_us}")

    def wait_poll(self):
        """Until it has read what it is to do, and sleeps."""
        while True:
            unread = fcntl.ioctl(self.load.process.stdin, termios.FIONREAD, bytes(4))
            with open(f"/proc/{self.load.pid}/stat", encoding="ascii") as stat:
                if stat.read().rpartition(")")[2].split()[0] == "S" and not any(unread):
                    return
            time.sleep(0.01)

    def hear(self):
        said_now = self.load.result()
        self.polls += said_now["polls"]
        return said_now


def counted(hook_set, caller):
    return hook_set not in WITHOUT_IO_URING or caller.service != IO_URING


def first_value(daemon, service, metric, before, moment):
    """Of the only interval since a reading that has any. That reading may have begun before the moment, and waited."""
    daemon.row_after(service, "gauge-poll-samples", moment)
    daemon.row_after(service, metric, before)
    return next((row[1] for row in daemon.rows(service, metric) if row[0] > before and row[1] == row[1]), 0)


def check_durations(test, hook_set, daemon, caller, log, span):
    count = log["polls"]
    mean = log["seconds"] / count
    # Between a poll and its clock the program may lose the CPU.
    variances = [(squares - total ** 2 / count) / (count - 1) for squares, total in (
        (log["asked_squares"], log["seconds"]), (log["squares"], log["asked"]))]
    what = f"hook set {hook_set}, {caller.service}"
    got = first_value(daemon, caller.service, "gauge-poll-average", *span)
    test.within(f"{what}: average, s", got, log["asked"] / count - SLACK, mean + 1e-6)
    got = first_value(daemon, caller.service, "gauge-poll-variance", *span)
    test.between(f"{what}: variance, s^2", got, variances, rel=0.1)


def make_series(daemons, callers):
    """Returns by hook set a moment after which there are no samples of that."""
    for caller in callers:
        caller.say(1, 2000, 2000, 0)
    for caller in callers:
        caller.hear()
    moment = time.time()
    return {hook_set: max(daemon.wait_rows(caller.service, "gauge-poll-samples", 2, moment)[1][0]
                      for caller in callers if counted(hook_set, caller))
            for hook_set, daemon in daemons.items()}


def check_calls(test, daemons, callers):
    before = make_series(daemons, callers)
    # Windows of moments leave out the interval in which load begins, so all is to be in one.
    with no_readings(daemons.values()):
        for caller in callers:
            caller.say(30, 2000, 42000, 0)
        logs = [caller.hear() for caller in callers]
        moment = time.time()
    for hook_set, daemon in daemons.items():
        for caller, log in zip(callers, logs):
            if counted(hook_set, caller):
                check_durations(test, hook_set, daemon, caller, log, (before[hook_set], moment))
    for caller in callers:
        caller.say(50, 10000000, 10000000, 5000)
    for caller in callers:
        caller.hear()
        caller.say(500, 0, 0, 0)
    for caller in callers:
        caller.hear()
    moment = time.time()
    for hook_set, daemon in daemons.items():
        for caller in callers:
            what = f"hook set {hook_set}, {caller.service}: polls"
            if counted(hook_set, caller):
                test.equal(what, polls(daemon, caller.service, moment), caller.polls)
            else:
                test.equal(what, daemon.rows(caller.service, "gauge-poll-samples"), [])


class Sharer:
    """Threads that poll for a known part of the time."""

    RECORD = struct.Struct("=QQ")

    def __init__(self, test, service, *how):
        self.service = service
        self.dir = test.mkdir(service)
        self.load = test.load("poll", "share", self.dir, *how, name=command(service))

    def read(self):
        self.waited = [self._read(os.path.join(self.dir, name)) for name in os.listdir(self.dir)]

    def _read(self, path):
        """With a record of now: they are of the begin and the end of a poll in turns."""
        with open(path, "rb") as log:
            now = time.time_ns()
            records = [record for record in self.RECORD.iter_unpack(log.read()) if record[0]]
        last, waited = records[-1]
        records.append((now, waited + (now - last if len(records) % 2 else 0)))
        return Curve([record[0] / 1e9 for record in records], [record[1] / 1e9 for record in records])

    def time(self, begin, end):
        """That a thread waited."""
        return sum(curve.at(end) - curve.at(begin) for curve in self.waited) / len(self.waited)

    def slack(self, begin, end):
        return 100 * self.time(begin, end) / (end - begin)


def slacks(daemon, service):
    """[(begin, end, percent)] of each two readings."""
    rows = daemon.rows(service, "percent-poll_idle")
    return [(before[0], row[0], row[1]) for before, row in zip(rows, rows[1:])]


def check_share(test, hook_set, daemon, sharer, late=0):
    """A reading may use a walk that was so many seconds before."""
    name = f"hook set {hook_set}, {sharer.service}"
    spans = [span for span in slacks(daemon, sharer.service) if all(curve.covers(span[0]) and curve.covers(span[1])
                                                                      for curve in sharer.waited)]
    if not test.true(f"{name}: {len(spans)} intervals are enough", len(spans) >= 3):
        return
    low, high = unaccounted(spans, sharer, late)
    account = test.figures if sharer.service == "busy" else test
    account.true(f"{name}: slack of all intervals accounts for what it has waited, s", low <= 0 <= high,
              f"{low:.3f} .. {high:.3f}")
    for begin, end, got in spans:
        test.figures.close(f"{name}: slack, %", got, sharer.slack(begin, end), slack=2 + 100 * late / INTERVAL)
    begin, end = spans[0][0], spans[-1][1]
    mean = sum((e - b) * got for b, e, got in spans) / (end - begin)
    test.figures.close(f"{name}: slack of all intervals, %", mean, sharer.slack(begin, end),
                       slack=0.5 + 100 * late / (end - begin))


def unaccounted(spans, sharer, late):
    """How much longer than it did each thread has waited by these shares, at least and at most. But for the first and
    the last reading, each was between its row and the next."""
    stamps = [first for first, _, _ in spans] + [spans[-1][1]]
    readings = [(before if late else moment - ROUNDING, after + ROUNDING)
                for before, moment, after in zip(stamps, stamps[1:], stamps[2:])]
    shares = [0, *(got / 100 for _, _, got in spans[1:-1]), 0]
    edges = [[(share - following) * (moment - stamps[0]) for moment in reading]
             for reading, share, following in zip(readings, shares, shares[1:])]
    first, last = readings[0], readings[-1]
    return (sum(map(min, edges)) - sharer.time(first[0], last[1]),
            sum(map(max, edges)) - sharer.time(first[1], last[0]))


def check_long(test, hook_set, daemon, began, ends, ended):
    """A poll over several readings waits at each of them, and counts once, at its end."""
    spans = slacks(daemon, "long")
    spans = [span for span, following in zip(spans, spans[1:]) if span[0] > began and following[1] < ends]
    test.true(f"hook set {hook_set}, long: {len(spans)} intervals lie within it", spans)
    for _, _, got in spans:
        test.close(f"hook set {hook_set}, long: slack, %", got, 100, slack=0.1)
    test.equal(f"hook set {hook_set}, long: polls at its begin", polls(daemon, "long", began), 1)
    test.equal(f"hook set {hook_set}, long: polls", polls(daemon, "long", ended), 2)


def check_end(test, hook_set, daemon, log, moment):
    """Threads killed in a poll: it has ended, and its time is known."""
    test.equal(f"hook set {hook_set}, end: polls", polls(daemon, "end", moment), log["polls"])
    # A reading may have come between their end and the moment that this was heard of.
    got = first_value(daemon, "end", "gauge-poll-average", 0, 0)
    test.true(f"hook set {hook_set}, end: average is not above {log['seconds']:.3f} s", 0 < got <= log["seconds"], got)
    test.figures.within(f"hook set {hook_set}, end: average, s", got, 0.9 * log["asked"], log["seconds"])


def start_sharers(test):
    sharers = [Sharer(test, "s20", 1, 4, 50000, 20, "sleep"), Sharer(test, "s50", 2, 2, 40000, 50, "sleep")]
    if test.measures:
        sharers += [Sharer(test, "s80", 1, 1, 100000, 80, "spin"),
                    # Waits for something else for longer than the walks are apart.
                    Sharer(test, "slow", 1, 2, 2000000, 20, "sleep"),
                    # Works for more than an interval without a poll.
                    Sharer(test, "busy", 1, 1, 10000000, 2, "spin")]
    return sharers


def main():
    with Test(limit=180) as test:
        without = start(test, 3, option=False)
        daemons = start_all(test)
        beside = start(test, max(daemons), others=BESIDE_PROCESS)
        check_without_option(test, without, daemons)
        test.equal("beside more walks: hook set", hook_set_of(beside), max(daemons))
        sharers = start_sharers(test)
        # One that polls once and then reads, which is no slack and no lack of it.
        once, long = Caller(test, "long", "ppoll"), Caller(test, "long", "epoll_pwait")
        once.say(1, 1000, 1000, 0)
        once.hear()
        ends = time.time() + LONG_S
        long.say(1, LONG_S * 1000000, 0, 0)
        long.wait_poll()
        began = time.time()
        end = test.load("poll", "end", 8, name=command("end"))
        end.say("1000000")
        killed, moment = end.result(), time.time()
        check_calls(test, daemons, [Caller(test, call, call) for call in CALLS])
        long.hear()
        ended = time.time()
        for daemon in (*daemons.values(), beside):
            polls(daemon, "long", ended)
        for sharer in sharers:
            sharer.read()
        for hook_set, daemon in daemons.items():
            for sharer in sharers:
                check_share(test, hook_set, daemon, sharer)
            check_long(test, hook_set, daemon, began, ends, ended)
            check_end(test, hook_set, daemon, killed, moment)
        for sharer in sharers:
            check_share(test, f"{max(daemons)} beside more walks", beside, sharer, late=WALKS)


if __name__ == "__main__":
    main()
