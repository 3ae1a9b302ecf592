#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each alert fires for its fault, for the service that has it, says what it must, and ends after the fault; no other one fires.

    test_alerts.py [--short] [ALERT...]     all, or these; --short: one alert within a minute, to see that it works

Real faults (tests/alerts/faults.py) of services that are well before, one after the other; all that can raise an alert
(alarms.py) at intervals of 10 s. How long it takes is a figure. Truth: what was broken, and when.
"""

import os
import sys
import time

import alarms
import rows
from receiver import lib

sys.path.append(os.path.join(alarms.TOP, "tests", "alerts"))
import past  # noqa: E402
from faults import FAULTS, Blind, SaturatedSoon, SlowerThanYesterday, UpstreamSlow, probe_blocks  # noqa: E402

WELL_S = 50         # before the first fault
SHORT = "EbpfOomKill"
LIMIT_S = 60        # from the fault to the alert, as wanted
PATIENCE_S = 150    # for which it is waited for
END_S = 330         # until an alert ends, once its fault has
PROBE = "lifecycle"     # that cannot be read when collectd starts again
HEAD = f"""\
<!-- SPDX-License-Identifier: MIT -->

# From fault to alert

`make measure PARTS=alerts` writes this page. Each alert's fault happens to a service that was well before;
`tests/alerts/inject ALERT` does the same by hand. The cells are the seconds from the fault until the receiver has the alert;
readings, scrapes and evaluations are {alarms.INTERVAL} s apart. InfluxDB and Graphite have no alerts: their queries are asked
every {alarms.EVERY_S} s, and the first that tells of the fault counts. A past that the test has written is there from the
start, from where its time counts.
"""


def series_of_the_past(names):
    """Slack that falls by 15 percent a day while requests grow, and responses within 20 ms a day ago."""
    day = past.DAY
    if SaturatedSoon.alert in names:
        word = SaturatedSoon.word
        yield past.shape(alarms.HOST, word, "percent-slack", 9 * day, 60, lambda ago: round(20 + 15 * ago / day, 3), 60)
        yield past.shape(alarms.HOST, word, "total_requests", 9 * day, 60, lambda ago: int(1e7 - 5 * ago + 1e-6 * ago ** 2), 60)
    if SlowerThanYesterday.alert in names:
        word = SlowerThanYesterday.word
        yield past.shape(alarms.HOST, word, "latency-response-percentile-99", day + 7200, 10, lambda ago: 0.02, day - 7200)


class Story:
    """What has happened to which service. subject: the name of its series, "" for the plugin itself."""

    def __init__(self, test, fault, subject):
        self.test, self.fault, self.subject = test, fault, subject
        self.alert, self.begin = fault.alert, 0.0
        self.title = self.alert + (f" ({fault.way})" if fault.way else "")

    def reason(self, receiver):
        """Why this receiver cannot raise this alert, or None."""
        return receiver.reason(alarms.BY_NAME[self.alert]) or self.fault.beyond.get(receiver.name)

    def alarms(self, watch):
        """{receiver: the first Alarm since the fault}"""
        found = {}
        for one in watch.alarms:
            if (one.alert, one.service) == (self.alert, self.subject) and one.begin >= self.begin:
                found.setdefault(one.receiver, one)
        return found

    def happen(self, watch):
        """From the fault to the alert, at which it is mended."""
        print(f"--- {time.strftime('%H:%M:%S')} {self.alert}: {' '.join(self.fault.__doc__.split())}", flush=True)
        self.begin = watch.begin if self.fault.is_past else time.time()
        self.fault.begin()
        wanted = [one.name for one in watch.receivers if not self.reason(one)]
        watch.until(lambda: set(wanted) <= set(self.alarms(watch)), PATIENCE_S)
        self.fault.end()
        self.check(watch, wanted)

    def check(self, watch, wanted):
        found = self.alarms(watch)
        for name in wanted:
            if self.test.true(f"{self.title}: {name} raises it", name in found):
                self.test.figures.within(f"{self.title}: {name}, seconds from the fault", found[name].begin - self.begin,
                                         0, LIMIT_S)
        if alarms.Alertmanager.name in found:
            self.check_text(found[alarms.Alertmanager.name].text)

    def check_text(self, text):
        parts = {"the service": self.subject or "plugin", "the page": "/d/ebpf-", "the cause": self.fault.cause}
        for what, part in parts.items():
            self.test.contains(f"{self.title}: its text names {what}", text, part)
        self.test.true(f"{self.title}: its text has a figure", any(letter.isdigit() for letter in text), text)

    def permits(self, alarm):
        """Is that alarm one of this fault?"""
        return (alarm.begin >= self.begin and alarm.service == self.subject and
                (alarm.alert == self.alert or alarm.alert in self.fault.true))


def services(test, names):
    """The faults, as they are begun; all services are well."""
    return {name: FAULTS[name](test.own("kt_" + FAULTS[name].word)) for name in names if name != Blind.alert}


def edits(faults):
    """{upstream of the sample: that of the fault}"""
    slow = faults.get(UpstreamSlow.alert)
    return {alarms.UPSTREAM: f"127.0.0.1:{slow.upstream_port}"} if slow else {}


def configuration(faults):
    blocks = "".join(fault.service_block(fault.word) for fault in faults)
    return blocks + probe_blocks(*faults) + f'<Probe "{PROBE}">\n  Enable true\n</Probe>\n'


def check_ends(test, watch, stories):
    """Growth remains as it is."""
    mended = {story.subject for story in stories} - {SaturatedSoon.word}

    def going_on():
        return sorted(one for one in watch.now if one[2] in mended)

    watch.until(lambda: not going_on(), END_S)
    test.equal("alerts that go on after their fault", going_on(), [])


class LostProbe(Blind):
    """When collectd starts again, the object of a probe is gone, as after an upgrade of half of it."""
    beyond, way = {}, "a probe is gone"

    def __init__(self, test, daemon):
        super().__init__("", daemon.process.pid)
        self.test, self.daemon = test, daemon
        self.path = os.path.join(daemon.objects, f"{PROBE}.bpf.o")

    def _start_with(self, path, new_path):
        self.test.stop(self.daemon)
        os.rename(path, new_path)
        self.daemon.start()

    def begin(self):
        self._start_with(self.path, self.path + ".away")

    def end(self):
        self._start_with(self.path + ".away", self.path)


def run_blind(test, daemon, watch):
    """[Story, ...] of a probe that is gone, and of a collectd that hangs."""
    stories = [Story(test, LostProbe(test, daemon), "")]
    stories[0].happen(watch)
    check_ends(test, watch, stories)
    stories.append(Story(test, Blind("", daemon.process.pid), ""))
    stories[1].happen(watch)
    check_ends(test, watch, stories)
    return stories


def check_others(test, watch, stories):
    """What runs beside the test is no service of its own."""
    own = {story.subject for story in stories}
    others = [one for one in watch.alarms if one.service in own and not any(story.permits(one) for story in stories)]
    test.equal("alarms of no fault", [one[:3] + one[4:] for one in others], [])


def run_faults(test, watch, faults):
    """[Story, ...]"""
    stories = []
    for fault in faults.values():
        stories.append(Story(test, fault, fault.word))
        stories[-1].happen(watch)
    return stories


def cell(story, one, found):
    """Seconds from the fault to this receiver's alarm, or the reason that there is none."""
    if one.name not in found:
        return story.reason(one) or "not raised"
    seconds = max(0, found[one.name].begin - story.begin)
    return f"{seconds:.0f}"


