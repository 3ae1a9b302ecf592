# SPDX-License-Identifier: MIT
"""The page on the cost of the request probe, in Markdown."""

import crossover
import report
from markdown import added, percent, table
from server import CONNECTIONS, STREAMS
from statistic import Estimate

OF_SETUP = {"before": ", before", "response": ", with classes of responses", "clients": ", with Option clients"}
NAMES = {
    "before": "the probe before, in collectd",
    "probe": "this probe, in collectd",
    "response": "this probe, with classes of responses",
    "clients": "this probe, with Option clients",
    "floor": "empty programs on its hooks",
    "reads": "only the reads of a response's first bytes",
    "listing": "the paper's Listing 1",
    "bpftrace": "the same in bpftrace",
}
LOADS = {"half": "50 %", "usual": "70 %", "full": "full", "together": "full, one CPU"}
COST = {"half": "server_ns", "usual": "server_ns", "full": "server_ns", "together": "both_ns"}

HEAD = """\
<!-- SPDX-License-Identifier: MIT -->

# Costs of the probe request

`make measure PARTS=requests` writes this page, as root. A server with one working thread has one CPU; its client with
{connections} connections has another. They are connected over loopback. A connection has one request at a time; with nghttpd, by
HTTP/2, it has {streams}.

On loopback the arrival of a request is part of the client's CPU time, and the client's sockets meet the same hooks. So the
comparison is at full load, with server and client on one CPU, and counts the CPU time of both. The server is measured with
nothing, and with

{before}- this probe, in collectd, with a `Service` block for the server only (no reading falls into a measurement);
- the same with `Response` lines for the errors of the server;
- this probe with `Option "clients"`, which counts its requests as a client, too;
- empty programs on the same hooks: the least cost of seeing each call on a socket;
- a program that reads the server's memory as often as the first bytes of a response are needed: the least cost of classes;
- the method of Listing 1 of the paper, for all that it measures: a hash map, on the tracepoints of all system calls
  (`tests/measure/cost/bpf/listing.bpf.c`);
- the same in bpftrace (`tests/measure/cost/bpf/listing.bt`).

All of them have their turn in each round, in an order that changes. On one CPU, each turn is between two with nothing, and
"added" is the difference to the mean of these. At other loads, it is the difference to nothing in the same round. CPU time per
exchange is that of all threads (user, system and interrupts, by `/proc/PID/task/*/schedstat`): on one CPU in the best of {spans}
spans of {span_s:.2f} s, at other loads in the best of {other_spans} spans of {load_span_s:.2f} s. Time in programs comes from the
kernel's run statistics, without what these take of each run themselves, which the empty programs show.
"""
BEFORE = """\
- the probe before: the plugin and the objects of another version (`BEFORE=DIRECTORY`, its build tree), configured alike;
"""


def each(found, without, cell):
    """A row per variant, and of nothing; cells: of the samples of a load."""
    yield "nothing", [without(load, found.loads[load]) for load in LOADS]
    for name in found.setups:
        yield NAMES[name], [cell(name, load, found.loads[load]) for load in LOADS]


def costs(found):
    table("CPU time per exchange, nanoseconds: with nothing, and added to that", LOADS.values(),
          each(found, lambda load, samples: f"{samples.without(COST[load]).median:,.0f}",
               lambda name, load, samples: added(samples.added(name, COST[load]))))
    table("Exchanges per second", LOADS.values(),
          each(found, lambda load, samples: f"{samples.without('throughput').median:,.0f}",
               lambda name, load, samples: percent(samples.ratio(name, "throughput"))))
    table("99th percentile of response times as the client sees them, microseconds: with nothing, and added to that",
          LOADS.values(),
          each(found, lambda load, samples: f"{1e6 * samples.without('p99').median:,.0f}",
               lambda name, load, samples: added(samples.added(name, "p99"), 1e6)))


def nobodys(found):
    """What others pay."""
    samples = found.loads["together"]
    rows = [("nothing", [f"{samples.without(kind).median:,.0f}" for kind in crossover.EVENTS])]
    rows += [(NAMES[name], [added(samples.added(name, kind)) for kind in crossover.EVENTS]) for name in found.setups]
    table("A process of no service, nanoseconds of CPU time: with nothing, and added to that",
          ["message over TCP, sent and received", "system call (getppid)"], rows)


def programs(found):
    samples = found.loads["together"]
    table("Time in programs per exchange, nanoseconds, server and client on one CPU", ["time in programs"],
          [(NAMES[name], [interval(samples.added(name, "programs_ns"))]) for name in found.setups if name != "floor"])
    rows = [(f"`{program}`" + OF_SETUP.get(name, ""), [f"{ns:,.0f}", f"{runs:.1f}"])
            for (name, program), (ns, runs) in found.crossover.programs().items()]
    table("Programs, on one CPU; the run statistics themselves take of each run "
          f"{interval(Estimate(found.crossover.own))} ns, which these figures contain", ["ns per run", "runs per exchange"], rows)


def interval(value, digits=0):
    return f"{value.median:,.{digits}f} [{value.low:,.{digits}f}, {value.high:,.{digits}f}]"


def server(found):
    print(f"\n## {found.name}\n\n{found.size.rounds} rounds on one CPU, {found.size.load_rounds} at other loads.")
    costs(found)
    nobodys(found)
    programs(found)


def document(site, all_found):
    size = all_found[0].size
    print(HEAD.format(connections=CONNECTIONS, streams=STREAMS, spans=size.spans, span_s=size.span_s,
                      other_spans=size.load_spans, load_span_s=size.load_span_s, before=BEFORE if site.before else ""))
    report.machine(site)
    for found in all_found:
        server(found)
