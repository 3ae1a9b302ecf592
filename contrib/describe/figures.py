# SPDX-License-Identifier: MIT
"""What documents say of costs and accuracy, from docs/measured.md, which `make measure` writes.

README, READINGS, MACHINE, EXCHANGE and TOOLS are the only lists of costs in documents, RATIOS and COUNTS those of accuracy. A
figure that the page lacks is "not measured", with a warning: a part of `make measure` may have renamed its figures.
"""

import math
import os
import re
import statistics
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.append(os.path.join(HERE, "..", "..", "tests", "measure"))

import measured  # noqa: E402

MEASURED = "measured: median [95 % interval]"
MEMCACHED, HTTP2 = "memcached, one CPU", "nghttpd, one CPU"
README = (      # (what it is, the text of its figures, ((part, what docs/measured.md calls it), ...))
    ("A reading with 10,000 processes, CPU time", "{}", (("daemon", "reading, 10,000 processes: with the probe delay"),)),
    ("Start of collectd, CPU time", "{}", (("daemon", "start, CPU: added"),)),
    ("Memory with 10,000 processes: of collectd (VmRSS); of BPF maps in the kernel", "{}; {}",
     (("daemon", "memory of collectd, VmRSS with 10,000 processes: added"), ("daemon", "memory of the kernel, maps"))),
    ("A request of memcached: CPU time of server and client; requests per second at full load", "{}; {}",
     (("requests", f"{MEMCACHED}: this probe, added"), ("requests", f"{MEMCACHED}: exchanges per second with this probe"))),
    ("A request by HTTP/2 (nghttpd): the same", "{}; {}",
     (("requests", f"{HTTP2}: this probe, added"), ("requests", f"{HTTP2}: exchanges per second with this probe"))),
    ("A TCP message between unwatched processes; a system call: CPU time", "{}; {}",
     (("requests", "memcached: message between unwatched sockets, added"), ("daemon", "system call (getppid): added"))),
)
SIZES = "100", "1,000", "10,000"
READINGS = (    # (title, what the part "daemon" calls it)
    ("All probes that are on by default, with the samples of `delay`", "with the probe delay"),
    ("The same without `delay`", "without the probe delay"),
    ("Times cheaper than collectd's plugin processes, without `delay`", "times cheaper than processes"),
    ("The same, plugin processes with `ProcessMatch`", "times cheaper than processes with ProcessMatch"),
)
MACHINE = (
    ("Samples of `delay`, 21,000 threads: part of one CPU", "sampling, 21,000 threads: part of one CPU"),
    ("Start of collectd: CPU time", "start, CPU: added"),
    ("Start of collectd: elapsed time", "start, by the clock: added"),
    ("Memory of collectd after the start (VmRSS)", "memory of collectd, VmRSS after the start: added"),
    ("Memory of collectd with 10,000 processes (VmRSS)", "memory of collectd, VmRSS with 10,000 processes: added"),
    ("Memory of BPF maps in the kernel", "memory of the kernel, maps"),
    ("Memory of the kernel with 10,000 processes, maps included",
     "memory of the kernel, all its objects with 10,000 processes: added"),
    ("Start and exit of a process (fork + exit): CPU time", "fork + exit: added"),
    ("The same with exec: CPU time", "fork + exec + exit: added"),
    ("A context switch: CPU time", "context switch: added"),
    ("A system call (getppid): CPU time", "system call (getppid): added"),
)
SERVERS = ("memcached", "memcached"), ("redis", "redis"), ("nghttpd", "HTTP/2 (nghttpd)")
EXCHANGE = (
    ("CPU time without the plugin", "{}, one CPU: CPU time per exchange with nothing"),
    ("Added by the probe `request`", "{}, one CPU: this probe, added"),
    ("Requests per second at full load", "{}, one CPU: exchanges per second with this probe"),
    ("Added with `Response` lines", "{}, one CPU: classes of responses, added"),
    ("Added with `Option \"clients\"`", "{}, one CPU: Option clients, added"),
    ("Added by empty programs on the same hooks", "{}, one CPU: empty programs, added"),
    ("Added to a TCP message between unwatched processes", "{}: message between unwatched sockets, added"),
)
KERNEL = re.compile(r"(Linux [\d.]+), (\w+): an exchange with nothing$")
INSTRUCTIONS = (
    ("Without the plugin", "an exchange with nothing"),
    ("Added by the probe `request`", "this probe, added"),
    ("In the probe's programs", "this probe, in programs"),
    ("Added by empty programs on the same hooks", "empty programs, added"),
)
TOOLS = {       # of which event a tool sees; the rows of other probes say so themselves
    "softirqs": "a software interrupt", "syscount": "a system call", "runqlat": "a wait for a CPU", "cpudist": "a time on a CPU",
    "execsnoop": "an exec", "exitsnoop": "an exit", "opensnoop": "an open", "tcplife": "a TCP connection",
    "biolatency": "a read from the disk", "biosnoop.bt": "a read from the disk, by service", "hardirqs": "an interrupt",
    "cachestat.bt": "a read that the page cache lacks", "tcpconnect": "a connect", "tcpconnlat": "a connect, with its time",
}
RECEIVERS = ("daemon", r"InfluxDB: .* day$")
RATIOS = (      # (what it is and of how many, part, which of its errors, arrivals of requests if the row has several)
    ("Median response time, {} servers", "servers", r".*: p50 of responses$", ""),
    ("99th percentile of response times, {} servers", "servers", r".*: p99 of responses$", ""),
    ("Median response time at up to 55 % of the load, random arrivals, {} services", "evidence",
     r".*: response p50 .* error$", "poisson"),
    ("The same, 16 requests at once, {} services", "evidence", r".*: response p50 .* error$", "bursty"),
    ("Capacity predicted at 40 % of the load, random arrivals, {} services", "evidence", r".*: capacity .* error$", "poisson"),
    ("The same, 16 requests at once, {} services", "evidence", r".*: capacity .* error$", "bursty"),
)
COUNTS = (      # (what is counted, part, which of its verdicts)
    ("Servers of which every request is counted", "servers", r".*: counted$"),
    ("Services whose slack falls below 10 % at most one level of load from where the client sees saturation (levels apart)",
     "evidence", r".*: slack below .* knee$"),
    ("Services with polling threads whose `percent-poll_idle` does", "evidence", r".*: poll idle below .* knee$"),
)