def write_page(watch, stories):
    """docs/measured/alerts.md"""
    with rows.page("alerts.md"):
        print(HEAD)
        names = [one.name for one in watch.receivers]
        print(f"| alert | fault | {' | '.join(names)} |\n|{' --- |' * (2 + len(names))}")
        for story in stories:
            found = story.alarms(watch)
            cells = [cell(story, one, found).replace("|", "/") for one in watch.receivers]
            print(f"| {story.title} | {' '.join(story.fault.__doc__.split())} | {' | '.join(cells)} |")
        for story in stories:
            for other, reason in story.fault.true.items():
                print(f"\n{story.alert} may come with {other}: {reason}.")


def main(words):
    is_short = "--short" in words
    names = [word for word in words if word in FAULTS] or ([SHORT] if is_short else list(FAULTS))
    with lib.Test(limit=3000) as test:
        alarms.need_all()
        faults = services(test, names)
        try:
            for fault in faults.values():
                fault.__enter__()
            daemon, watch = alarms.start(test, configuration(faults.values()), series_of_the_past(names), edits(faults))
            watch.until(lambda: is_short, WELL_S)
            stories = run_faults(test, watch, faults)
            if not is_short:
                check_ends(test, watch, stories)
            if Blind.alert in names:
                stories += run_blind(test, daemon, watch)
            check_others(test, watch, stories)
            if test.measures:
                write_page(watch, stories)
        finally:
            for fault in faults.values():
                fault.__exit__()


if __name__ == "__main__":
    main(sys.argv[1:])
