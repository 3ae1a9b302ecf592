# SPDX-License-Identifier: MIT
"""What is wanted of the request probe's cost, and what it is."""

import rows
from markdown import added, percent
from requests import COST, LOADS, interval

OTHERS = {"floor": "empty programs", "reads": "reads of first bytes", "listing": "Listing 1", "bpftrace": "bpftrace"}
OPTIONS = {"response": "classes of responses", "clients": "Option clients"}
FLOOR_TIMES = 1.5
FLOOR_TIMES_HTTP2 = 1.6
PARTS = {"listing": 5, "bpftrace": 7}
OPTION_NS = {"response": 60, "clients": 150}
BEFORE_NS = 150
UNWATCHED_NS = 30
UNWATCHED_PART = 0.02
P99_PART = 0.1
HTTP2 = "nghttpd"  # the frames of HTTP/2 are looked at, which none of the others does


def ns(value):
    return f"{added(value)} ns"


def at_most(what, value, limit_ns):
    rows.add(what, ns(value), f"at most {limit_ns:,.0f} ns", value.at_most(limit_ns))


def add_all(found):
    samples = found.loads["together"]
    name = f"{found.name}, one CPU"
    rows.add(f"{name}: CPU time per exchange with nothing", f"{interval(samples.without('both_ns'))} ns")
    add_figures(name, samples, found.setups)
    if found.name == HTTP2:
        add_http2(found)
    else:
        add_comparisons(name, samples)
    for option, text in OPTIONS.items():
        add_difference(name, samples, (option, text), ("probe", "this probe"), OPTION_NS[option])
    rows.add(f"{found.name}: message between unwatched sockets, added", ns(samples.added("probe", "message")))
    if found.name != HTTP2:
        add_classes(name, samples)
        add_unwatched(found.name, samples)
    if "before" in found.setups:
        add_difference(name, samples, ("probe", "this probe"), ("before", "the probe before"), BEFORE_NS)
        add_unwatched_before(found.name, samples)
    if found.name != HTTP2:
        add_p99(found)


def add_figures(name, samples, setups):
    texts = {"before": "the probe before", "probe": "this probe", **OPTIONS, **OTHERS}
    for setup in setups:
        rows.add(f"{name}: {texts[setup]}, added", ns(samples.added(setup, "both_ns")))
    rows.add(f"{name}: exchanges per second with this probe", percent(samples.ratio("probe", "throughput")))
    for setup in setups:
        if setup != "floor":
            what = "time in its programs" if setup == "probe" else f"{texts[setup]}, time in its programs"
            rows.add(f"{name}: {what}", f"{interval(samples.added(setup, 'programs_ns'))} ns")


def add_comparisons(name, samples):
    for other, part in PARTS.items():
        value = samples.quotient("probe", other, "programs_ns")
        rows.add(f"{name}: time in its programs, of {OTHERS[other]}'s", interval(value, 3),
                 f"at most 1/{part} ({1 / part:.3f})", value.at_most(1 / part))
    add_floor(name, samples, FLOOR_TIMES)
    for other, part in PARTS.items():
        at_most(f"{name}: added, beyond 1/{part} of {OTHERS[other]}", samples.excess("probe", 1 / part, other, "both_ns"), 0)


def add_floor(name, samples, times):
    at_most(f"{name}: added, beyond {times} times empty programs", samples.excess("probe", times, "floor", "both_ns"), 0)


def add_http2(found):
    """At most what Listing 1 adds, which sees no frames."""
    add_floor(f"{found.name}, one CPU", found.loads["together"], FLOOR_TIMES_HTTP2)
    for load, text in LOADS.items():
        value = found.loads[load].excess("probe", 1, "listing", COST[load])
        at_most(f"{found.name}, {text.removeprefix('full, ')}: added, beyond Listing 1", value, 0)
    value = found.loads["together"].quotient("probe", "listing", "programs_ns")
    rows.add(f"{found.name}, one CPU: time in its programs, of Listing 1's", interval(value, 3), "at most 1", value.at_most(1))


def add_difference(name, samples, one, other, limit_ns):
    """What one adds beyond the other."""
    what = f"{name}: {one[1]}, beyond {other[1]}"
    at_most(f"{what}, added", samples.excess(one[0], 1, other[0], "both_ns"), limit_ns)
    at_most(f"{what}, time in its programs", samples.excess(one[0], 1, other[0], "programs_ns"), limit_ns)


def add_classes(name, samples):
    """Beyond the reads that no way around them is known for."""
    value = samples.beyond(("response", "probe", "reads"), "programs_ns")
    at_most(f"{name}: classes of responses, beyond this probe and the reads of first bytes, time in its programs", value,
            OPTION_NS["response"])


def add_unwatched(name, samples):
    """Sockets of no service."""
    at_most(f"{name}: message between unwatched sockets, beyond empty programs", samples.excess("probe", 1, "floor", "message"),
            UNWATCHED_NS)


def add_unwatched_before(name, samples):
    """The same, where this part of a message would have shown."""
    at_most(f"{name}: message between unwatched sockets, beyond the probe before",
            samples.excess("probe", 1, "before", "message"), UNWATCHED_PART * samples.without("message").median)


def add_p99(found):
    """The same, where a tenth would have shown."""
    limit = P99_PART * found.tails.without("p99").median
    value = found.tails.added("probe", "p99")
    rows.add(f"{found.name}, {LOADS['usual']}: 99th percentile, added", f"{added(value, 1e6)} us",
             f"at most {1e6 * limit:,.0f} us, a tenth", value.at_most(limit))
