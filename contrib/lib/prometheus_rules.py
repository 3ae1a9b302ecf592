# SPDX-License-Identifier: MIT
"""Recording rules of Prometheus. Relabelling converts no values, so counters of microseconds and milliseconds have names without
a unit, ..._time_total. For each of them a rule records ..._seconds_total."""

import relabel
from series import PROBES

DIVISORS = {"microseconds": "1e6", "milliseconds": "1e3"}
SUBJECTS = {"service": "web", "process": "web-1-1000", "device": "sda"}     # an example of each kind of row
HEAD = """# SPDX-License-Identifier: MIT
# Written by ebpf-dashboards, for rule_files in prometheus.yml.
groups:
  - name: ebpf-seconds
    interval: 10s
    rules:
"""


def recorded():
    """{name of a counter: (name of the recorded one, divisor)}"""
    found = {}
    for _, probe, many in PROBES:
        for file, _, counted, word, sources, rows in many:
            if counted and word in DIVISORS:
                for source, subject in ((source, SUBJECTS.get(row, probe)) for source, _ in sources for row in rows):
                    name = relabel.metric(file, source, subject).name
                    found[name] = (name.replace("_time_total", "_seconds_total"), DIVISORS[word])
    return found


def files():
    """{path below the directory of dashboards: text}"""
    return {"prometheus/rules.yml": yaml()}


def yaml():
    """The file of rules."""
    return HEAD + "".join(f"      - record: {name}\n        expr: {counter} / {divisor}\n"
                          for counter, (name, divisor) in recorded().items())