class Page:
    """docs/measured.md"""

    def __init__(self, path):
        self.path, self.rows = path, measured.rows(path)
        self.verdicts = measured.rows(path, "verdict")
        self.wanted = measured.rows(path, "wanted")
        self.where = measured.rows(path, "commit, date, machine")

    def warn(self, text):
        print(f"warning: {self.path}: {text}", file=sys.stderr)

    def got(self, part, what):
        if (part, what) not in self.rows:
            self.warn(f"part {part} has no \"{what}\"")
        return self.rows.get((part, what), "not measured")

    def machine(self, part):
        """On which its first figure was measured."""
        of_part = (where for (its_part, _), where in self.where.items() if its_part == part)
        return next(of_part, "?, ?, an unknown machine").split(", ", 2)[2]

    def of_part(self, part, which):
        """[(what, got)] of those of its figures that match."""
        found = [(what, got) for (its_part, what), got in self.rows.items() if its_part == part and re.match(which, what)]
        if not found:
            self.warn(f"part {part} has nothing like \"{which}\"")
        return found

    def ratios(self, part, which, arrivals):
        """{name: the plugin's figure divided by what it is compared with}, of the rows that match."""
        errors = {what.partition(": ")[0]: re.search(rf"{arrivals} ([+-][\d.]+) %", got) for what, got in self.of_part(part, which)}
        return {name: 1 + float(error[1]) / 100 for name, error in errors.items() if error}

    def count(self, part, which):
        """How many of the rows that match are as wanted; and those that are not, with what was measured."""
        found = {verdict: {} for verdict in ("met", "missed", "-")}     # {figure: [name, ...]} of each
        for what, got in self.of_part(part, which):
            found[self.verdicts[part, what]].setdefault(got, []).append(what.partition(": ")[0])
        good, missed, unknown = (sum(by_figure.values(), []) for by_figure in found.values())
        texts = [f"{', '.join(names)}: {got}" for got, names in found["missed"].items()]
        if unknown:
            texts.append(f"no result: {', '.join(unknown)}")
        return (f"{len(good)} of {len(good + missed)}" if good or missed else "not measured"), "; ".join(texts) or "none"


