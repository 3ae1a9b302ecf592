# SPDX-License-Identifier: MIT
"""The document on the cost of the request probe, in Markdown, and what is wanted of it."""

import report
from markdown import added, percent, table, verdict
from statistic import ROUNDS_SURE

OF_SETUP = {"before": ", before", "response": ", with classes of responses"}  # behind a program's name
NAMES = {
    "nothing": "nothing",
    "before": "the probe before, in collectd",
    "probe": "this probe, in collectd",
    "response": "this probe, with classes of responses",
    "floor": "empty programs on its hooks",
    "listing": "the paper's Listing 1",
    "bpftrace": "the same in bpftrace",
}
LOADS = {"half": "50 %", "usual": "70 %", "full": "full", "together": "full, one CPU"}
COST = {"half": "server_ns", "usual": "server_ns", "full": "server_ns", "together": "both_ns"}

FLOOR_TIMES = 2
LISTING_TIMES = 5
BPFTRACE_TIMES = 7
BEFORE_NS = 150
UNWATCHED_PART = 0.02
P99_PART = 0.1
UNBOUNDED = ("nghttpd",)  # the frames of HTTP/2 are looked at, which none of the others does

HEAD = """\
# What the request probe costs

`make -s bench-requests` measures it, as root, and prints this page; `BENCH_FLAGS="--rounds=4 redis"` for fewer rounds
(10) and of one server. A server with one thread that works is on one CPU, its client with {connections} connections on
another, over loopback; on a connection is one request at a time, with nghttpd, by HTTP/2, {streams}. In turns, in an order
that changes with each round, the server is measured with

- nothing;
{before}- this probe, in collectd, with a `Service` block for the server and for nobody else (no reading falls into a
  measurement);
- the same with `Response` lines in that block, for the errors of the server;
- empty programs on the same hooks, which is the least that seeing each call on a socket costs;
- the method of Listing 1 of the paper for all that it measures: a hash map, on the tracepoints of all system calls
  (`tests/measure/cost/bpf/listing.bpf.c`);
- the same in bpftrace (`tests/measure/cost/bpf/listing.bt`).

CPU time per exchange is that of all threads of the server (user, system and what interrupts them, by
`/proc/PID/task/*/schedstat`). On loopback the arrival of a request is the client's CPU time, and the client's sockets
meet the hooks as well; so at full load there is a second figure, server and client together on one CPU and the CPU time
of both. Of {spans} spans of {span:.2f} s that one counts whose server was disturbed least. "Added" is the difference to
nothing in the same round; figures are medians of the rounds, in brackets what holds the true median with 95 %
confidence, of fewer than six rounds all from least to most. Other work on the machine shows in them: it should have
none.
"""


BEFORE = """\
- the probe before: the plugin and the objects of another version (`--before=DIR`, its build tree), configured alike;
"""


def each(rounds, cell_of_nothing, cell):
    """A row per variant; cell: what is in it, of variant and load."""
    for name in rounds.setups:
        yield NAMES[name], [(cell_of_nothing if name == "nothing" else cell)(rounds, name, load) for load in LOADS]


def costs(rounds):
    table("CPU time per exchange, nanoseconds; with nothing, and what is added", LOADS.values(),
          each(rounds, lambda r, name, load: f"{r.figure(name, load, COST[load]).median:,.0f}",
               lambda r, name, load: added(r.added(name, load, COST[load]))))
    table("Exchanges per second", LOADS.values(),
          each(rounds, lambda r, name, load: f"{r.figure(name, load, 'throughput').median:,.0f}",
               lambda r, name, load: percent(r.ratio(name, load, "throughput"))))
    table("99th percentile of response times as the client sees them, microseconds; with nothing, and what is added",
          LOADS.values(),
          each(rounds, lambda r, name, load: f"{1e6 * r.figure(name, load, 'p99').median:,.0f}",
               lambda r, name, load: added(r.added(name, load, "p99"), 1e6)))


def above_before(rounds, load):
    """What this probe adds, less what the one before does; by load, or by what a process of no service does."""
    return rounds.excess("probe", 1, "before", load, COST.get(load, "ns"))


def against_before(rounds):
    table("This probe less the one before, nanoseconds of CPU time", [*LOADS.values(), "message of no service"],
          [("", [added(above_before(rounds, load)) for load in (*LOADS, "message")])])


