# SPDX-License-Identifier: MIT
"""The generated parts of collectd-ebpf-metrics(7): for each probe its hooks, its options, its costs and its series.

COSTS is the only list of the costs that the manual shows; what docs/measured.md does not have is "not measured", with a warning.
"""

import re

from prometheus_rules import SUBJECTS
from relabel import PERCENTILE, metric
from series_tags import help_text, rows_of, sentence, series_of

WIDTH = 74      # of a line in a terminal, less the indentation of a manual
MEMCACHED, REDIS, HTTP2 = "memcached, one CPU", "redis, one CPU", "nghttpd, one CPU"
COSTS = {   # by probe: (what an operator calls it, part of docs/measured.md, what it is called there)
    "process": (("a reading of 10,000 processes", "daemon", "reading, 10,000 processes: without the probe delay"),
                ("a fork and exit", "daemon", "fork + exit: added"),
                ("a context switch", "daemon", "context switch: added")),
    "request": (("an exchange of memcached", "requests", f"{MEMCACHED}: this probe, added"),
                ("... with nothing, CPU time", "requests", f"{MEMCACHED}: CPU time per exchange with nothing"),
                ("... throughput", "requests", f"{MEMCACHED}: exchanges per second with this probe"),
                ("... with Response lines", "requests", f"{MEMCACHED}: classes of responses, added"),
                ("... with Option clients", "requests", f"{MEMCACHED}: Option clients, added"),
                ("an exchange of redis", "requests", f"{REDIS}: this probe, added"),
                ("... throughput", "requests", f"{REDIS}: exchanges per second with this probe"),
                ("a request of HTTP/2 (nghttpd)", "requests", f"{HTTP2}: this probe, added"),
                ("... throughput", "requests", f"{HTTP2}: exchanges per second with this probe"),
                ("a message that is not watched", "requests",
                 "memcached: message between unwatched sockets, added")),
    "delay": (("a sample of 21,000 threads", "daemon", "sampling, 21,000 threads: a sample"),
              ("all samples, part of one CPU", "daemon", "sampling, 21,000 threads: part of one CPU")),
}
EVENTS = {  # by probe: (the event, what docs/measured.md calls it: ", added" and ", in the programs", of the part toolbox)
    "disk": (("a read from a disk", "biolatency: the probe disk"),
             ("... with Option services", "biosnoop.bt: the probe disk")),
    "tcp": (("a connection, both ends", "tcplife: the probe tcp"),),
    "lifecycle": (("a fork and exit", "exitsnoop: the probe lifecycle"),
                  ("a fork, exec and exit", "execsnoop: the probe lifecycle"),
                  ("a signal, with Option signals", "the probe lifecycle, a signal")),
    "sched": (("a context switch", "runqlat: the probe sched"),),
    "offcpu": (("a context switch, with Option switches", "the probe offcpu, a context switch"),
               ("... with each wait recorded", "the probe offcpu, a context switch, each wait recorded")),
    "files": (("an open, with Option syscalls", "opensnoop: the probe files"),
              ("a read, with Options syscalls and top_files", "the probe files, a read, with paths")),
    "pagecache": (("a read from the cache", "the probe pagecache, a read from the cache"),
                  ("a read that misses it", "cachestat.bt: the probe pagecache")),
    "memory": (("a page allocated and freed, with Option pages", "the probe memory, a page allocated and freed"),
               ("a page fault, with Option faults", "the probe memory, a page fault"),
               ("an open and close, with Option kmalloc", "the probe memory, objects of the kernel, for an open and close")),
    "poll": (("a poll, with Option syscalls", "the probe poll, a poll"),),
    "softirq": (("a message over loopback", "softirqs: the probe softirq"),
                ("a software interrupt, with Option latency", "the probe softirq, a software interrupt, with its latency")),
    "hardirq": (("a read from a disk", "hardirqs: the probe hardirq"),),
    "syscalls": (("a system call of a Service block", "syscount: the probe syscalls"),
                 ("a system call of another service", "the probe syscalls, a system call of no service")),
    "functions": (("a call", "the probe functions, a call"),
                  ("a call that the kernel single-steps", "the probe functions, a call that is single-stepped"),
                  ("a call and its return", "the probe functions, a call and its return"),
                  ("a call and its return, Returns \"replace\"", "the probe functions, a call and its return, replaced")),
}
WORDS = {"cpu": "CPU", "endpoint": "upstream", "enum": "kind", "string": "name"}     # for an operator
KINDS = {"moments": "Moments", "histogram": "Histogram"}
WALKS = {"task": "tasks", "task_file": "open files", "bpf_map_elem": "a map", "bpf_sk_storage_map": "sockets"}


def code(text):
    """Code in pod; double brackets may contain single ones."""
    return f"C<< {text} >>" if re.search("[<>]", text) else f"C<{text}>"


def codes(texts):
    return ", ".join(map(code, texts))


def default_set(counted):
    """counted: how many series a service has by default, in total and by probe."""
    total, counts = counted
    return f"By default a service has at most {total} series: " + \
        ", ".join(f"{count} of {code(probe)}" for probe, count in counts.items()) + ".\n\n"


# --- hooks --------------------------------------------------------------------------------------

def hook(section):
    """A program's (kind of hook, hook), or None: it has no hook, the plugin runs it."""
    kind, _, at = section.partition("/")
    if kind == "syscall":
        return None
    if kind == "tracepoint" and (call := re.fullmatch(r"syscalls/sys_(?:enter|exit)_(\w+)", at)):
        return "tracepoints of the system calls", call.group(1)
    if kind in ("tp_btf", "raw_tp", "tracepoint"):
        return "tracepoints", at.rpartition("/")[2]
    if kind == "iter":
        return "a walk over", WALKS.get(at, at)
    if not at:
        return {"perf_event": "the clock of each CPU"}.get(kind, "those that the configuration names"), at
    return {"fentry": "functions", "fexit": "functions"}.get(kind, "functions, by kprobe"), at