def table(rows, heads=("what", MEASURED)):
    if not rows:
        return "Not measured.\n"
    return "".join(f"| {' | '.join(row)} |\n" for row in [heads, ["---"] * len(heads), *rows])


def configurations(page):
    """Of the figures of costs."""
    return (f"Readings, start and memory are measured with {page.got('daemon', 'configuration')}; requests with\n"
            f"{page.got('requests', 'configuration')}.\n")


def readme(page):
    return table([(title, text.format(*(page.got(part, what) for part, what in rows))) for title, text, rows in README],
                 ("cost", MEASURED)) + "\n" + configurations(page)


def distribution(title, ratios):
    """A row of the table."""
    title = title.format(len(ratios))
    if len(ratios) < 2:
        return title, *["not measured"] * 5
    tenths = statistics.quantiles(ratios.values(), n=10, method="inclusive")
    least, *_, most = sorted(ratios, key=ratios.get)
    return (title, *(f"{ratio:.2f}" for ratio in (tenths[4], tenths[0], tenths[8])),
            *(f"{ratios[name]:.2f}, {name}" for name in (least, most)))


def accuracy(page):
    named, _, missed = page.got("why", "faults named").partition("; missed: ")
    faults = f"Known faults that the largest part of a request's time names, with {page.got('why', 'configuration')}"
    return table([distribution(title, page.ratios(*which)) for title, *which in RATIOS],
                 ("the plugin's figure, divided by the measured one", "median", "10th percentile", "90th percentile", "least",
                  "greatest")) + "\n" + \
        table([*((title, *page.count(*which)) for title, *which in COUNTS), (faults, named, missed or "none")],
              ("what", "as wanted", "missed"))


def receivers(page):
    return table(page.of_part(*RECEIVERS))


def readings(page):
    return table([(title, *(page.got("daemon", f"reading, {size} processes: {what}") for size in SIZES))
                  for title, what in READINGS], ("CPU time of a reading", *(f"{size} processes" for size in SIZES)))


def machine(page):
    return table([(title, page.got("daemon", what)) for title, what in MACHINE])


def exchange(page):
    return table([(title, *(page.got("requests", what.format(server)) for server, _ in SERVERS)) for title, what in EXCHANGE],
                 ("a request", *(title for _, title in SERVERS)))


def kernels(page):
    """[(kernel, server)] of the part "kernels"."""
    return [KERNEL.match(what).groups() for what, _ in page.of_part("kernels", KERNEL.pattern)]


def instructions(page):
    titles, runs = dict(SERVERS), kernels(page)
    rows = [(title, *(page.got("kernels", f"{kernel}, {server}: {what}").removesuffix(" instructions")
                     for kernel, server in runs))
            for title, what in INSTRUCTIONS]
    if rows:
        rows.insert(2, ("Change of the throughput, computed", *map(throughput, rows[0][1:], rows[1][1:])))
    return table(rows, ("instructions for a request", *(f"{kernel}: {titles[server]}" for kernel, server in runs)))