def nobodys(rounds):
    """What others pay."""
    def rows():
        for name in rounds.setups:
            yield NAMES[name], [f"{rounds.figure(name, kind, 'ns').median:,.0f}" if name == "nothing"
                                else added(rounds.added(name, kind, "ns")) for kind in ("message", "syscall")]

    table("A process of no service, nanoseconds of CPU time; with nothing, and what is added",
          ["message over TCP, sent and received", "system call (getppid)"], rows())


def programs(rounds):
    rows = [(f"`{program}`" + OF_SETUP.get(name, ""), [f"{ns:,.0f}", f"{runs:.1f}"])
            for (name, program), (ns, runs) in sorted(rounds.runs.items())]
    table("Programs, server and client on one CPU, by the kernel's run statistics, whose own cost is in all: an empty "
          "program has little else",
          ["ns per run", "runs per exchange"], rows)


def server(rounds):
    print(f"\n## {rounds.name}, {rounds.count} rounds")
    costs(rounds)
    nobodys(rounds)
    if "before" in rounds.setups:
        against_before(rounds)
    programs(rounds)


def check_cost(rounds, load, times, other):
    """Does the probe add at most so many times what the other does? Sure by the differences within each round."""
    probe, limit, floor = (rounds.added(name, load, COST[load]) for name in ("probe", other, "floor"))
    excess = rounds.excess("probe", times, other, load, COST[load])
    text = (f"{rounds.name}, {LOADS[load]}: at most {times:.2g} times {NAMES[other]}: {probe.median:+,.0f} to "
            f"{times * limit.median:,.0f} ns, difference {added(excess)}")
    if floor.median > times * limit.median:
        text += f"; empty programs alone add {added(floor)}"
    enough = excess.count >= ROUNDS_SURE
    return verdict(text, enough and excess.high <= 0, enough and excess.low > 0)


def check_costs(rounds, load):
    good = check_cost(rounds, load, FLOOR_TIMES, "floor")
    good &= check_cost(rounds, load, 1 / LISTING_TIMES, "listing")
    return check_cost(rounds, load, 1 / BPFTRACE_TIMES, "bpftrace") and good


def check_above_before(rounds, load, what, limit_ns):
    """Sure by the differences within each round."""
    excess = above_before(rounds, load)
    enough = excess.count >= ROUNDS_SURE
    return verdict(f"{rounds.name}, {what}: {added(excess)} ns", enough and excess.high <= limit_ns,
                   enough and excess.low > limit_ns)


def check_before(rounds):
    message = rounds.figure("before", "message", "ns").median
    good = check_above_before(rounds, "together", f"{LOADS['together']}: at most {BEFORE_NS} ns above the probe before",
                              BEFORE_NS)
    return check_above_before(rounds, "message", "a message of no service: no dearer than with the probe before, of "
                              f"{message:,.0f} ns, where {UNWATCHED_PART:.0%} would have shown",
                              UNWATCHED_PART * message) and good


def check_p99(rounds):
    """No change, where one of a tenth would have shown."""
    was, change, floor = rounds.tail_of_nothing().median, rounds.tail("probe"), rounds.tail("floor")
    enough = change.count >= ROUNDS_SURE
    return verdict(f"{rounds.name}, {LOADS['usual']}: no change of the 99th percentile, {1e6 * was:,.0f} us, in "
                   f"{change.count} rounds: {added(change, 1e6)}; of empty programs {added(floor, 1e6)}",
                   enough and max(-change.low, change.high) <= P99_PART * was, enough and change.low > 0)


def wanted(all_rounds):
    print("\n## Wanted\n\nNothing of nghttpd. Undecided is where the true median may lie on either side.\n")
    good = True
    for rounds in [rounds for rounds in all_rounds if rounds.name not in UNBOUNDED]:
        for load in ("full", "together"):
            good &= check_costs(rounds, load)
        if "before" in rounds.setups:
            good &= check_before(rounds)
        good &= check_p99(rounds)
    return good


def document(site, all_rounds, connections, streams, spans, span_s):
    print(HEAD.format(connections=connections, streams=streams, spans=spans, span=span_s,
                      before=BEFORE if site.before else ""))
    report.machine(site)
    for rounds in all_rounds:
        server(rounds)
    return wanted(all_rounds)