def hooks(programs):
    """The hooks of these programs, by their kind."""
    found = {}
    for program in programs:
        if (one := hook(program["section"])):
            found.setdefault(one[0], {})[one[1]] = True
    parts = []
    for kind_of, at in found.items():
        some = f" {' and '.join(at)}" if kind_of == "a walk over" else f" {codes(at)}" if any(at) else ""
        parts.append((kind_of.replace("tracepoints", "tracepoint") if len(at) == 1 else kind_of) + some)
    return "; ".join(parts)


def by_options(programs):
    """(options, programs): those of no option first."""
    found = {}
    for program in programs:
        found.setdefault(tuple(program["options"]), []).append(program)
    return sorted(found.items())


def hook_text(programs):
    parts = []
    for options, some in by_options(programs):
        if (text := hooks(some)):
            needed = " and ".join(f"B<Option> {code(option)}" for option in options)
            parts.append((f"with {needed}: " if needed else "") + text)
    return "; ".join(parts)


def hook_sets(probe):
    """Paragraphs: the hooks of each hook set, and those of all."""
    numbers = sorted({int(number) for program in probe["programs"] for number in program["hook_sets"]})
    sets = [(f"Hook set {number}", [one for one in probe["programs"] if str(number) in one["hook_sets"]]) for number in numbers]
    sets.append(("In every hook set" if numbers else "Hooks", [one for one in probe["programs"] if not one["hook_sets"]]))
    return "".join(f"{title}: {text}.\n\n" for title, programs in sets if (text := hook_text(programs)))


# --- costs --------------------------------------------------------------------------------------

def costs(name, page):
    """A verbatim paragraph of what an event pays for the probe, with one line for each figure, or more."""
    rows = [(title, [page.got(part, what)]) for title, part, what in COSTS.get(name, ())]
    rows += [(title, [f"{page.got('toolbox', what + ', added')} added",
                      f"{page.got('toolbox', what + ', in the programs')}, in the programs"])
             for title, what in EVENTS.get(name, ())]
    if not rows:
        return ""
    width = max(len(title) for title, _ in rows)
    text = ""
    for title, got in rows:
        one_line = len(got) == 1 and width + max(len(text) for _, texts in rows for text in texts) < WIDTH
        text += f"    {title:{width}}  {got[0]}\n" if one_line else f"    {title}\n" + "".join(f"        {one}\n" for one in got)
    return f"Costs:\n\n{text}\n"


# --- series -------------------------------------------------------------------------------------

def kind(one):
    return KINDS.get(one.kind, "Counter" if one.counts() else "Gauge")


def listed(words):
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def subjects(one):
    """What its rows are of, by each table that has it."""
    texts = ["the machine" if rows == ["probe"] else "each " + listed([WORDS.get(word, word) for word in rows])
             for rows in map(rows_of, one.tables)]
    return " or ".join(dict.fromkeys(texts))


def facts(one):
    """What a row of a table would say: kind, unit, data sources, rows, how many series."""
    sources = f" (data sources {codes(one.names())})" if one.names() else ""
    each = f", {len(one.files)} series" if len(one.files) > 1 else ""
    return f"{kind(one)}, {one.units()}{sources}, for {subjects(one)}{each}."


def at_prometheus(one):
    """The names of a series at Prometheus, by its data sources, with their labels."""
    end = {"moments": "-average", "histogram": PERCENTILE.replace("*", "50")}.get(one.kind, "")
    row = next((SUBJECTS[word] for word in one.rows() if word in SUBJECTS), one.probe["probe"])
    found = []
    for source in one.sources:
        name, labels, keys = metric(one.name + end, source["name"], row)
        shown = [f'{label}="{value}"' if label == "part" else label for label, value in labels.items()]
        found.append(name + (f"{{{','.join((*shown, *keys))}}}" if shown or keys else ""))
    return f" At Prometheus {listed(list(map(code, found)))}."


def about(source):
    return f"B<{source['title']}>" + (f": {source['text']}" if source["text"] else "")


def items(title, series):
    if not series:
        return ""
    text = f"=head2 {title}\n\n=over 4\n\n"
    for one in series:
        text += f"=item {code(one.name)}\n\n{'; '.join(map(about, one.sources))}. {facts(one)}{at_prometheus(one)}\n\n"
    return text + "=back\n\n"


def notifications(events):
    return "".join(f"A notification of severity C<{event['severity'].upper()}> about {code(event['name'])}: "
                   f"{sentence(help_text(event))}\n\n" for event in events)


def section(probe, page):
    """All that is said of a probe between its marks."""
    series = series_of(probe)
    classes = [one for one in series if "class" in one.rows()]
    default = [one for one in series if not one.option() and not one.off and one not in classes]
    off = [one for one in series if not one.option() and one.off]
    options = list(dict.fromkeys(one.option() for one in series if one.option()))
    text = f"{sentence(help_text(probe))} {'Off' if probe['off'] else 'On'} by default.\n\n{hook_sets(probe)}"
    if probe["options"]:
        text += f"Options: {codes(sorted(probe['options']))}.\n\n"
    text += costs(probe["probe"], page) + notifications(probe["events"])
    text += items("Series", default) + items("Series that are off by default", off)
    text += items("Series with B<Response> lines in the block of the service", classes)
    for option in options:
        text += items(f"Series with B<Option> {code(option)}", [one for one in series if one.option() == option])
    return text
