#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run-queue wait, context switches and page faults.

Truth: /proc/PID/task/*/schedstat around the rows' time stamps; /proc/PID/{status,stat} of an idle process, plus
wait4 of its children.
"""

import os
import time

import truth
from lib import SLOWNESS, Test, without

INTERVAL = 0.2 if SLOWNESS < 2 else 1
CONF = without("delay", "disk", "request") + """
  <Service "wait">
    Process "kt_wait"
  </Service>
  <Service "sched">
    Process "kt_sched"
  </Service>
"""

COUNTS = {"nvcsw": "contextswitch-voluntary", "nivcsw": "contextswitch-involuntary",
          "minflt": "ps_pagefaults", "majflt": "ps_pagefaults"}
SPINNERS, SPIN_S = 4, 13
ROUNDS_NS = SPINNERS * 6e6 * SLOWNESS  # of CPU time, in which each has had it


def all_served(used, moment):
    """When each of those that waited at this moment has had the CPU, however long it was taken away from them all."""
    enough = used.bounds(moment)[1] + ROUNDS_NS
    return next((time for time, value in zip(used.times, used.values) if time >= moment and value >= enough), None)


def waiting(test, daemon):
    """Four threads on one CPU: three of them wait at any time."""
    seconds = SPIN_S if test.measures else 2
    load = test.load("spin", test.mkdir("log"), SPINNERS, seconds, 0, truth.CPUS - 1, name="kt_wait")
    time.sleep(0.5)
    sampler = truth.Sampler(lambda: truth.schedstat(load.pid), every=0.002)
    time.sleep(seconds - 1)
    sampler.stop()
    load.process.wait()
    # A service that is gone has no more rows.
    daemon.wait_rows("self", "duration-read_process", 2, time.time())
    most = max(row[1] for row in daemon.rows("wait", "delay_rate-delay-cpu"))
    test.true("threads that wait, most", most > 0, most)
    if test.measures:
        waiting_s(test, daemon, sampler)


def waiting_s(test, daemon, sampler):
    """All of it between two readings."""
    used, curve = (sampler.curve(lambda value, i=i: value[i]) for i in (0, 1))
    rows = daemon.rows("wait", "delay_rate-delay-cpu")
    fit = [i for i, row in enumerate(rows) if not daemon.at_cycle(row[0]) and curve.covers(row[0])
           and all_served(used, row[0])]
    rows = rows[fit[0]:fit[-1] + 1]
    first, last = rows[0][0], rows[-1][0]
    got = sum(b[1] * (b[0] - a[0]) for a, b in zip(rows, rows[1:]))
    # The kernel adds a wait when it ends: what goes on at a reading is in its count when all have had their turn.
    least = curve.bounds(last)[0] - curve.bounds(all_served(used, first))[1]
    most = curve.bounds(all_served(used, last))[1] - curve.bounds(first)[0]
    test.figures.between("run-queue wait, s", got, (least / 1e9, most / 1e9), rel=0.002)


def own_counts(pid):
    status = dict(line.split(":", 1) for line in truth.proc(pid, "status").splitlines())
    fields = truth.stat(pid)
    return {"nvcsw": int(status["voluntary_ctxt_switches"]), "nivcsw": int(status["nonvoluntary_ctxt_switches"]),
            "minflt": int(fields[10]), "majflt": int(fields[12])}


def reading(daemon, moment):
    rows = {metric: daemon.row_after("sched", metric, moment) for metric in set(COUNTS.values())}
    return {"nvcsw": rows["contextswitch-voluntary"][1], "nivcsw": rows["contextswitch-involuntary"][1],
            "minflt": rows["ps_pagefaults"][1], "majflt": rows["ps_pagefaults"][2]}


def counted(test, daemon, load, word, least=None):
    """One request, from a reading before it to one after it; the process is idle at both."""
    before = reading(daemon, time.time())
    own = own_counts(load.pid)
    charged = json_reply(load, word)
    while truth.stat(load.pid)[3] != "S":
        time.sleep(0.01)
    after = reading(daemon, time.time() + 0.1)
    own_after = own_counts(load.pid)
    for key, metric in COUNTS.items():
        want = own_after[key] - own[key] + charged[key]
        # The last switch of a process comes after it was reaped.
        slack = charged["ended"] if key == "nvcsw" else 0
        test.close(f"{word.split('/')[0]}: {metric} {key}", after[key] - before[key], want, slack=slack)
        if least and key == least[0]:
            test.within(f"{word.split('/')[0]}: {key} as asked for", want, least[1], float("inf"))


def json_reply(load, word):
    load.say(word)
    return load.result()


def main():
    with Test(limit=80) as test:
        daemon = test.collectd(CONF, interval=INTERVAL, collect=("process",))
        daemon.wait_rows("self", "duration-read_process", 1)
        waiting(test, daemon)
        load = test.load("sched", name="kt_sched")
        daemon.wait_rows("sched", "ps_pagefaults", 2)
        path = os.path.join(test.disk, "file")
        with open(path, "wb") as file:
            file.write(os.urandom(4096 * 300))
            os.fsync(file.fileno())
        # A sleep may end before the switch that it asked for.
        counted(test, daemon, load, "sleep 5000", ("nvcsw", 4900))
        counted(test, daemon, load, "contend 4 300 0", ("nivcsw", 4))
        counted(test, daemon, load, "touch 20000", ("minflt", 20000))
        counted(test, daemon, load, f"load 300 {path}", ("majflt", 300))


if __name__ == "__main__":
    main()