def throughput(without, added):
    """Of a CPU that has nothing else to do; both as text that begins with a number."""
    costs = [re.match(r"[+-]?[\d,]+", text) for text in (without, added)]
    if not all(costs):
        return "not measured"
    nothing, more = (float(cost.group().replace(",", "")) for cost in costs)
    return f"{-100 * more / (nothing + more):+.1f} %"


def programs(page):
    rows = []
    for kernel, server in kernels(page):
        where = f"{kernel}, {server}: "
        for what, runs in page.of_part("kernels", f"{re.escape(where)}.*, runs an exchange$"):
            program = what[len(where):].partition(",")[0]
            each = page.got("kernels", f"{where}{program}, instructions a run")
            rows.append((kernel, dict(SERVERS)[server], f"`{program}`", runs, each))
    return table(rows, ("kernel", "server", "program", "runs per request", "instructions per run"))


def taken(wanted):
    """What the plugin takes a hook to cost: a row wants the measured value to be within so many times of it."""
    numbers = [float(number.replace(",", "")) for number in re.findall(r"[\d.,]*\d", wanted)]
    return math.sqrt(numbers[0] * numbers[1]) if len(numbers) > 1 else None


def hooks(page):
    rows = []
    for what, got in page.of_part("hooks", r".*: added$"):
        assumed = taken(page.wanted["hooks", what])
        rows.append((what.removesuffix(": added"), got, f"{assumed:,.0f} ns" if assumed else "-"))
    tracepoint = taken(page.wanted.get(("hooks", "tracepoint: added"), ""))
    for what, got in page.of_part("hooks", r"Linux .*, times a tracepoint$"):
        assumed = taken(page.wanted["hooks", what])
        if assumed and tracepoint:
            kernel, kind = re.match(r"(Linux [\d.]+), instructions: (.*), times", what).groups()
            rows.append((kind, f"not as time; {got} times the instructions of a tracepoint ({kernel})",
                         f"{assumed * tracepoint:,.0f} ns, an assumption"))
    return table(rows, ("hook", f"an empty program, {MEASURED}", "in `percent-overhead_*`"))


def tools(page):
    rows = []
    for what, got in page.of_part("toolbox", r".*\bthe probe .*, added$"):
        tool, probe, event = re.match(r"(?:(\S+): )?the probe (\w+)(?:, (.*))?, added$", what).groups()
        event = event or TOOLS.get(tool, f"what {tool} sees")
        theirs = f"{page.got('toolbox', f'{tool}, added')}, `{tool}`" if tool else "-"
        rows.append((f"`{probe}`", event, got, theirs))
    return table(rows, ("probe", "event", f"added, {MEASURED}", "added by the other tool"))


COSTS = (       # (heading, what the figures are, their table)
    ("Readings", "CPU time of collectd and the kernel for one reading, in milliseconds.", readings),
    ("Start, memory and processes", "What collectd with the plugin takes in addition to collectd without it.", machine),
    ("A request to a server", "CPU time of server and client per request and its response, in nanoseconds; both share one "
     "CPU at full load.\nThe change of requests per second is in percent of the throughput without the plugin.", exchange),
    ("Other kernels", "Instructions that server, client and kernel execute for a request and its response, in an emulator. They are "
     "not time:\ncompare them with those without the plugin. The change of the throughput is computed from them.", instructions),
    ("", "The programs of the probe `request` there:", programs),
    ("An event, by the kind of hook", "CPU time that an empty program adds to each event, and the value with which the plugin "
     "estimates `percent-overhead_*`.\nThe measuring machine permits neither fentry nor kprobes: their prices are assumptions, "
     "from the instructions under another kernel.", hooks),
    ("An event, by the probe", "CPU time that a probe adds to each event that it counts, and what another tool for the same "
     "question adds.", tools),
)


def costs(page):
    parts = [(f"## {heading}\n\n" if heading else "") + f"{text}\n\n{write(page)}" for heading, text, write in COSTS]
    return f"Measured on {page.machine('daemon')}, unless a table says otherwise.\n{configurations(page)}\n" + "\n".join(parts)
